import { randomUUID } from "node:crypto";

import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterAll, expect, test, vi } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { HeadMovedError } from "./errors.ts";
import { HeddleSaver } from "./heddle-saver.ts";
import { echoGraph } from "./test/graphs.ts";

const db = await testDatabase();
const database = new CheckpointDatabase(db.uri, { socket: db.options.host });
afterAll(() => database.close());

const plain = () => new HeddleSaver(database);
const config = (threadId: string) => ({ configurable: { thread_id: threadId, checkpoint_ns: "" } });
const run = (threadId: string) =>
  echoGraph(plain()).invoke({ last: "go" }, { ...config(threadId), durability: "sync" });

/** Creates a thread with one finished run, and a state update that has read it and not written yet. */
async function pendingUpdate() {
  const threadId = randomUUID();
  await db.sql`insert into threads (thread_id) values (${threadId})`;
  await run(threadId);
  const saver = new HeddleSaver(database, { guarded: true });
  const { config: parent, checkpoint } = (await saver.getTuple(config(threadId)))!;
  const next = { ...checkpoint, id: emptyCheckpoint().id };
  const write = () => saver.put(parent, next, { source: "update", step: 9, parents: {} }, {});
  return { threadId, id: next.id, write };
}

async function newestId(threadId: string): Promise<string> {
  return (await plain().getTuple(config(threadId)))!.checkpoint.id;
}

test("a state update becomes the newest checkpoint of a thread that has not changed", async () => {
  const { threadId, id, write } = await pendingUpdate();
  await write();
  expect(await newestId(threadId)).toBe(id);
  // the thread's row does not show it yet
  expect(await db.sql`select 1 from stale_threads where thread_id = ${threadId}`).toHaveLength(1);
});

test("a state update that is written twice, as after a lost answer, succeeds twice", async () => {
  const { threadId, id, write } = await pendingUpdate();
  await write();
  await write();
  expect(await newestId(threadId)).toBe(id);
});

test("rejects a state update below a newer checkpoint, and writes nothing", async () => {
  const { threadId, id, write } = await pendingUpdate();
  await run(threadId);
  const newest = await newestId(threadId);
  await expect(write()).rejects.toBeInstanceOf(HeadMovedError);
  expect(await newestId(threadId)).toBe(newest);
  expect(await db.sql`select 1 from checkpoints where checkpoint_id = ${id}`).toHaveLength(0);
});

test("rejects a state update after it waited for a run to be claimed", async () => {
  const { threadId, id, write } = await pendingUpdate();
  let failure: Promise<unknown> | undefined;
  await db.sql.begin(async (sql) => {
    await sql`update threads set running_run_id = ${randomUUID()} where thread_id = ${threadId}`;
    failure = write().catch((error: unknown) => error);
    await vi.waitUntil(async () => (await db.sql`select 1 from pg_locks where not granted`).length > 0);
  });
  expect(await failure).toBeInstanceOf(HeadMovedError);
  expect(await db.sql`select 1 from checkpoints where checkpoint_id = ${id}`).toHaveLength(0);
});

test("rejects a state update of a deleted thread, and leaves no row", async () => {
  const { threadId, write } = await pendingUpdate();
  await plain().deleteThread(threadId);
  await db.sql`delete from threads where thread_id = ${threadId}`;
  await expect(write()).rejects.toBeInstanceOf(HeadMovedError);
  expect(await db.sql`select 1 from checkpoints where thread_id = ${threadId}`).toHaveLength(0);
});

/** Creates a thread with checkpoints in two namespaces, and a state update of the nested one that has not written yet. */
async function pendingNestedUpdate() {
  const threadId = randomUUID();
  await db.sql`insert into threads (thread_id) values (${threadId})`;
  const nested = { configurable: { thread_id: threadId, checkpoint_ns: "child:1" } };
  const put = (saver: HeddleSaver, parent: object) =>
    saver.put(parent, emptyCheckpoint(), { source: "update", step: 0, parents: {} }, {});
  await put(plain(), config(threadId));
  await put(plain(), nested);
  const saver = new HeddleSaver(database, { guarded: true });
  const { config: parent } = (await saver.getTuple(nested))!;
  const change = (where: object) => put(plain(), where);
  return { threadId, nested, write: () => put(saver, parent), change };
}

test("a state update of a subgraph is the newest of its namespace, also after another one", async () => {
  const { nested, write } = await pendingNestedUpdate();
  for (let time = 0; time < 2; time++) {
    const { configurable } = await write();
    expect((await plain().getTuple(nested))!.checkpoint.id).toBe(configurable!.checkpoint_id);
  }
});

test.each(["the root", "the subgraph"])(
  "rejects a state update of a subgraph after a change of %s",
  async (changed) => {
    const { threadId, nested, write, change } = await pendingNestedUpdate();
    await change(changed === "the root" ? config(threadId) : nested);
    await expect(write()).rejects.toBeInstanceOf(HeadMovedError);
  },
);

test("accepts a state update of a subgraph after a change of another one", async () => {
  const { threadId, write, change } = await pendingNestedUpdate();
  await change({ configurable: { thread_id: threadId, checkpoint_ns: "child:2" } });
  await expect(write()).resolves.toBeDefined();
});
