import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const db = await testDatabase();
const { a, b, unknown } = await testTenants(db);
const guard = await testGuard(db);
const { call: send, sql } = await testTracePlatform({}, { db, guard });
const key = (text: string) => ({ "x-api-key": text });
const call = (method: string, path: string, body?: unknown) => send(method, path, body, key(a.admin));
const callAsB = (method: string, path: string, body?: unknown) => send(method, path, body, key(b.admin));

let count = 0;
const unique = (name = "prompt") => `${name}-${++count}`;
async function createPrompt(more: Record<string, unknown> = {}, as = call) {
  const { json, status } = await as("POST", "/repos", { repo_handle: unique(), is_public: false, ...more });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json.repo as { id: string; repo_handle: string };
}
const commit = (repo: string, manifest: unknown, as = call) => as("POST", `/commits/-/${repo}`, { manifest });
const namesOf = (answer: { json: { repos: { repo_handle: string }[] } }) =>
  answer.json.repos.map(({ repo_handle: name }) => name);

test("a prompt is created, read, changed and deleted, on every alias of its paths", async () => {
  const body = {
    repo_handle: "greeting",
    description: "Says hello",
    readme: "# Hello",
    tags: ["a", "b"],
    is_public: false,
    source: "internal",
  };
  const created = await call("POST", "/api/v1/repos/", body);
  expect(created.json).toEqual({
    repo: {
      ...body,
      id: expect.any(String),
      tenant_id: a.workspaceId,
      repo_type: "prompt",
      is_archived: false,
      restricted_mode: false,
      created_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
      updated_at: expect.any(String),
      created_by: "admin",
      owner: null,
      full_name: "-/greeting",
      original_repo_id: null,
      original_repo_full_name: null,
      upstream_repo_id: null,
      upstream_repo_full_name: null,
      commit_tags: [],
      num_commits: 0,
      last_commit_hash: null,
      num_likes: 0,
      num_downloads: 0,
      num_views: 0,
      liked_by_auth_user: false,
    },
  });
  expect((await call("POST", "/repos", body)).status).toBe(409);
  for (const prefix of ["", "/api/v1", "/v1", "/api"]) {
    expect((await call("GET", `${prefix}/repos/-/greeting`)).json).toEqual(created.json);
  }
  const patched = await call("PATCH", "/repos/-/greeting", { readme: null, tags: [], is_archived: true });
  expect(patched.json.repo).toMatchObject({ readme: null, tags: [], is_archived: true, description: "Says hello" });
  expect((await call("DELETE", "/repos/-/greeting")).json).toEqual({ message: "Prompt deleted" });
  expect((await call("GET", "/repos/-/greeting")).status).toBe(404);
});

test("values outside their bounds are 422 and name the field", async () => {
  const valid = { repo_handle: "valid", is_public: false };
  for (const [field, value] of [
    ["repo_handle", "Upper"],
    ["repo_handle", "1st"],
    ["repo_handle", "grüße"],
    ["repo_handle", "a/b"],
    ["repo_handle", "a".repeat(257)],
    ["repo_handle", ""],
    ["is_public", null],
    ["readme", "x".repeat(100_001)],
    ["description", "x".repeat(4001)],
    ["tags", Array.from({ length: 51 }, (_, i) => `t${i}`)],
    ["tags", [""]],
    ["repo_type", "model"],
    ["restricted_mode", true],
  ] as const) {
    const { status, text } = await call("POST", "/repos", { ...valid, [field]: value });
    expect([field, status, text]).toEqual([field, 422, expect.stringContaining(field)]);
  }
  const { repo_handle: repo } = await createPrompt();
  expect((await call("PATCH", `/repos/-/${repo}`, { repo_handle: "other" })).status).toBe(422);
  for (const query of ["limit=0", "limit=101", "offset=-1", "tag_value_id=x", "sort_field=name", "is_archived=no"]) {
    expect([query, (await call("GET", `/repos?${query}`)).status]).toEqual([query, 422]);
  }
});

test("text that Postgres cannot store becomes replacement characters, and names of prototypes are names", async () => {
  const handle = unique();
  const body = `{"repo_handle": "${handle}", "is_public": false, "readme": "nul \\u0000 half \\ud800", "tags": ["__proto__"], "__proto__": {"is_public": true}}`;
  const { json } = await call("POST", "/repos", body);
  expect(json.repo).toMatchObject({ readme: "nul \uFFFD half \uFFFD", tags: ["__proto__"], is_public: false });
  expect((await call("GET", "/repos/-/__proto__")).status).toBe(404);
  expect((await call("GET", "/repos/constructor/toString")).status).toBe(404);
  expect((await call("GET", "/repos/-/a%00b")).status).toBe(400);
});

test("prompts are listed by filters, searched, sorted and paged", async () => {
  const label = unique("label");
  const names: string[] = [];
  for (const more of [{ description: "Summarizes MAIL" }, { repo_type: "agent" }, { source: "external" }]) {
    names.push((await createPrompt({ tags: [label, "common"], ...more })).repo_handle);
  }
  const [first, second, third] = names as [string, string, string];
  await commit(first, { first: true });
  await call("PATCH", `/repos/-/${third}`, { is_archived: true });
  const list = async (query: string) => namesOf(await call("GET", `/repos?tags=${label}&${query}`));
  expect(await list("")).toEqual([first, second]);
  expect(await list("is_archived=allow")).toEqual([third, first, second]);
  expect(await list("is_archived=true")).toEqual([third]);
  expect(await list("is_archived=allow&sort_field=updated_at&sort_direction=asc")).toEqual([second, first, third]);
  expect(await list("query=mail")).toEqual([first]);
  expect(await list("repo_type=agent")).toEqual([second]);
  expect(await list("repo_types=agent&repo_types=file")).toEqual([second]);
  expect(await list("is_archived=allow&source=external")).toEqual([third]);
  expect(await list("has_commits=true")).toEqual([first]);
  expect(await list("tags=missing")).toEqual([]);
  expect(await list("is_public=true")).toEqual([]);
  expect((await call("GET", `/repos?tags=${label}&limit=1&offset=1`)).json).toMatchObject({
    repos: [{ repo_handle: second }],
    total: 2,
  });
  const withManifest = await call("GET", `/repos?tags=${label}&with_latest_manifest=true`);
  expect(withManifest.json.repos).toMatchObject([
    { latest_commit_manifest: { manifest: { first: true }, examples: null } },
    { latest_commit_manifest: null },
  ]);
  const tags = await call("GET", `/repos/tags?tags=${label}&is_archived=allow`);
  expect(tags.json).toEqual({
    tags: ["common", label].map((tag) => ({ tag, count: 3 })),
  });
});

test("the most relevant name comes first", async () => {
  for (const repo_handle of ["a-needle", "needle", "needle-b"]) await createPrompt({ repo_handle });
  const found = await call("GET", "/repos?query=NEEDLE&sort_field=relevance");
  expect(namesOf(found)).toEqual(["needle", "needle-b", "a-needle"]);
});

test("several prompts are deleted at once, and the answer names those that were not found", async () => {
  const [one, other] = [await createPrompt(), await createPrompt()];
  const foreign = await createPrompt({}, callAsB);
  const ids = `repo_ids=${one.id}&repo_ids=${other.id}`;
  const answer = await call("DELETE", `/repos?${ids}&repo_ids=${foreign.id}`);
  expect([answer.status, answer.json.failed]).toEqual([207, [{ id: foreign.id, error: "Prompt not found" }]]);
  expect(answer.json.deleted.toSorted()).toEqual([one.id, other.id].toSorted());
  const last = await createPrompt();
  expect((await call("DELETE", `/repos?repo_ids=${last.id}`)).json).toEqual({ deleted: [last.id], failed: [] });
  expect((await callAsB("GET", `/repos/-/${foreign.repo_handle}`)).status).toBe(200);
  expect((await call("DELETE", "/repos")).status).toBe(422);
});

test("a public prompt needs a handle, is read by other workspaces under it, and changed by none of them", async () => {
  const { repo_handle: repo } = await createPrompt();
  await commit(repo, { hello: "world" });
  expect((await call("PATCH", `/repos/-/${repo}`, { is_public: true })).text).toContain("/api/v1/settings/handle");
  expect((await send("POST", "/settings/handle", { tenant_handle: "acme" }, key(a.editor))).status).toBe(403);
  expect((await call("POST", "/settings/handle", { tenant_handle: "Acme" })).status).toBe(422);
  expect((await call("POST", "/settings/handle", { tenant_handle: "acme" })).json).toMatchObject({
    tenant_handle: "acme",
  });
  expect((await call("POST", "/settings/handle", { tenant_handle: "acme" })).status).toBe(200);
  expect((await call("POST", "/settings/handle", { tenant_handle: "other" })).status).toBe(409);
  expect((await callAsB("POST", "/settings/handle", { tenant_handle: "acme" })).status).toBe(409);
  expect((await callAsB("GET", `/repos/acme/${repo}`)).status).toBe(404);
  expect((await callAsB("GET", `/commits/acme/${repo}/latest`)).status).toBe(404);

  expect((await call("PATCH", `/repos/acme/${repo}`, { is_public: true })).json.repo.full_name).toBe(`acme/${repo}`);
  expect((await callAsB("GET", `/repos/acme/${repo}`)).status).toBe(200);
  expect((await callAsB("GET", `/commits/acme/${repo}/latest`)).json.manifest).toEqual({ hello: "world" });
  expect(namesOf(await callAsB("GET", "/repos?is_public=true"))).toContain(repo);
  expect(namesOf(await callAsB("GET", "/repos?tenant_handle=acme"))).toEqual([repo]);
  expect(namesOf(await callAsB("GET", `/repos?tenant_id=${a.workspaceId}`))).toEqual([repo]);
  expect(namesOf(await callAsB("GET", "/repos"))).not.toContain(repo);
  const { id } = (await call("GET", `/repos/-/${repo}`)).json.repo;
  for (const [method, path, body] of [
    ["PATCH", `/repos/acme/${repo}`, { readme: "x" }],
    ["DELETE", `/repos/acme/${repo}`, undefined],
    ["POST", `/commits/acme/${repo}`, { manifest: { b: 1 } }],
    ["POST", `/repos/acme/${repo}/tags`, { tag_name: "t", commit_id: id }],
  ] as const) {
    const { status, text } = await callAsB(method, path, body);
    expect([method, path, status, text]).toEqual([method, path, 403, expect.stringContaining("/fork")]);
  }
  expect((await callAsB("DELETE", `/repos?repo_ids=${id}`)).status).toBe(207);
});

test("a fork takes the commits along, not the tags, and knows where it comes from", async () => {
  const { repo_handle: repo, id } = await createPrompt({ readme: "original", tags: ["x"] });
  const first = (await commit(repo, { n: 1 })).json.commit;
  await commit(repo, { n: 2 });
  await call("POST", `/repos/-/${repo}/tags`, { tag_name: "production", commit_id: first.id });
  await call("PATCH", `/repos/-/${repo}`, { is_public: true });
  const copy = unique("copy");
  const forked = await callAsB("POST", `/repos/acme/${repo}/fork`, { repo_handle: copy, description: "mine" });
  expect(forked.json.repo).toMatchObject({
    tenant_id: b.workspaceId,
    full_name: `-/${copy}`,
    description: "mine",
    readme: "original",
    tags: ["x"],
    is_public: false,
    upstream_repo_id: id,
    upstream_repo_full_name: `acme/${repo}`,
    original_repo_full_name: `acme/${repo}`,
    num_commits: 2,
    commit_tags: [],
  });
  expect((await callAsB("POST", `/repos/acme/${repo}/fork`, { repo_handle: copy })).status).toBe(409);
  const [mine, theirs] = await Promise.all([callAsB("GET", `/commits/-/${copy}`), call("GET", `/commits/-/${repo}`)]);
  const hashes = (answer: typeof mine) =>
    answer.json.commits.map((each: Record<string, unknown>) => [each["commit_hash"], each["parent_commit_hash"]]);
  expect(hashes(mine)).toEqual(hashes(theirs));
  expect(mine.json.commits[0].parent_id).toBe(mine.json.commits[1].id);
  expect((await commit(copy, { n: 3 }, callAsB)).status).toBe(201);
  const upstream = `upstream_repo_owner=acme&upstream_repo_handle=${repo}`;
  expect(namesOf(await callAsB("GET", `/repos?${upstream}`))).toEqual([copy]);
  // what a workspace may not read any more, it does not see as the origin either
  await call("PATCH", `/repos/-/${repo}`, { is_public: false });
  const hidden = (await callAsB("GET", `/repos/-/${copy}`)).json.repo;
  expect(hidden).toMatchObject({ upstream_repo_id: null, upstream_repo_full_name: null, original_repo_id: null });
  expect(namesOf(await callAsB("GET", `/repos?${upstream}`))).toEqual([]);
  // a fork survives its origin
  await call("DELETE", `/repos/-/${repo}`);
  expect((await callAsB("GET", `/commits/-/${copy}/latest`)).json.manifest).toEqual({ n: 3 });
});

test("each permission admits its own operations", async () => {
  const { repo_handle: repo } = await createPrompt();
  const { id } = (await commit(repo, { n: 1 })).json.commit;
  const operations = [
    ["prompts:read", "GET", `/commits/-/${repo}/latest`, undefined],
    ["prompts:create", "POST", "/repos", { repo_handle: unique(), is_public: false }],
    ["prompts:update", "POST", `/commits/-/${repo}`, { manifest: { n: 2 } }],
    ["prompts:tag", "POST", `/repos/-/${repo}/tags`, { tag_name: "t", commit_id: id }],
    ["prompts:delete", "DELETE", `/repos/-/${repo}`, undefined],
  ] as const;
  for (const [permission, method, path, body] of operations) {
    const asViewer = await send(method, path, body, key(a.viewer));
    const isRead = permission === "prompts:read";
    expect([asViewer.status, asViewer.text]).toEqual([
      isRead ? 200 : 403,
      expect.stringContaining(isRead ? "" : permission),
    ]);
    const asEditor = await send(method, path, body, key(a.editor));
    expect([permission, asEditor.status]).toEqual([permission, permission === "prompts:update" ? 201 : 200]);
  }
  expect((await send("GET", "/repos", undefined, key(unknown))).status).toBe(401);
  const roles = await send("GET", "/orgs/permissions", undefined, key(a.org));
  const names = roles.json.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(operations.map(([permission]) => permission)));
});

test("changes are in the audit log, reads are not", async () => {
  const { repo_handle: repo } = await createPrompt();
  const { id } = (await commit(repo, { n: 1 })).json.commit;
  await call("POST", `/repos/-/${repo}/tags`, { tag_name: "staging", commit_id: id });
  await call("PATCH", `/repos/-/${repo}/tags/staging`, { commit_id: id });
  await call("GET", `/commits/-/${repo}/staging`);
  await call("DELETE", `/repos/-/${repo}`);
  const rows = await sql<{ operation: string; target: object }[]>`
    select operation, target from audit_log where target->>'repo' = ${repo} or target->>'repo_handle' = ${repo}
    order by at, writer_seq`;
  expect(rows.map(({ operation }) => operation)).toEqual([
    "POST /api/v1/repos",
    "POST /api/v1/commits/:owner/:repo",
    "POST /api/v1/repos/:owner/:repo/tags",
    "PATCH /api/v1/repos/:owner/:repo/tags/:tag_name",
    "DELETE /api/v1/repos/:owner/:repo",
  ]);
  expect(rows[2]!.target).toMatchObject({ repo, tag_name: "staging", commit_id: id });
});

test("the rows of prompts and commits count their requests", async () => {
  const { call: limited, stop } = await testTracePlatform({ HEDDLE_RATE_LIMITS: "on" }, { db, guard });
  const { repo_handle: repo } = await createPrompt();
  for (const [path, row] of [
    ["/api/v1/repos", "repos.key"],
    [`/repos/-/${repo}/tags`, "repos.key"],
    [`/commits/-/${repo}`, "commits.key"],
    [`/api/v1/commits/-/${repo}/latest`, "commits.key"],
  ] as const) {
    const { headers } = await limited("GET", path, undefined, key(a.admin));
    expect([path, headers.get("ratelimit")]).toEqual([path, expect.stringMatching(`^"${row}"`)]);
  }
  await stop();
});
