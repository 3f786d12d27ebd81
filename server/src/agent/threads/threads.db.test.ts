import { beforeAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const { call, sql } = await testAgentServer();
const UNKNOWN = "00000000-0000-0000-0000-000000000000";

const create = async (body: object = {}) => (await call("POST", "/threads", body)).json;
const run = (threadId: string, body: object) => call("POST", `/threads/${threadId}/runs/wait`, body);
const history = async (threadId: string) => (await call("POST", `/threads/${threadId}/history`, { limit: 100 })).json;
const countThreadRows = async (threadId: string) => {
  const [row] = await sql`
    select (select count(*)::int from checkpoints where thread_id = ${threadId}) as checkpoints,
           (select count(*)::int from checkpoint_blobs where thread_id = ${threadId}) as blobs,
           (select count(*)::int from checkpoint_writes where thread_id = ${threadId}) as writes`;
  return row!;
};

// waits for the host before anything is timed or cancelled
beforeAll(async () => {
  await run((await create()).thread_id, { assistant_id: "trail", input: { topic: "warm" } });
});

test("a new thread has empty values and config, as it is read", async () => {
  const { status, json } = await call("POST", "/threads", {});
  expect(status).toBe(200);
  expect(json).toMatchObject({ status: "idle", values: {}, config: {}, metadata: {}, interrupts: {} });
  const { json: read } = await call("GET", `/threads/${json.thread_id}`);
  expect(read).toEqual(json);
  expect((await call("POST", "/threads")).status).toBe(200);
});

test("stores graph_id in the metadata, and rejects one that differs", async () => {
  expect((await create({ graph_id: "trail", metadata: { a: 1 } })).metadata).toEqual({ a: 1, graph_id: "trail" });
  expect((await call("POST", "/threads", { graph_id: "trail", metadata: { graph_id: "ask" } })).status).toBe(422);
});

test("rejects a duplicate id, or returns the existing thread", async () => {
  const { thread_id } = await create({ metadata: { n: 1 } });
  const again = await call("POST", "/threads", { thread_id: thread_id.toUpperCase() });
  expect([again.status, again.text]).toEqual([409, "Thread already exists"]);
  const existing = await call("POST", "/threads", { thread_id, metadata: { n: 2 }, if_exists: "do_nothing" });
  expect(existing.json.metadata).toEqual({ n: 1 });
});

test("rejects invalid requests with a 4xx status", async () => {
  const status = async (method: string, path: string, body?: unknown) => (await call(method, path, body)).status;
  const { thread_id } = await create();
  expect(await status("POST", "/threads", { thread_id: "x" })).toBe(422);
  expect(await status("POST", "/threads", { metadata: "x" })).toBe(422);
  expect(await status("POST", "/threads", [])).toBe(422);
  expect(await status("POST", "/threads", "nonsense")).toBe(400);
  for (const path of ["", "/state", "/history", `/state/${UNKNOWN}`]) {
    expect(await status("GET", `/threads/nope${path}`)).toBe(422);
    expect(await status("GET", `/threads/a%00b${path}`)).toBe(400);
    expect(await status("GET", `/threads/${UNKNOWN}${path}`)).toBe(404);
  }
  expect((await call("GET", `/threads/${UNKNOWN}`)).text).toBe(`Thread with ID ${UNKNOWN} not found`);
  expect(await status("PATCH", `/threads/${UNKNOWN}`, { metadata: {} })).toBe(404);
  expect(await status("DELETE", `/threads/${UNKNOWN}`)).toBe(404);
  expect(await status("POST", `/threads/${UNKNOWN}/state`, { values: {} })).toBe(404);
  const copy = await call("POST", `/threads/${UNKNOWN}/copy`);
  expect([copy.status, copy.text]).toEqual([409, "Thread not found"]);
  for (const body of [
    { limit: 0 },
    { limit: "10" },
    { offset: -1 },
    { status: "asleep" },
    { ids: ["x"] },
    { select: ["secret"] },
    { sort_by: "values" },
    { extract: { a: "kwargs.x" } },
    { extract: { a: "values[x]" } },
    { extract: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, "values"])) },
  ]) {
    expect([body, await status("POST", "/threads/search", body)]).toEqual([body, 422]);
  }
  expect(await status("GET", `/threads/${thread_id}/history?limit=0`)).toBe(422);
  expect(await status("GET", `/threads/${thread_id}/history?limit=x`)).toBe(422);
  expect(await status("GET", `/threads/${thread_id}/history?before=x`)).toBe(422);
  expect(await status("GET", `/threads/${thread_id}/state?select=%5B`)).toBe(422);
});

test("a patch merges metadata, and return=minimal answers without a body", async () => {
  const { thread_id, updated_at } = await create({ metadata: { a: 1, b: 1 } });
  const { json } = await call("PATCH", `/threads/${thread_id}`, { metadata: { b: 2 } });
  expect(json.metadata).toEqual({ a: 1, b: 2 });
  expect(json.updated_at > updated_at).toBe(true);
  const minimal = await call("PATCH", `/threads/${thread_id}`, { metadata: { c: 3 } }, { Prefer: "return=minimal" });
  expect([minimal.status, minimal.text]).toEqual([204, ""]);
  expect((await call("GET", `/threads/${thread_id}`)).json.metadata).toEqual({ a: 1, b: 2, c: 3 });
});

test("search filters, sorts, pages, selects and extracts fields", async () => {
  const ids: string[] = [];
  for (const n of [0, 1, 2]) {
    const thread = await create({ metadata: { set: "s", n, tags: ["x", "y"], deep: { n } } });
    ids.push(thread.thread_id);
  }
  await run(ids[1]!, { assistant_id: "trail", input: { topic: "one" } });
  await run(ids[2]!, { assistant_id: "ask", input: { topic: "two" } });
  const found = async (body: object) =>
    (await call("POST", "/threads/search", { metadata: { set: "s" }, ...body })).json.map(
      (item: { thread_id: string }) => ids.indexOf(item.thread_id),
    );
  expect(await found({})).toEqual([2, 1, 0]);
  expect(await found({ sort_order: "asc" })).toEqual([0, 1, 2]);
  expect(await found({ sort_by: "state_updated_at" })).toEqual([2, 1, 0]);
  expect(await found({ metadata: { set: "s", deep: { n: 1 } } })).toEqual([1]);
  expect(await found({ metadata: { set: "s", tags: ["y"] } })).toEqual([2, 1, 0]);
  expect(await found({ metadata: { set: "s", deep: null } })).toEqual([]);
  expect(await found({ status: "interrupted" })).toEqual([2]);
  expect(await found({ status: "idle" })).toEqual([1, 0]);
  expect(await found({ values: { topic: "one" } })).toEqual([1]);
  expect(await found({ values: { topic: null } })).toEqual([]);
  expect(await found({ values: {} })).toEqual([2, 1, 0]);
  expect(await found({ ids: [ids[0]!.toUpperCase(), UNKNOWN] })).toEqual([0]);
  expect(await found({ ids: [] })).toEqual([]);
  const count = async (body: object) =>
    (await call("POST", "/threads/count", { metadata: { set: "s" }, ...body })).json as number;
  expect(await count({ status: "idle" })).toBe(2);
  expect(await count({ ids: [ids[0]!.toUpperCase(), UNKNOWN] })).toBe(1);
  expect(await count({ ids: [] })).toBe(0);

  const page = await call("POST", "/threads/search", {
    metadata: { set: "s" },
    limit: 2,
    select: ["thread_id", "status"],
  });
  expect(page.json).toEqual([
    { thread_id: ids[2], status: "interrupted" },
    { thread_id: ids[1], status: "idle" },
  ]);
  expect(page.headers.get("X-Pagination-Total")).toBe("3");
  expect(page.headers.get("X-Pagination-Next")).toBe("2");

  const extract = {
    last: "values.log[-1]",
    topic: "values.topic",
    n: "metadata.deep.n",
    none: "values.log[9]",
    "a'b": "config",
  };
  const { json } = await call("POST", "/threads/search", { ids: [ids[1]], select: ["thread_id"], extract });
  expect(json).toEqual([
    {
      thread_id: ids[1],
      extracted: { last: "second", topic: "one", n: 1, none: null, "a'b": expect.any(Object) },
    },
  ]);
});

test("a copy has the source's values and an equal history, and is independent of it", async () => {
  const { thread_id } = await create({ metadata: { owner: "me" } });
  await run(thread_id, { assistant_id: "nested", input: { topic: "t" } });
  const { status, json: copy } = await call("POST", `/threads/${thread_id}/copy`);
  expect(status).toBe(200);
  expect(copy).toMatchObject({ status: "idle", config: {}, values: { topic: "t", log: ["enter"] } });
  expect(copy.metadata).toMatchObject({ owner: "me", graph_id: "nested", thread_id: copy.thread_id });

  const renamed = JSON.parse(JSON.stringify(await history(thread_id)).replaceAll(thread_id, copy.thread_id));
  expect(await history(copy.thread_id)).toEqual(renamed);
  expect(renamed.length).toBeGreaterThan(1);
  expect(await countThreadRows(copy.thread_id)).toEqual(await countThreadRows(thread_id));

  const { json: resumed } = await run(copy.thread_id, { assistant_id: "nested", command: { resume: "yes" } });
  expect(resumed.log).toEqual(["enter", "enter", "answer:yes"]);
  expect((await call("GET", `/threads/${thread_id}`)).json.status).toBe("interrupted");
});

test("deleting a thread stops its runs and leaves no rows", async () => {
  const { thread_id } = await create();
  await run(thread_id, { assistant_id: "trail", input: { topic: "t" } });
  await call("POST", `/threads/${thread_id}/runs`, { assistant_id: "slow", input: {} });
  await call("POST", `/threads/${thread_id}/runs`, { assistant_id: "trail", input: {} });
  const deleted = await call("DELETE", `/threads/${thread_id}`);
  expect([deleted.status, deleted.text]).toEqual([204, ""]);
  expect(await countThreadRows(thread_id)).toEqual({ checkpoints: 0, blobs: 0, writes: 0 });
  expect(await sql`select 1 from runs where thread_id = ${thread_id}`).toHaveLength(0);
  expect((await call("GET", `/threads/${thread_id}`)).status).toBe(404);
});

test("prune deletes threads, or keeps what a thread needs to continue", async () => {
  const threads = [await create(), await create()];
  for (const { thread_id } of threads) await run(thread_id, { assistant_id: "nested", input: { topic: "t" } });
  const [waiting, doomed] = threads.map((thread) => thread.thread_id as string) as [string, string];
  const before = await countThreadRows(waiting);

  const pruned = await call("POST", "/threads/prune", {
    thread_ids: [waiting, waiting, UNKNOWN],
    strategy: "keep_latest",
  });
  expect(pruned.json).toEqual({ pruned_count: 1 });
  expect((await countThreadRows(waiting)).checkpoints).toBeLessThan(before.checkpoints);
  const [only] = await history(waiting);
  expect(await history(waiting)).toHaveLength(1);
  expect(only).toMatchObject({ values: { topic: "t", log: ["enter"] }, next: ["child"], parent_checkpoint: null });
  const { json: resumed } = await run(waiting, { assistant_id: "nested", command: { resume: "late" } });
  expect(resumed.log).toEqual(["enter", "enter", "answer:late"]);

  expect((await call("POST", "/threads/prune", { thread_ids: [doomed, UNKNOWN] })).json).toEqual({ pruned_count: 1 });
  expect((await call("GET", `/threads/${doomed}`)).status).toBe(404);
});

test("keep_latest does not prune a busy thread", async () => {
  const { thread_id } = await create();
  await run(thread_id, { assistant_id: "trail", input: { topic: "t" } });
  await call("POST", `/threads/${thread_id}/runs`, { assistant_id: "trail", input: {}, after_seconds: 600 });
  const before = await countThreadRows(thread_id);
  expect((await call("POST", "/threads/prune", { thread_ids: [thread_id], strategy: "keep_latest" })).json).toEqual({
    pruned_count: 0,
  });
  expect(await countThreadRows(thread_id)).toEqual(before);
});

test("storage reports rows and bytes of a thread, without those of others", async () => {
  const { thread_id } = await create();
  const storage = async (id: string) => (await call("GET", `/threads/${id}/storage`)).json;
  const empty = await storage(thread_id);
  expect(empty).toMatchObject({
    thread_id,
    checkpoints: { count: 0, bytes: 0 },
    channel_values: { count: 0, bytes: 0, by_channel: {} },
    pending_writes: { count: 0, bytes: 0 },
    runs: { count: 0, bytes: 0 },
    stream_frames: { count: 0, bytes: 0 },
    protocol_events: { count: 0, bytes: 0 },
  });
  await run(thread_id, { assistant_id: "trail", input: { topic: "x".repeat(500) }, stream_resumable: true });
  const rows = await countThreadRows(thread_id);
  const full = await storage(thread_id);
  expect(full.checkpoints.count).toBe(rows["checkpoints"]);
  expect(full.channel_values.count).toBe(rows["blobs"]);
  expect(full.pending_writes.count).toBe(rows["writes"]);
  expect(full.runs.count).toBe(1);
  await expect.poll(async () => (await storage(thread_id)).stream_frames.count).toBeGreaterThan(1);
  expect(full.channel_values.by_channel.topic.versions).toBeGreaterThanOrEqual(1);
  expect(full.channel_values.by_channel.topic.bytes).toBeGreaterThan(500);
  const parts = ["checkpoints", "channel_values", "pending_writes", "runs"];
  expect(full.total_bytes).toBeGreaterThanOrEqual(
    parts.reduce((sum, part) => sum + full[part].bytes, empty.total_bytes),
  );
  expect((await call("GET", `/threads/${UNKNOWN}/storage`)).status).toBe(404);
});
