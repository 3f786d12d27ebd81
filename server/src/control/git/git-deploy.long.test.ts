/** Deployments of repositories, from a Git server like those of real hosts. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { graphProject, logLines, untilStatus } from "../../../test/deploy.ts";
import { testGitServer } from "../../../test/git-server.ts";

const host = await testGitServer();
afterAll(() => host.close());
const { call, sql, url, dataDir } = await testControlPlane({ HEDDLE_GIT_POLL_SECONDS: "0" });

const body = (name: string, config: object, ref: string, more: object = {}) => ({
  name,
  source: "github",
  source_config: config,
  source_revision_config: { repo_ref: ref, langgraph_config_path: "langgraph.json" },
  secrets: [],
  ...more,
});
const run = async (name: string): Promise<Record<string, unknown>> => {
  const response = await fetch(`${url}/d/${name}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: {} }),
  });
  return (await response.json()) as Record<string, unknown>;
};

test("deploys a branch with a token, then a tag, then a commit, and removes all fetched files", async () => {
  const repository = host.create("private-agent");
  const first = repository.commit({
    ...graphProject("first"),
    ".gitattributes": "graph.mjs export-ignore\n",
    "lib/real.txt": "x",
    "link.txt": { link: "lib/real.txt" },
  });
  repository.git("tag", "--annotate", "v1", "--message", "the first");
  repository.git("push", "--quiet", repository.path, "v1");
  const { json: integration } = await call("POST", "/v2/integrations/git", {
    name: "here",
    kind: "github",
    url: host.url,
    token: host.token,
  });
  const created = await call(
    "POST",
    "/v2/deployments",
    body("of-git", { repo_url: repository.url, integration_id: integration.id }, "main"),
  );
  expect(`${created.status} ${created.text}`).toMatch(/^201/);
  const { id, latest_revision_id: revision } = created.json;
  await untilStatus(call, id, revision, "DEPLOYED");
  expect((await run("of-git"))["word"]).toBe("first");
  const shown = (await call("GET", `/v2/deployments/${id}`)).json;
  expect(shown.source_revision_config).toMatchObject({ repo_ref: "main", repo_commit_sha: first });
  expect(shown.source_config).toMatchObject({ repo_branch: "main", build_on_push: false, repo_url: repository.url });
  const log = await logLines(call, id, revision, "build");
  expect(log).toEqual(expect.arrayContaining([`main resolved to commit ${first}.`, `Fetched commit ${first}.`]));
  expect(log.join("\n")).not.toContain(host.token);

  const second = repository.commit(graphProject("second"));
  const patch = async (config: object): Promise<string> => {
    const changed = await call("PATCH", `/v2/deployments/${id}`, { source_revision_config: config });
    expect(`${changed.status} ${changed.text}`).toMatch(/^200/);
    return changed.json.latest_revision_id;
  };
  // a stored value may be sent again, and changes nothing
  expect(await patch({ repo_commit_sha: first })).toBe(revision);
  const byTag = await patch({ repo_ref: "refs/tags/v1" });
  const tagged = (await call("GET", `/v2/deployments/${id}`)).json;
  expect(tagged.source_revision_config).toMatchObject({ repo_ref: "refs/tags/v1" });
  expect(tagged.source_config.repo_branch).toBeNull();
  await untilStatus(call, id, byTag, "BUILDING");
  const resolved = (await call("GET", `/v2/deployments/${id}/revisions/${byTag}`)).json;
  expect(resolved.source_revision_config.repo_commit_sha).toBe(first);
  const byHash = await patch({ repo_ref: second });
  await untilStatus(call, id, byHash, "DEPLOYED");
  expect((await run("of-git"))["word"]).toBe("second");
  expect(readdirSync(join(dataDir, "control", "git"))).toEqual([]);
}, 90_000);

const NO_REPOSITORY = { id: "", revision: "" };
async function failing(name: string, config: object, ref: string, status: string, more: object = {}) {
  const created = await call("POST", "/v2/deployments", body(name, config, ref, more));
  expect(`${created.status} ${created.text}`).toMatch(/^201/);
  const { id, latest_revision_id: revision } = created.json;
  await untilStatus(call, id, revision, status, 40_000);
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${revision}`);
  return {
    ...NO_REPOSITORY,
    id,
    message: json.status_message as string,
    log: await logLines(call, id, revision, "build"),
  };
}

test("an unresolvable repository or reference is CREATE_FAILED with the cause", async () => {
  const repository = host.create("public-agent");
  repository.commit(graphProject("x"));
  const branch = await failing("no-branch", { repo_url: repository.url }, "nowhere", "CREATE_FAILED");
  expect(branch.message).toBe(`There is no branch nowhere in ${repository.url}.`);
  expect(branch.log.at(-1)).toBe(branch.message);
  const tag = await failing("no-tag", { repo_url: repository.url }, "refs/tags/v9", "CREATE_FAILED");
  expect(tag.message).toContain("There is no tag v9");
  const none = await failing("no-repo", { repo_url: `${host.url}/nothing.git` }, "main", "CREATE_FAILED");
  expect(none.message).toContain("There is no repository at");
  const closed = host.create("private-two");
  closed.commit(graphProject("x"));
  const rejected = await failing("no-token", { repo_url: closed.url }, "main", "CREATE_FAILED");
  expect(rejected.message).toContain("requires a token");
  const commit = await failing("no-commit", { repo_url: repository.url }, "0".repeat(39) + "1", "BUILD_FAILED");
  expect(commit.message).toContain("no longer has the commit");
}, 60_000);

test("a repository with a link that leads out, or without a project, fails in its build", async () => {
  const out = host.create("public-out");
  out.commit({ ...graphProject("x"), secret: { link: "../../../../../../etc/passwd" } });
  expect((await failing("out", { repo_url: out.url }, "main", "BUILD_FAILED")).message).toContain(
    "points outside the project",
  );
  const empty = host.create("public-empty");
  empty.commit({ "readme.md": "", ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = file:///etc\n' });
  const { message, log } = await failing("empty", { repo_url: empty.url }, "main", "BUILD_FAILED");
  expect(message).toContain("The project has no file langgraph.json");
  expect(log.join("\n")).toContain("submodules. They are not fetched");
}, 60_000);

test("a revision interrupted while its commit was resolved resolves it again", async () => {
  const repository = host.create("public-lost");
  const sha = repository.commit({ "readme.md": "" });
  const { id } = await failing("lost", { repo_url: repository.url }, "main", "BUILD_FAILED");
  const lost = crypto.randomUUID();
  // the state left by a control plane killed at this point, once another has noticed
  await sql`insert into revisions (id, deployment_id, number, source, source_config, repo_ref, langgraph_config_path, status)
    select ${lost}, deployment_id, 2, source, source_config, repo_ref, langgraph_config_path, 'INTERRUPTED'
    from revisions where deployment_id = ${id}`;
  await untilStatus(call, id, lost, "BUILD_FAILED");
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${lost}`);
  expect(json.source_revision_config.repo_commit_sha).toBe(sha);
});

test("does not follow a redirect, and sends the token to no other host", async () => {
  const repository = host.create("private-three");
  repository.commit(graphProject("x"));
  const { json: integration } = await call("POST", "/v2/integrations/git", {
    name: "two",
    url: host.url,
    token: host.token,
  });
  const other = await testGitServer();
  host.instead = (_, response) => {
    response.writeHead(301, { location: `${other.url}/private-three.git/info/refs?service=git-upload-pack` }).end();
    return true;
  };
  const config = { repo_url: repository.url, integration_id: integration.id };
  const { message } = await failing("moved", config, "main", "CREATE_FAILED");
  host.instead = undefined;
  expect(message).toContain("redirects");
  expect(other.seen).toEqual([]);
  const elsewhere = await call(
    "POST",
    "/v2/deployments",
    body("elsewhere", { ...config, repo_url: `${other.url}/a.git` }, "main"),
  );
  expect([elsewhere.status, elsewhere.json.detail]).toEqual([
    400,
    expect.stringContaining("covers only repositories under"),
  ]);
  await other.close();
}, 60_000);

test.each([
  ["git@github.com:a/b.git", "https://"],
  ["ssh://git@github.com/a/b", "https://"],
  ["ext::sh -c touch% /tmp/x", "spaces"],
  ["ext::sh", "https://"],
  ["--upload-pack=touch", "https://"],
  ["https://user:pass@github.com/a/b", "password"],
  ["https://github.com/", "name a repository"],
  ["https://github.com/a/b?x=1", "query"],
  ["/etc", "HEDDLE_GIT_LOCAL"],
  ["file:///etc", "HEDDLE_GIT_LOCAL"],
  ["http://169.254.169.254/latest", "metadata"],
])("rejects %s as a repository", async (repo_url, why) => {
  const { status, json } = await call("POST", "/v2/deployments", body("never", { repo_url }, "main"));
  expect(status).toBe(422);
  expect(json.detail[0]).toMatchObject({
    loc: ["body", "source_config", "repo_url"],
    msg: expect.stringContaining(why),
  });
});

test.each(["-x", "a..b", "a b", "refs/pull/1/head", "a~1", "@", "x.lock", "/a", "a/", "a\nb", "*"])(
  "rejects %j as a reference",
  async (ref) => {
    const { status, json } = await call(
      "POST",
      "/v2/deployments",
      body("never", { repo_url: "https://a.example/a" }, ref),
    );
    expect([status, json.detail[0].loc]).toEqual([422, ["body", "source_revision_config", "repo_ref"]]);
  },
);
