import { createHash, randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { pullCommit } from "./sql.ts";

const db = await testDatabase();
const { a, unknown } = await testTenants(db);
const { call: send, sql } = await testTracePlatform({}, { db, guard: await testGuard(db) });
const call = (method: string, path: string, body?: unknown, headers = {}) =>
  send(method, path, body, { "x-api-key": a.admin, ...headers });

let count = 0;
async function createPrompt() {
  const repo_handle = `prompt-${++count}`;
  expect((await call("POST", "/repos", { repo_handle, is_public: false })).status).toBe(200);
  return repo_handle;
}
/** Sends the manifest as this text. */
const commit = (repo: string, text: string, more: Record<string, unknown> = {}) =>
  call("POST", `/commits/-/${repo}`, `${JSON.stringify({ ...more, other: 1 }).slice(0, -1)}, "manifest": ${text} }`);
const n = (value: number) => JSON.stringify({ n: value });
async function committed(repo: string, text: string, more: Record<string, unknown> = {}) {
  const { json, status, text: answer } = await commit(repo, text, more);
  expect([status, answer]).toEqual([201, expect.any(String)]);
  return json.commit as { id: string; commit_hash: string; parent_commit_hash: string | null; manifest_sha: number[] };
}
/** Text of the manifest in an answer. */
const manifestIn = (text: string) => /^\{"commit_hash":"[0-9a-f]{64}","manifest":(.*),"examples":\[\],/s.exec(text)![1];

test("manifests come back byte by byte, whatever is in them", async () => {
  const repo = await createPrompt();
  for (const text of [
    '{"lc":1,"b":2,"a":1.0,"2":0,"1":12345678901234567890}',
    '{ "spaces" :\t[ 1 ,2 ],\n"nul":"\\u0000","half":"\\ud83d", "pair": "\\ud83d\\ude00 😀"}',
    '{"twice":1,"twice":2,"manifest":{"manifest":1},"__proto__":{"a":1},"constructor":null}',
    '{"é":"\u00e9","e\u0301":"x","empty":{},"list":[],"text":"\\"},{\\""}',
    "{}",
  ]) {
    const { commit_hash: hash, manifest_sha: sha } = await committed(repo, text);
    const pulled = await call("GET", `/commits/-/${repo}/${hash}`);
    expect(manifestIn(pulled.text)).toBe(text);
    expect(Buffer.from(sha).toString("hex")).toBe(createHash("sha256").update(text).digest("hex"));
    expect((await call("GET", `/commits/-/${repo}/latest`)).text).toBe(pulled.text);
    expect((await call("GET", `/repos?with_latest_manifest=true&query=${repo}`)).text).toContain(text);
  }
});

test("an unknown prompt, one without commits, an unknown commit and a wrong key are different errors", async () => {
  const repo = await createPrompt();
  const wrong = async (path: string, headers = {}) => {
    const { status, json } = await call("GET", path, undefined, headers);
    return [status, json.error];
  };
  expect(await wrong("/commits/-/missing/latest")).toEqual([404, expect.stringContaining('"missing" not found')]);
  expect(await wrong(`/commits/nobody/${repo}/latest`)).toEqual([404, expect.stringContaining("not found")]);
  expect(await wrong(`/commits/-/${repo}/latest`)).toEqual([404, expect.stringContaining("no commits yet")]);
  expect(await wrong(`/commits/-/${repo}/production`)).toEqual([404, expect.stringContaining("no commits yet")]);
  await committed(repo, "{}");
  for (const name of ["production", "abcdef12", "latest2", "0".repeat(64), "a".repeat(300), "%E2%80%AE"]) {
    expect(await wrong(`/commits/-/${repo}/${name}`)).toEqual([404, expect.stringContaining("no commit and no tag")]);
  }
  expect(await wrong(`/commits/-/${repo}/${"a".repeat(301)}`)).toEqual([422, expect.any(String)]);
  expect((await wrong(`/commits/-/${repo}/latest`, { "x-api-key": unknown }))[0]).toBe(401);
  expect((await wrong("/commits/-/missing/latest", { "x-api-key": unknown }))[0]).toBe(401);
});

test("commits form a chain, and the address of one depends on its parent", async () => {
  const repo = await createPrompt();
  const first = await committed(repo, n(1), { description: "first" });
  const second = await committed(repo, n(2), { parent_commit: first.commit_hash });
  const third = await committed(repo, n(1), { parent_commit: second.commit_hash.slice(0, 8) });
  expect(third.commit_hash).not.toBe(first.commit_hash);
  expect(third.manifest_sha).toEqual(first.manifest_sha);
  const { json } = await call("GET", `/commits/-/${repo}/?limit=2`);
  expect(json.total).toBe(3);
  expect(json.commits).toMatchObject([
    { id: third.id, parent_id: second.id, parent_commit_hash: second.commit_hash },
    { id: second.id, parent_id: first.id },
  ]);
  const prompt = (await call("GET", `/repos/-/${repo}`)).json.repo;
  expect(prompt).toMatchObject({ num_commits: 3, last_commit_hash: third.commit_hash });
  expect((await call("GET", `/commits/-/${repo}/${first.commit_hash}`)).json.description).toBe("first");
});

test("a commit on a parent that is not the latest is 409, as is one without a change", async () => {
  const repo = await createPrompt();
  expect((await commit(repo, "{}", { parent_commit: "abcdef12" })).status).toBe(409);
  const first = await committed(repo, '{"a":1,"b":2}');
  const same = await commit(repo, '{ "b": 2, "a": 1 }', { description: "same" });
  expect([same.status, same.json.error]).toEqual([409, expect.stringContaining("Nothing to commit")]);
  const second = await committed(repo, '{"a":2}');
  const stale = await commit(repo, '{"a":3}', { parent_commit: first.commit_hash });
  expect([stale.status, stale.json.error]).toEqual([409, expect.stringContaining(second.commit_hash)]);
  expect((await commit(repo, '{"a":3}', { parent_commit: "latest" })).status).toBe(201);
});

test("of many commits on one parent exactly one succeeds", async () => {
  const repo = await createPrompt();
  const { commit_hash: parent } = await committed(repo, "{}");
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => commit(repo, n(i), { parent_commit: parent })),
  );
  const statuses = answers.map(({ status }) => status).toSorted((x, y) => x - y);
  expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => commit(repo, n(100 + i), { description: "" })));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201]));
  const { json } = await call("GET", `/commits/-/${repo}?limit=100`);
  expect(json.total).toBe(22);
  const parents = json.commits.map((each: { parent_commit_hash: string }) => each.parent_commit_hash);
  expect(parents.slice(0, -1)).toEqual(json.commits.slice(1).map((each: { commit_hash: string }) => each.commit_hash));
});

test("a commit is pulled by tag, hash and prefix; of names that could be both, the hash wins", async () => {
  const repo = await createPrompt();
  const first = await committed(repo, n(1));
  const second = await committed(repo, n(2));
  const prefix = first.commit_hash.slice(0, 8);
  const setTag = (tag_name: string, commit_id: string) =>
    call("POST", `/repos/-/${repo}/tags`, { tag_name, commit_id });
  const pull = async (name: string) => (await call("GET", `/commits/-/${repo}/${name}`)).json.commit_hash;
  expect(await pull(prefix)).toBe(first.commit_hash);
  expect(await pull(prefix.toUpperCase())).toBe(first.commit_hash);
  // shorter names are tags only
  expect(await pull(prefix.slice(0, 7))).toBeUndefined();
  for (const tag of ["v1", prefix.slice(0, 7), "deadbeef", "Ünïcode-1.0", "production"]) await setTag(tag, first.id);
  for (const tag of ["v1", prefix.slice(0, 7), "deadbeef", "%C3%9Cn%C3%AFcode-1.0", "production"]) {
    expect(await pull(tag)).toBe(first.commit_hash);
  }
  expect(await pull("V1")).toBeUndefined();
  await setTag(prefix, second.id);
  expect(await pull(prefix)).toBe(first.commit_hash);
  // hashes with the same beginning cannot be made to order
  const twin = `${first.commit_hash.slice(0, 20)}${"0".repeat(44)}`;
  await sql`
    insert into prompt_commits (commit_id, repo_id, tenant_id, commit_hash, position, manifest, manifest_sha)
    select ${randomUUID()}, repo_id, tenant_id, ${twin}, 1000, '{"twin":1}', '' from prompts where repo_handle = ${repo}`;
  const ambiguous = await call("GET", `/commits/-/${repo}/${prefix}`);
  expect([ambiguous.status, ambiguous.json.error]).toEqual([400, expect.stringContaining("several commits")]);
  expect(await pull(twin)).toBe(twin);
  expect(await pull(first.commit_hash)).toBe(first.commit_hash);
});

test("a client that has the current version gets 304", async () => {
  const repo = await createPrompt();
  await committed(repo, n(1));
  const path = `/commits/-/${repo}/latest`;
  const { headers, json } = await call("GET", path);
  const etag = headers.get("etag")!;
  expect(etag).toContain(json.commit_hash);
  const again = await call("GET", path, undefined, { "if-none-match": etag });
  expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
  expect((await call("GET", path, undefined, { "if-none-match": `W/"x", ${etag}` })).status).toBe(304);
  expect((await call("GET", `${path}?include_model=true`, undefined, { "if-none-match": etag })).status).toBe(200);
  await committed(repo, n(2));
  expect((await call("GET", path, undefined, { "if-none-match": etag })).json.manifest).toEqual({ n: 2 });
  expect((await call("GET", path, undefined, { "if-none-match": "nonsense \0'".replace("\0", "") })).status).toBe(200);
});

const constructor = (name: string, kwargs: object) => ({ lc: 1, type: "constructor", id: ["langchain", name], kwargs });

test("a manifest with a model is pulled without it, unless the client asks for it", async () => {
  const repo = await createPrompt();
  const prompt = JSON.stringify(constructor("ChatPromptTemplate", { input_variables: ["q"] })).replace("1", " 1.0");
  const model = constructor("ChatOpenAI", { model: "gpt-5", temperature: 0 });
  const bound = constructor("RunnableBinding", { bound: model, kwargs: { tools: [] } });
  const chain = (last: object) =>
    JSON.stringify(constructor("RunnableSequence", { last, first: "PROMPT" })).replace('"PROMPT"', () => prompt);
  for (const last of [model, bound]) {
    const text = chain(last);
    await committed(repo, text);
    const path = `/commits/-/${repo}/latest`;
    const bare = await call("GET", path);
    expect(manifestIn(bare.text)).toBe(prompt);
    for (const query of ["include_model=true", "include=model", "include=is_draft,model"]) {
      const full = await call("GET", `${path}?${query}`);
      expect(manifestIn(full.text)).toBe(text);
      expect(full.json).toMatchObject({
        model_provider: "ChatOpenAI",
        model_config: { model: "gpt-5", temperature: 0 },
        ...(query.includes("draft") && { is_draft: false }),
      });
    }
  }
  for (const query of ["include=secrets", "get_examples=true", "is_view=true"]) {
    expect([query, (await call("GET", `/commits/-/${repo}/latest?${query}`)).status]).toEqual([query, 422]);
  }
});

test("a prompt of the vendor's playground is pulled as a sequence, which LangChain can load", async () => {
  const repo = await createPrompt();
  const [first, last] = [constructor("ChatPromptTemplate", {}), constructor("ChatOpenAI", { n: "1" })];
  const text = (id: string) =>
    `{"id": ${id} ,"lc":1,"kwargs":{"last":${JSON.stringify(last)},"first":${JSON.stringify(first)}}}`;
  await committed(repo, text('["langsmith","playground","PromptPlayground"]'));
  const path = `/commits/-/${repo}/latest`;
  expect(manifestIn((await call("GET", path)).text)).toBe(JSON.stringify(first));
  const pulled = (await call("GET", `${path}?include_model=true`)).text;
  expect(manifestIn(pulled)).toBe(text('["langchain","schema","runnable","RunnableSequence"]'));
  expect(pulled).toContain('"model_provider":"ChatOpenAI"');
});

test("manifests that only look like chains are returned as they are", async () => {
  const repo = await createPrompt();
  for (const text of [
    '{"id":["RunnableSequence"],"kwargs":null}',
    '{"id":["RunnableSequence"],"kwargs":{"first":{"id":["ChatPromptTemplate"]},"first":1}}',
    '{"id":["RunnableSequence"],"kwargs":{"first":[]}}',
    '{"id":[["RunnableSequence"]],"kwargs":{"first":{"id":["ChatPromptTemplate"]}}}',
    '{"id":"RunnableSequence","kwargs":7}',
  ]) {
    await committed(repo, text);
    const pulled = await call("GET", `/commits/-/${repo}/latest?include_model=true`);
    expect(manifestIn(pulled.text.replace(/,"model_provider".*$/s, "}"))).toBe(text);
    expect(manifestIn((await call("GET", `/commits/-/${repo}/latest`)).text)).toBe(text);
  }
});

test("manifests and other fields outside their bounds are rejected", async () => {
  const repo = await createPrompt();
  expect((await commit(repo, `{"a":${"[".repeat(300)}${"]".repeat(300)}}`)).json.error).toContain("nested more than");
  expect((await commit(repo, JSON.stringify({ text: "x".repeat(20 * 1024 * 1024) }))).status).toBe(413);
  for (const text of ["[]", "null", '"text"', "1"]) expect((await commit(repo, text)).status).toBe(422);
  for (const more of [
    { description: "x".repeat(1001) },
    { parent_commit: "x".repeat(65) },
    { parent_commit: "short" },
    { parent_commit: "nothexadecimal" },
    { skip_webhooks: "all" },
    { skip_webhooks: ["x"] },
  ]) {
    const { status, json } = await commit(repo, "{}", more);
    expect([more, status, json.error]).toEqual([more, 422, expect.stringContaining(Object.keys(more)[0]!)]);
  }
  expect((await call("POST", `/commits/-/${repo}`, {})).status).toBe(422);
  expect((await call("POST", `/commits/-/${repo}`, '{"manifest": {')).status).toBe(400);
  expect((await call("GET", `/repos/-/${repo}`)).json.repo.num_commits).toBe(0);
  const large = JSON.stringify({ text: "é".repeat(3_000_000) });
  await committed(repo, large);
  expect(manifestIn((await call("GET", `/commits/-/${repo}/latest`)).text) === large).toBe(true);
});

test("a thousand commits are paged, latest first", async () => {
  const repo = await createPrompt();
  await sql`
    with made as (
      insert into prompt_commits (commit_id, repo_id, tenant_id, commit_hash, position, manifest, manifest_sha)
      select gen_random_uuid(), p.repo_id, p.tenant_id, encode(sha256(i::text::bytea), 'hex'), i, '{}', sha256(i::text::bytea)
      from prompts p, generate_series(1, 1000) i where p.repo_handle = ${repo} returning commit_id, position, repo_id)
    update prompts p set num_commits = 1000, last_commit_id = made.commit_id
    from made where made.repo_id = p.repo_id and made.position = 1000`;
  const seen = new Set<string>();
  for (let offset = 0; offset < 1000; offset += 100) {
    const { json } = await call("GET", `/commits/-/${repo}?limit=100&offset=${offset}`);
    expect(json.total).toBe(1000);
    for (const { id } of json.commits) seen.add(id);
  }
  expect(seen.size).toBe(1000);
  expect((await call("GET", `/commits/-/${repo}?offset=1000`)).json).toEqual({ commits: [], total: 1000 });
  expect((await call("GET", `/commits/-/${repo}?limit=101`)).status).toBe(422);
  const hash = createHash("sha256").update("1000").digest("hex");
  expect((await call("GET", `/commits/-/${repo}/latest`)).json.commit_hash).toBe(hash);
});

test("pulling by tag, by hash and the latest uses an index in every step", async () => {
  await sql`
    with made as (
      insert into prompts (repo_id, tenant_id, repo_handle, repo_type, is_public)
      select gen_random_uuid(), ${a.workspaceId}, 'many-' || i, 'prompt', false from generate_series(1, 2000) i
      returning repo_id, tenant_id)
    insert into prompt_commits (commit_id, repo_id, tenant_id, commit_hash, position, manifest, manifest_sha)
    select gen_random_uuid(), repo_id, tenant_id, encode(sha256((repo_id::text || i)::bytea), 'hex'), i, '{}', ''
    from made, generate_series(1, 5) i`;
  await sql`analyze prompts, prompt_commits, prompt_tags`;
  for (const [name, index] of [
    [{ kind: "latest" }, "prompt_commits_pkey"],
    [{ kind: "tag", tag: "production" }, "prompt_tags_pkey"],
    [{ kind: "hash", hash: "abcdef12", tag: "abcdef12" }, "prompt_commits_repo_id_commit_hash_key"],
  ] as const) {
    const plan = (await sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`;
      await tx`set local enable_bitmapscan = off`;
      const asked = { owner: "-", repo: "x", name, withModel: false, known: null };
      return tx`explain ${pullCommit(tx, a.workspaceId, asked)}`;
    })) as Record<string, string>[];
    const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
    expect(text).toContain("prompts_tenant_id_repo_handle_key");
    expect(text).toContain(index);
    expect(text).not.toContain("Seq Scan");
  }
});
