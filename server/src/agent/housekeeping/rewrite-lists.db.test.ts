import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { afterAll, expect, test } from "vitest";

import { CheckpointDatabase } from "../../../../graph-host/src/checkpoints/checkpoint-database.ts";
import { HeddleSaver } from "../../../../graph-host/src/checkpoints/heddle-saver.ts";
import { officialSaver } from "../../../../graph-host/src/checkpoints/test/own-postgres.ts";
import { testDatabase } from "../../../test/db.ts";
import { selectWholeLists, storeChanges, storeWhole } from "./rewrite-lists.ts";

const db = await testDatabase();
const database = new CheckpointDatabase(db.uri, { socket: db.options.host });
const official = officialSaver(db.uri);
afterAll(() => Promise.all([database.close(), official.end()]));

const builder = new StateGraph(MessagesAnnotation)
  .addNode("answer", ({ messages }) => ({
    messages: [new HumanMessage({ id: `a${messages.length}`, content: "a".repeat(300) })],
  }))
  .addEdge(START, "answer");

async function converse(checkpointer: BaseCheckpointSaver, threadId: string, turns: number, from = 0): Promise<void> {
  const graph = builder.compile({ checkpointer });
  for (let n = from; n < from + turns; n++) {
    const input = { messages: [new HumanMessage({ id: `h${n}`, content: "q".repeat(300) })] };
    await graph.invoke(input, { configurable: { thread_id: threadId } });
  }
}

async function newThread(): Promise<string> {
  const threadId = randomUUID();
  await db.sql`insert into threads (thread_id) values (${threadId})`;
  return threadId;
}

async function tuples(saver: BaseCheckpointSaver, threadId: string): Promise<CheckpointTuple[]> {
  const found: CheckpointTuple[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: threadId } })) found.push(tuple);
  return found;
}

async function stored(threadId: string): Promise<{ bytes: number; changes: number }> {
  const [row] = await db.sql<{ bytes: number; changes: number }[]>`
    select sum(length(blob))::int as bytes, count(*) filter (where type = 'list')::int as changes
    from checkpoint_blobs where thread_id = ${threadId} and channel = 'messages'`;
  return row!;
}

test("a thread of an earlier version shrinks, keeps all of its states, and is continued", async () => {
  const threadId = await newThread();
  await converse(official, threadId, 25);
  const before = await tuples(official, threadId);
  const { bytes } = await stored(threadId);

  const lists = await selectWholeLists(db.sql, "", 10);
  expect(lists).toEqual([{ thread_id: threadId, checkpoint_ns: "", channel: "messages" }]);
  const freed = await storeChanges(db.sql, lists[0]!);
  const after = await stored(threadId);
  expect(after.bytes).toBe(bytes - freed);
  expect(after.bytes).toBeLessThan(bytes / 5);
  expect(await tuples(new HeddleSaver(database), threadId)).toEqual(before);

  await converse(new HeddleSaver(database), threadId, 3, 25);
  const last = await new HeddleSaver(database).getTuple({ configurable: { thread_id: threadId } });
  expect((last!.checkpoint.channel_values["messages"] as unknown[]).length).toBe(56);
  expect(await selectWholeLists(db.sql, threadId, 10)).toEqual([]);
});

test("a thread with a running run is left alone", async () => {
  const threadId = await newThread();
  await converse(official, threadId, 15);
  await db.sql`update threads set running_run_id = ${randomUUID()} where thread_id = ${threadId}`;
  const before = await stored(threadId);
  expect(await storeChanges(db.sql, { thread_id: threadId, checkpoint_ns: "", channel: "messages" })).toBe(0);
  expect(await stored(threadId)).toEqual(before);
});

test("expanded threads are read by the official saver, and by a host that remembers them", async () => {
  const threadId = await newThread();
  const saver = new HeddleSaver(database);
  await converse(saver, threadId, 20);
  const before = await tuples(new HeddleSaver(database), threadId);
  const { changes } = await stored(threadId);
  expect(changes).toBeGreaterThan(20);
  await expect(tuples(official, threadId)).rejects.toThrow("list");

  expect(await storeWhole(db.sql, threadId)).toBe(changes);
  expect((await stored(threadId)).changes).toBe(0);
  expect(await tuples(official, threadId)).toEqual(before);

  // this saver's changes count from a version that is stored whole by now
  await converse(saver, threadId, 2, 20);
  const expected = await tuples(saver, threadId);
  expect((await stored(threadId)).changes).toBeGreaterThan(0);
  expect(await tuples(new HeddleSaver(database), threadId)).toEqual(expected);
  expect(expected.length).toBe(66);
});
