/** Integrations and listeners: the contract's endpoints, and our own that create them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, expect, test } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";

const { call, sql, url } = await testControlPlane();
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-00000000000b" };
const TOKEN = "ghp_a-token-that-nobody-may-see";

/** Simulates the paged APIs of GitHub and GitLab. */
const requests: { url: string; authorization: string | undefined; token: string | string[] | undefined }[] = [];
let status = 200;
const api = createServer((request, response) => {
  requests.push({
    url: request.url!,
    authorization: request.headers.authorization,
    token: request.headers["private-token"],
  });
  if (status !== 200) return void response.writeHead(status).end("{}");
  const page = Number(new URL(request.url!, "http://x").searchParams.get("page"));
  const headers = page === 1 ? { link: `<${request.url}>; rel="next"` } : {};
  response.writeHead(200, { "content-type": "application/json", ...headers });
  const common = { id: page, name: `repo-${page}`, default_branch: page === 1 ? "main" : null };
  const ofGithub = {
    ...common,
    owner: { login: "team" },
    html_url: `https://git.example/team/repo-${page}`,
    private: true,
  };
  const ofGitlab = {
    ...common,
    path: `repo-${page}`,
    namespace: { full_path: "a/b" },
    web_url: `https://git.example/a/b/${page}`,
  };
  response.end(JSON.stringify([request.url!.includes("/projects") ? ofGitlab : ofGithub]));
});
await new Promise<void>((resolve) => void api.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
afterAll(() => {
  api.close();
  api.closeAllConnections();
});

const create = async (body: object) => {
  const created = await call("POST", "/v2/integrations/git", body);
  expect(`${created.status} ${created.text}`).toMatch(/^201/);
  return created.json;
};

test("an integration hides its token and is listed in the shape of the contract", async () => {
  const created = await create({ name: "first", token: TOKEN });
  expect(created).toMatchObject({
    kind: "github",
    url: "https://github.com",
    username: "x-access-token",
    has_token: true,
  });
  expect(created.webhook_secret.length).toBeGreaterThan(20);
  expect(created.webhook_url).toMatch(new RegExp(`/webhooks/github/${created.id}$`));
  const path = `/v2/integrations/git/${created.id}`;
  for (const response of [await call("GET", path), await call("GET", "/v2/integrations/git")]) {
    expect(response.text).not.toContain(TOKEN);
    expect(response.text).not.toContain(created.webhook_secret);
  }
  for (const list of ["/v1/integrations/github/install", "/api-host/v1/integrations/forge/github/install"]) {
    const { json } = await call("GET", list);
    expect(json).toEqual([{ id: created.id, installation_id: expect.any(Number), name: "first" }]);
  }
  expect((await call("POST", "/v2/integrations/github/installation-link")).json).toMatchObject({
    oauth_reuse_url: null,
  });
  const stored = await sql`select ciphertext from secrets where purpose in ('git-token', 'git-webhook')`;
  expect(stored).toHaveLength(2);
  expect(stored.some(({ ciphertext }) => String(ciphertext).includes(TOKEN))).toBe(false);

  expect((await call("POST", "/v2/integrations/git", { name: "first" })).status).toBe(409);
  const renamed = await call("PATCH", path, { name: "renamed", token: "ghp_another-token" });
  expect([renamed.status, renamed.json.name, renamed.json.url]).toEqual([200, "renamed", "https://github.com"]);
  expect((await call("GET", path, undefined, OTHER)).status).toBe(404);
  expect((await call("DELETE", path, undefined, OTHER)).status).toBe(404);

  const uses = {
    name: "user",
    source: "github",
    source_config: { repo_url: "https://github.com/a/b", integration_id: created.id },
    source_revision_config: { repo_ref: "main", langgraph_config_path: "langgraph.json" },
    secrets: [],
  };
  const another = await call("POST", "/v2/deployments", uses, OTHER);
  expect([another.status, another.json.detail]).toEqual([400, expect.stringContaining("there is no integration")]);
  const user = await call("POST", "/v2/deployments", {
    ...uses,
    source_revision_config: { ...uses.source_revision_config },
  });
  expect(user.status).toBe(201);
  const rejected = await call("DELETE", path);
  expect([rejected.status, rejected.json.detail]).toEqual([409, expect.stringContaining("user")]);
  expect((await call("DELETE", `/v2/deployments/${user.json.id}`)).status).toBe(204);
  expect((await call("DELETE", path)).status).toBe(204);
  expect((await call("GET", path)).status).toBe(404);
  expect(await sql`select 1 from secrets where purpose in ('git-token', 'git-webhook')`).toEqual([]);
});

test.each<[string, object, (string | number)[]]>([
  ["no name", { name: undefined }, ["body", "name"]],
  ["an unknown kind", { kind: "svn" }, ["body", "kind"]],
  ["a URL that is not http", { url: "ftp://a.example" }, ["body", "url"]],
  ["a URL with a password", { url: "https://a:b@git.example" }, ["body", "url"]],
  ["a metadata service", { api_url: "http://169.254.169.254" }, ["body", "api_url"]],
  ["a kind without a default URL", { kind: "gitea" }, ["body", "url"]],
  ["a token with a line break", { token: "a\r\nX: y" }, ["body", "token"]],
  ["a user name with a colon", { username: "a:b" }, ["body", "username"]],
  ["a short webhook secret", { webhook_secret: "short" }, ["body", "webhook_secret"]],
])("rejects an integration with %s", async (_, change, loc) => {
  const { status: answered, json } = await call("POST", "/v2/integrations/git", { name: "bad", ...change });
  expect([answered, json.detail[0].loc]).toEqual([422, loc]);
});

test("lists repositories from the host's API, across pages", async () => {
  const github = await create({ name: "of-github", url: origin, api_url: origin, token: TOKEN });
  const listed = await call("GET", `/v1/integrations/github/${github.id}/repos`);
  expect(listed.json).toEqual([
    {
      host_integration_id: github.id,
      id: 1,
      name: "repo-1",
      owner: "team",
      url: "https://git.example/team/repo-1",
      default_branch: "main",
    },
    {
      host_integration_id: github.id,
      id: 2,
      name: "repo-2",
      owner: "team",
      url: "https://git.example/team/repo-2",
      default_branch: "",
    },
  ]);
  expect(requests.map((request) => request.authorization)).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
  const gitlab = await create({ name: "of-gitlab", kind: "gitlab", url: origin, token: TOKEN });
  const path = `/api-host/v1/integrations/forge/github/${gitlab.id}/repos`;
  expect((await call("GET", path)).json[0]).toMatchObject({ name: "repo-1", owner: "a/b" });
  expect(requests.at(-1)).toMatchObject({ url: expect.stringMatching(/^\/api\/v4\/projects/), token: TOKEN });
  status = 401;
  const rejected = await call("GET", path);
  expect([rejected.status, rejected.json.detail]).toEqual([
    400,
    expect.stringContaining("rejected the integration's token"),
  ]);
  status = 500;
  expect((await call("GET", path)).status).toBe(502);
  status = 200;
  const open = await create({ name: "open", url: origin });
  expect((await call("GET", `/v1/integrations/github/${open.id}/repos`)).status).toBe(400);
  expect((await call("GET", `/v1/integrations/github/${crypto.randomUUID()}/repos`)).status).toBe(404);
  expect(url).toContain("127.0.0.1");
});

test("a change of the API's host requires a new token, and never sends the stored one", async () => {
  const created = await create({ name: "moved", url: origin, api_url: origin, token: TOKEN });
  const path = `/v2/integrations/git/${created.id}`;
  const elsewhere = origin.replace("127.0.0.1", "127.0.0.2");
  for (const api_url of [elsewhere, "http://localhost:1/api"]) {
    const rejected = await call("PATCH", path, { name: "stolen", api_url });
    expect([rejected.status, rejected.json.detail[0]]).toMatchObject([
      422,
      { loc: ["body", "token"], msg: expect.stringContaining("api_url") },
    ]);
  }
  expect((await call("GET", path)).json).toMatchObject({ name: "moved", api_url: origin });
  expect((await call("PATCH", path, { api_url: `${origin}/other` })).status).toBe(200);
  const moved = await call("PATCH", path, { api_url: elsewhere, token: "another-token" });
  expect([moved.status, moved.json.api_url]).toEqual([200, elsewhere]);
  const usual = await create({ name: "usual", token: TOKEN });
  const fromUsual = await call("PATCH", `/v2/integrations/git/${usual.id}`, { api_url: elsewhere });
  expect(fromUsual.status).toBe(422);
  const same = await call("PATCH", `/v2/integrations/git/${usual.id}`, { api_url: "https://api.github.com" });
  expect(same.status).toBe(200);
  const open = await create({ name: "without a token", url: origin });
  expect((await call("PATCH", `/v2/integrations/git/${open.id}`, { api_url: elsewhere })).status).toBe(200);
});

test("applies or rejects every filter of deployments and revisions, and ignores none", async () => {
  const created = await call("POST", "/v2/deployments", {
    name: "filtered",
    source: "internal_source",
    source_config: { resource_spec: { cpu: 1.26 } },
    source_revision_config: {},
    secrets: [],
  });
  expect(created.json.source_config.resource_spec.cpu).toBe(1.3);
  const names = async (query: string) =>
    (await call("GET", `/v2/deployments?${query}`)).json.resources.map((resource: { name: string }) => resource.name);
  expect(await names("remote_reconciled=false")).toContain("filtered");
  expect(await names("remote_reconciled=true")).toEqual([]);
  expect(await names("image_version=1.0")).toEqual([]);
  const revisions = `/v2/deployments/${created.json.id}/revisions?remote_reconciled=true`;
  expect((await call("GET", revisions)).json.resources).toEqual([]);
  for (const query of ["tag_value_ids=a", "agent_id=a", "agent_environment=a", "remote_reconciled=maybe"]) {
    expect((await call("GET", `/v2/deployments?${query}`)).status).toBe(422);
  }
});
