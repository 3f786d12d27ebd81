import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call } = await testTracePlatform();
let count = 0;
async function create(repo_type = "agent") {
  const repo = `repo-${++count}`;
  expect((await call("POST", "/repos", { repo_handle: repo, is_public: false, repo_type })).status).toBe(200);
  return { repo, path: `/v1/platform/hub/repos/-/${repo}/directories` };
}
const file = (content: string) => ({ type: "file", content });

test("files of an agent are created, changed, deleted, and read at any commit", async () => {
  const { repo, path } = await create();
  const none = await call("GET", path);
  expect([none.status, none.json]).toEqual([404, { error: expect.stringContaining("no commits yet") }]);
  const files = { "AGENTS.md": file("# Agent"), "skills/a.md": file("a"), empty: file("") };
  const first = (await call("POST", `/api/v1${path.slice(3)}/commits`, { files })).json.commit;
  expect(first).toEqual({
    id: expect.any(String),
    commit_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    created_at: expect.any(String),
  });
  expect((await call("GET", path)).json).toEqual({ commit_id: first.id, commit_hash: first.commit_hash, files });
  const change = {
    files: { "AGENTS.md": file("# New"), empty: null, "b/c/d": file("d") },
    parent_commit: first.commit_hash,
  };
  const second = (await call("POST", `${path}/commits`, change)).json.commit;
  expect((await call("GET", `${path}?repo_type=agent`)).json.files).toEqual({
    "AGENTS.md": file("# New"),
    "b/c/d": file("d"),
    "skills/a.md": file("a"),
  });
  expect((await call("GET", `${path}?commit=${first.commit_hash.slice(0, 8)}`)).json.files).toEqual(files);
  await call("POST", `/repos/-/${repo}/tags`, { tag_name: "live", commit_id: first.id });
  expect((await call("GET", `${path}?commit=live`)).json.commit_hash).toBe(first.commit_hash);
  expect((await call("GET", `${path}?commit=none`)).status).toBe(404);
  expect((await call("GET", `${path}?repo_type=skill`)).status).toBe(404);

  const stale = await call("POST", `${path}/commits`, change);
  expect([stale.status, stale.json.error]).toEqual([409, expect.stringContaining(second.commit_hash)]);
  const same = await call("POST", `${path}/commits`, { files: { "AGENTS.md": file("# New") } });
  expect([same.status, same.json.error]).toEqual([409, expect.stringContaining("Nothing to commit")]);
  expect((await call("DELETE", path)).status).toBe(204);
  expect((await call("GET", path)).status).toBe(404);
});

test("contents come back as they were sent, and names of prototypes are names", async () => {
  const { path } = await create("skill");
  const body =
    '{"files": {"__proto__": {"type": "file", "content": "nul \\u0000 half \\ud800 \\u00e9"}, "toString": {"type":"file","content":"\\r\\n"}}}';
  expect((await call("POST", `${path}/commits`, body)).status).toBe(200);
  const { text, json } = await call("GET", path);
  expect(Object.keys(json.files)).toEqual(["__proto__", "toString"]);
  expect(JSON.parse(text).files.toString).toEqual(file("\r\n"));
  expect(Object.getOwnPropertyDescriptor(json.files, "__proto__")!.value).toEqual(file("nul \0 half \ud800 \u00e9"));
});

test("paths that leave the directory or contradict each other, and unknown entries, are 422 and named", async () => {
  const { path } = await create();
  await call("POST", `${path}/commits`, { files: { a: file("a") } });
  const post = (files: object) => call("POST", `${path}/commits`, { files });
  for (const name of [
    "/etc",
    "../x",
    "a/../b",
    "./a",
    "a//b",
    "b/",
    "c:\\x",
    "C:x",
    "a\nb",
    "\u202ex",
    "",
    "x".repeat(1025),
  ]) {
    expect([name, (await post({ [name]: file("") })).status]).toEqual([name, 422]);
  }
  for (const [name, value] of [
    ["a/b", file("below a file")],
    ["missing", null],
    ["f", "text"],
    ["f", {}],
    ["f", { type: "link" }],
    ["f", { type: "file" }],
    ["f", { ...file("x"), mode: "0777" }],
    ["f", { type: "skill", repo_handle: "missing" }],
  ] as const) {
    const { status, json } = await post({ [name]: value });
    expect([name, status, json.error]).toEqual([name, 422, expect.stringContaining(name)]);
  }
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, file("")]));
  expect((await post(many)).status).toBe(422);
  const half = file("x".repeat(6_000_000));
  expect((await post({ one: half })).status).toBe(200);
  expect((await post({ two: half })).status).toBe(413);
  expect((await call("POST", `${path}/commits`, { files: {}, parent_commit: "short" })).status).toBe(422);
});

test("links name an agent or a skill that the caller can read", async () => {
  const { path } = await create();
  const skill = await create("skill");
  const { commit } = (await call("POST", `${skill.path}/commits`, { files: { x: file("x") } })).json;
  const link = { type: "skill", repo_handle: skill.repo };
  const put = (value: object) => call("POST", `${path}/commits`, { files: { linked: value } });
  expect((await put(link)).status).toBe(200);
  expect((await put({ ...link, owner: "-", commit_id: commit.id, commit_hash: commit.commit_hash })).status).toBe(200);
  for (const wrong of [
    { type: "agent" },
    { owner: "nobody" },
    { commit_id: randomUUID() },
    { commit_hash: "abcdef12" },
  ]) {
    expect([wrong, (await put({ ...link, ...wrong })).status]).toEqual([wrong, 422]);
  }
  const other = { "x-test-workspace": randomUUID() };
  await call("POST", "/repos", { repo_handle: "theirs", is_public: false, repo_type: "agent" }, other);
  const foreign = await call(
    "POST",
    "/v1/platform/hub/repos/-/theirs/directories/commits",
    { files: { linked: link } },
    other,
  );
  expect(foreign.status).toBe(422);
});

test("prompts have no files, and agents no manifests", async () => {
  const { path, repo } = await create("prompt");
  for (const [method, where, body] of [
    ["GET", path, undefined],
    ["DELETE", path, undefined],
    ["POST", `${path}/commits`, { files: {} }],
  ] as const) {
    expect([method, (await call(method, where, body)).status]).toEqual([method, 400]);
  }
  expect((await call("GET", `/repos/-/${repo}`)).status).toBe(200);
  const agent = await create();
  const { status, json } = await call("POST", `/commits/-/${agent.repo}`, { manifest: {} });
  expect([status, json.error]).toEqual([422, expect.stringContaining("directories/commits")]);
});
