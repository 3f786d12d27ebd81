import { randomUUID } from "node:crypto";
import { uuid6 } from "@langchain/langgraph-checkpoint";
import postgres from "postgres";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { CheckpointWriter } from "./checkpoint-writer.ts";
import { FencedError } from "./errors.ts";
import { HeddleSaver } from "./heddle-saver.ts";
import type { WriteItem, WriteRow } from "./rows.ts";

const db = await testDatabase();
const statements: string[] = [];
const database = new CheckpointDatabase(db.uri, {
  socket: db.options.host,
  onStatement: (text) => statements.push(text),
});
afterAll(() => database.close());

const config = (threadId: string, id?: string) => ({
  configurable: { thread_id: threadId, checkpoint_ns: "", ...(id && { checkpoint_id: id }) },
});

function checkpoint(values: Record<string, unknown>, versions: Record<string, number> = {}) {
  const channel_versions = Object.fromEntries(Object.keys(values).map((name) => [name, versions[name] ?? 1]));
  return {
    v: 4,
    id: uuid6(0),
    ts: new Date().toISOString(),
    channel_values: values,
    channel_versions,
    versions_seen: {},
  };
}

const loop = { source: "loop" as const, step: 1, parents: {} };

/** Puts without waiting; returns the promise of the commit. */
function put(saver: HeddleSaver, threadId: string, values: Record<string, unknown>) {
  const created = checkpoint(values);
  return saver.put(config(threadId), created, loop, created.channel_versions);
}

async function startRun(): Promise<{ runId: string; threadId: string }> {
  const [runId, threadId] = [randomUUID(), randomUUID()];
  await db.sql`insert into threads (thread_id) values (${threadId})`;
  await db.sql`
    insert into runs (run_id, thread_id, assistant_id, status, attempt)
    values (${runId}, ${threadId}, ${randomUUID()}, 'running', 1)`;
  return { runId, threadId };
}

async function countRows(threadId: string): Promise<{ checkpoints: number; blobs: number; writes: number }> {
  const [row] = await db.sql<{ checkpoints: number; blobs: number; writes: number }[]>`
    select (select count(*)::int from checkpoints where thread_id = ${threadId}) as checkpoints,
           (select count(*)::int from checkpoint_blobs where thread_id = ${threadId}) as blobs,
           (select count(*)::int from checkpoint_writes where thread_id = ${threadId}) as writes`;
  return row!;
}

test("a hundred concurrent puts share a handful of statements", async () => {
  const threads = Array.from({ length: 100 }, () => randomUUID());
  await put(new HeddleSaver(database), randomUUID(), { warm: 1 });
  statements.length = 0;
  await Promise.all(threads.map((threadId) => put(new HeddleSaver(database), threadId, { a: threadId })));
  expect(statements.length).toBeLessThanOrEqual(3);
  for (const threadId of threads) {
    const tuple = await new HeddleSaver(database).getTuple(config(threadId));
    expect(tuple?.checkpoint.channel_values).toEqual({ a: threadId });
  }
});

test("writes of a step and its checkpoint share one statement", async () => {
  const threadId = randomUUID();
  const saver = new HeddleSaver(database);
  const before = await put(saver, threadId, { a: 1 });
  statements.length = 0;
  await Promise.all([saver.putWrites(before, [["a", 2]], "task"), put(saver, threadId, { a: 2 })]);
  expect(statements.length).toBe(1);
  expect(await countRows(threadId)).toEqual({ checkpoints: 2, blobs: 1, writes: 1 });
});

test("rejects writes of an attempt that was taken over, and stores the others of its batch", async () => {
  const [old, other] = [await startRun(), await startRun()];
  const zombie = new HeddleSaver(database, { fence: { runId: old.runId, attempt: 1 } });
  await put(zombie, old.threadId, { a: 1 });
  const rows = await countRows(old.threadId);

  await db.sql`update runs set attempt = 2 where run_id = ${old.runId}`;
  const [lost, current, fresh] = await Promise.allSettled([
    put(zombie, old.threadId, { a: 2 }),
    put(new HeddleSaver(database, { fence: { runId: other.runId, attempt: 1 } }), other.threadId, { a: 3 }),
    put(new HeddleSaver(database, { fence: { runId: old.runId, attempt: 2 } }), randomUUID(), { a: 4 }),
  ]);
  expect(lost).toMatchObject({ status: "rejected", reason: expect.any(FencedError) });
  expect([current.status, fresh.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(await countRows(old.threadId)).toEqual(rows);
  expect(await countRows(other.threadId)).toEqual({ checkpoints: 1, blobs: 1, writes: 0 });

  await expect(zombie.putWrites(config(old.threadId, "x"), [["a", 5]], "task")).rejects.toThrow(FencedError);
  expect(await countRows(old.threadId)).toEqual(rows);
});

test.each(["success", "pending", "interrupted"])("rejects writes of a run whose status is %s", async (status) => {
  const { runId, threadId } = await startRun();
  await db.sql`update runs set status = ${status} where run_id = ${runId}`;
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 } });
  await expect(put(saver, threadId, { a: 1 })).rejects.toThrow(FencedError);
  expect(await countRows(threadId)).toEqual({ checkpoints: 0, blobs: 0, writes: 0 });
});

test("rejects writes of a deleted run", async () => {
  const { runId, threadId } = await startRun();
  await db.sql`delete from runs where run_id = ${runId}`;
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 } });
  await expect(put(saver, threadId, { a: 1 })).rejects.toThrow(FencedError);
});

test("a write concurrent with a takeover waits for it and is rejected", async () => {
  const { runId, threadId } = await startRun();
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 } });
  let writing: Promise<unknown> | undefined;
  await db.sql.begin(async (sql) => {
    await sql`update runs set attempt = 2 where run_id = ${runId}`;
    writing = put(saver, threadId, { a: 1 }).catch((error: unknown) => error);
    const answer = await Promise.race([writing, new Promise((resolve) => setTimeout(resolve, 200, "waits"))]);
    expect(answer).toBe("waits");
  });
  expect(await writing).toBeInstanceOf(FencedError);
  expect(await countRows(threadId)).toEqual({ checkpoints: 0, blobs: 0, writes: 0 });
});

test("stores the valid attempt's content when two attempts write one key in one turn", async () => {
  const { runId, threadId } = await startRun();
  await db.sql`update runs set attempt = 2 where run_id = ${runId}`;
  const created = checkpoint({ a: "zombie" });
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 } });
  const two = new HeddleSaver(database, { fence: { runId, attempt: 2 } });
  const valid = { ...created, channel_values: { a: "valid" } };
  const results = await Promise.allSettled([
    saver.put(config(threadId), created, loop, created.channel_versions),
    two.put(config(threadId), valid, loop, created.channel_versions),
  ]);
  expect(results.map((r) => r.status)).toEqual(["rejected", "fulfilled"]);
  const tuple = await new HeddleSaver(database).getTuple(config(threadId));
  expect(tuple?.checkpoint.channel_values).toEqual({ a: "valid" });
});

test("rejects an item that cannot be encoded, and writes the items around it", async () => {
  const sql = postgres(db.uri, { ...db.options, max: 1 });
  const writer = new CheckpointWriter(sql);
  const { runId, threadId } = await startRun();
  const fence = { runId, attempt: 1 };
  const write = (idx: number): WriteRow => ({
    ...{ threadId, ns: "", checkpointId: uuid6(0), taskId: randomUUID(), idx },
    ...{ channel: "a", type: "json", blob: Buffer.from("1"), replaces: false },
  });
  const broken: WriteItem = {
    fence,
    writes: [],
    get blobs(): never {
      throw new Error("cannot be encoded");
    },
  };
  const results = await Promise.allSettled([
    writer.write({ fence, blobs: [], writes: [write(0)] }),
    writer.write(broken),
    writer.write({ fence, blobs: [], writes: [write(1)] }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  // later items are written too
  await writer.write({ fence, blobs: [], writes: [write(2)] });
  expect((await countRows(threadId)).writes).toBe(3);
  await sql.end();
});

test("stores a checkpoint that is put twice in one turn once, with its last content", async () => {
  const threadId = randomUUID();
  const saver = new HeddleSaver(database);
  const created = checkpoint({ a: 1 });
  await Promise.all([
    saver.put(config(threadId), created, loop, created.channel_versions),
    saver.put(config(threadId), created, { ...loop, step: 7 }, {}),
    saver.putWrites(config(threadId, created.id), [["__error__", "first"]], "t"),
    saver.putWrites(config(threadId, created.id), [["__error__", "last"]], "t"),
    saver.putWrites(config(threadId, created.id), [["a", "first"]], "u"),
    saver.putWrites(config(threadId, created.id), [["a", "last"]], "u"),
  ]);
  const tuple = await new HeddleSaver(database).getTuple(config(threadId));
  expect(tuple?.metadata?.step).toBe(7);
  expect(tuple?.pendingWrites).toEqual([
    ["t", "__error__", "last"],
    ["u", "a", "first"],
  ]);
  expect(await saver.getTuple(config(threadId))).toEqual(tuple);
});

test("stores null characters and lone surrogates without affecting other writes", async () => {
  const threadId = randomUUID();
  const saver = new HeddleSaver(database);
  const text = "a\0b\ud800c \\u0000 😀";
  const created = checkpoint({ text });
  const metadata = { ...loop, note: text, [`key\0`]: "\udc00" };
  const others = Array.from({ length: 5 }, () => put(new HeddleSaver(database), randomUUID(), { a: 1 }));
  const next = await saver.put(config(threadId), created, metadata, created.channel_versions);
  await saver.putWrites(next, [["text", text]], "task\0");
  await Promise.all(others);
  const tuple = await new HeddleSaver(database).getTuple(config(threadId));
  expect(tuple?.checkpoint.channel_values).toEqual({ text });
  expect(tuple?.metadata).toEqual({ ...loop, note: "a\ufffdb\ufffdc \\u0000 😀", "key\ufffd": "\ufffd" });
  expect(tuple?.pendingWrites).toEqual([["task\ufffd", "text", text]]);
});

test("an item that the database rejects fails alone", async () => {
  const statementsBefore = statements.length;
  const rejected = new HeddleSaver(database, { fence: { runId: "not a uuid", attempt: 1 } });
  const [bad, ...good] = await Promise.allSettled([
    put(rejected, randomUUID(), { a: 1 }),
    ...Array.from({ length: 8 }, () => put(new HeddleSaver(database), randomUUID(), { a: 1 })),
  ]);
  expect(bad).toMatchObject({ status: "rejected", reason: { code: "22P02" } });
  expect(good.map((r) => r.status)).toEqual(Array.from({ length: 8 }, () => "fulfilled"));
  expect(statements.length - statementsBefore).toBe(10);
});

test("values of 5 MB, text and bytes, are read back unchanged", async () => {
  const threadId = randomUUID();
  const text = 'höhö "quoted" \\ \n'.repeat(330_000);
  const bytes = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) % 256);
  await Promise.all([
    put(new HeddleSaver(database), threadId, { text, bytes }),
    put(new HeddleSaver(database), randomUUID(), { text }),
  ]);
  const tuple = await new HeddleSaver(database).getTuple(config(threadId));
  expect(tuple?.checkpoint.channel_values["text"] === text).toBe(true);
  expect(Buffer.compare(tuple?.checkpoint.channel_values["bytes"] as Uint8Array, bytes)).toBe(0);
});

test("writes puts before user code without waiting, and reports their failure", async () => {
  const { runId, threadId } = await startRun();
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 }, freshThread: threadId });
  const created = checkpoint({ a: 1 });
  await db.sql.begin(async (sql) => {
    await sql`lock table checkpoints`;
    await saver.put(config(threadId), created, { source: "input", step: -1, parents: {} }, created.channel_versions);
  });
  await expect.poll(() => countRows(threadId)).toEqual({ checkpoints: 1, blobs: 1, writes: 0 });

  await db.sql`update runs set attempt = 2 where run_id = ${runId}`;
  const later = checkpoint({ a: 2 });
  await saver.put(config(threadId), later, { source: "input", step: 0, parents: {} }, later.channel_versions);
  await expect(saver.flush()).rejects.toThrow(FencedError);
  await expect(saver.putWrites(config(threadId, later.id), [["a", 1]], "t")).rejects.toThrow(FencedError);
  expect(await countRows(threadId)).toEqual({ checkpoints: 1, blobs: 1, writes: 0 });
});
