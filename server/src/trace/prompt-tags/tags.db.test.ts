import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, sql } = await testTracePlatform();

let count = 0;
/** Creates a prompt with as many commits. */
async function prompt(commits = 2) {
  const repo = `prompt-${++count}`;
  await call("POST", "/repos", { repo_handle: repo, is_public: false });
  const all: { id: string; commit_hash: string }[] = [];
  for (let n = 0; n < commits; n++) {
    all.push((await call("POST", `/commits/-/${repo}`, { manifest: { n } })).json.commit);
  }
  return { repo, commits: all, path: `/repos/-/${repo}/tags` };
}

test("a tag is created, moved, rolled back and deleted, and its history keeps every change", async () => {
  const { repo, path, commits } = await prompt();
  const [first, second] = commits as [{ id: string; commit_hash: string }, { id: string; commit_hash: string }];
  const created = await call("POST", path, { tag_name: "production", commit_id: first.id });
  expect(created.json).toEqual({
    id: expect.any(String),
    repo_id: expect.any(String),
    commit_id: first.id,
    commit_hash: first.commit_hash,
    tag_name: "production",
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect((await call("GET", `${path}/production`)).json).toEqual(created.json);
  expect((await call("GET", path)).json).toEqual([created.json]);
  // the same once more changes nothing; another commit needs a move
  expect((await call("POST", path, { tag_name: "production", commit_id: first.id })).json).toEqual(created.json);
  const taken = await call("POST", path, { tag_name: "production", commit_id: second.id });
  expect([taken.status, taken.text]).toEqual([409, expect.stringContaining(first.commit_hash)]);

  const moved = await call("PATCH", `${path}/production`, { commit_id: second.id });
  expect(moved.json).toMatchObject({ id: created.json.id, commit_id: second.id, commit_hash: second.commit_hash });
  expect((await call("GET", `/commits/-/${repo}?tag=production`)).json).toMatchObject({
    commits: [{ id: second.id }],
    total: 1,
  });
  await call("PATCH", `${path}/production`, { commit_id: first.id });
  expect((await call("GET", `/commits/-/${repo}/production`)).json.commit_hash).toBe(first.commit_hash);
  expect((await call("DELETE", `${path}/production`)).json).toEqual({ message: "Tag deleted" });
  expect((await call("GET", `${path}/production`)).status).toBe(404);
  expect((await call("GET", `/repos/-/${repo}`)).json.repo.commit_tags).toEqual([]);

  const history = await call("GET", `${path}/production/history?limit=3`);
  expect(history.json.total).toBe(4);
  const ends = history.json.transitions.map((each: Record<string, string>) => [
    each["from_commit_hash"],
    each["to_commit_hash"],
    each["performed_by_name"],
  ]);
  expect(ends).toEqual([
    [first.commit_hash, null, "a test"],
    [second.commit_hash, first.commit_hash, "a test"],
    [first.commit_hash, second.commit_hash, "a test"],
  ]);
  expect((await call("GET", `${path}/production/history?offset=3`)).json.transitions).toMatchObject([
    { from_commit_id: null, to_commit_id: first.id, tag_name: "production" },
  ]);
  const unknown = await call("GET", `${path}/never/history`);
  expect([unknown.status, unknown.json]).toEqual([404, { error: expect.stringContaining("never") }]);
});

test("changes of tags of all prompts are listed by time", async () => {
  const { repo, path, commits } = await prompt();
  const start = new Date(Date.now() - 1000).toISOString();
  await call("POST", path, { tag_name: "staging", commit_id: commits[0]!.id });
  await call("PATCH", `${path}/staging`, { commit_id: commits[1]!.id });
  const list = async (query: string) =>
    (await call("GET", `/api/v1/repos/tag-moves?${query}`)).json.tag_moves as { repo_handle: string }[];
  const mine = (await list(`start_time=${start}`)).filter(({ repo_handle: name }) => name === repo);
  expect(mine).toEqual([
    {
      repo_handle: repo,
      owner: null,
      tag_name: "staging",
      from_commit_hash: commits[0]!.commit_hash,
      to_commit_hash: commits[1]!.commit_hash,
      changed_by: "a test",
      changed_at: expect.any(String),
    },
    expect.objectContaining({ from_commit_hash: null, to_commit_hash: commits[0]!.commit_hash }),
  ]);
  expect(await list("limit=1")).toHaveLength(1);
  expect(await list("start_time=2999-01-01")).toEqual([]);
  expect(await list("end_time=2001-01-01T00:00:00Z")).toEqual([]);
  const other = { "x-test-workspace": randomUUID() };
  expect((await call("GET", "/repos/tag-moves", undefined, other)).json).toEqual({ tag_moves: [] });
  expect((await call("GET", "/repos/tag-moves?start_time=yesterday")).status).toBe(422);
});

test("of concurrent creations of a tag one wins, and concurrent moves are all in the history", async () => {
  const { path, commits } = await prompt(4);
  const answers = await Promise.all(
    commits.map(({ id }) => call("POST", path, { tag_name: "production", commit_id: id })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  await Promise.all(commits.map(({ id }) => call("PATCH", `${path}/production`, { commit_id: id })));
  const { json } = await call("GET", `${path}/production/history`);
  const moves = json.transitions.toReversed() as { from_commit_id: string | null; to_commit_id: string }[];
  // each begins where the one before ended
  expect(moves.map((move) => move.from_commit_id)).toEqual([
    null,
    ...moves.slice(0, -1).map((move) => move.to_commit_id),
  ]);
});

test("names that cannot be part of an identifier, and commits of other prompts, are rejected", async () => {
  const { path, commits } = await prompt();
  const { commits: others } = await prompt(1);
  const commit_id = commits[0]!.id;
  const wrong = ["", "latest", "a b", "a/b", "a:b", "a%20b", "a?b", "a\u200bb", "a\nb", "x".repeat(101)];
  for (const tag_name of wrong) {
    const { status, text } = await call("POST", path, { tag_name, commit_id });
    expect([tag_name, status, text]).toEqual([tag_name, 422, expect.stringContaining("tag_name")]);
  }
  // a null character is replaced, and the replacement is a character like others
  expect((await call("POST", path, { tag_name: "\0", commit_id })).json.tag_name).toBe("\uFFFD");
  for (const id of [others[0]!.id, randomUUID()]) {
    expect((await call("POST", path, { tag_name: "t", commit_id: id })).status).toBe(404);
  }
  expect((await call("PATCH", `${path}/missing`, { commit_id })).status).toBe(404);
  expect((await call("DELETE", `${path}/missing`)).status).toBe(404);
  expect((await call("POST", path, { tag_name: "t", commit_id: "latest" })).status).toBe(422);
});

test("a prompt has at most 200 tags", async () => {
  const { repo, path, commits } = await prompt(1);
  const commit_id = commits[0]!.id;
  await sql`
    insert into prompt_tags (tag_id, repo_id, tag_name, commit_id)
    select gen_random_uuid(), repo_id, 't' || i, ${commit_id} from prompts, generate_series(1, 200) i where repo_handle = ${repo}`;
  const { status, text } = await call("POST", path, { tag_name: "one-more", commit_id });
  expect([status, text]).toEqual([422, expect.stringContaining("tag_name")]);
  expect((await call("GET", path)).json).toHaveLength(200);
});
