import { randomUUID } from "node:crypto";
import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeEach, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { readHistory, readState } from "../calls/read-state.ts";
import { bindGraph, type Graph } from "../graphs/graph.ts";
import { toJson, toSharedParts } from "../serialize.ts";
import { encodeSharedJson, SharedJson } from "../../../host-kit/src/shared-json.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { HeddleSaver } from "./heddle-saver.ts";
import { showableLists } from "./showable-lists.ts";
import { officialSaver } from "./test/own-postgres.ts";

const db = await testDatabase();
const statements: string[] = [];
const connect = () =>
  new CheckpointDatabase(db.uri, { socket: db.options.host, onStatement: (s) => statements.push(s) });
const database = connect();
const official = officialSaver(db.uri);
afterAll(() => Promise.all([database.close(), official.end()]));
beforeEach(() => void (statements.length = 0));

/** Answers with what the input names: all kinds of messages and of changes to the list. */
const builder = new StateGraph(MessagesAnnotation)
  .addNode("answer", ({ messages }) => {
    const asked = String(messages.at(-1)!.content);
    const n = messages.length;
    if (asked.startsWith("remove")) return { messages: [new RemoveMessage({ id: messages[1]!.id! })] };
    if (asked.startsWith("replace"))
      return { messages: [new SystemMessage({ id: messages[2]!.id!, content: "replaced" })] };
    if (asked.startsWith("clear"))
      return { messages: [new RemoveMessage({ id: "__remove_all__" }), ...messages.slice(-5)] };
    if (asked.startsWith("mutate")) {
      messages[3]!.content = "mutated";
      return { messages: [new AIMessage({ id: `a${n}`, content: "done" })] };
    }
    if (asked.startsWith("tool")) {
      const call = { id: `c${n}`, name: "look", args: { deep: { list: [n, null, "ü\u2028"] } } };
      return {
        messages: [
          new AIMessage({ id: `a${n}`, content: [{ type: "text", text: "calls" }], tool_calls: [call] }),
          new ToolMessage({
            id: `t${n}`,
            content: "found",
            tool_call_id: `c${n}`,
            artifact: { undefinedValue: undefined },
          }),
          new AIMessageChunk({
            id: `k${n}`,
            content: "chunk",
            usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
          }),
        ],
      };
    }
    return { messages: [new AIMessage({ id: `a${n}`, content: `${asked} `.repeat(30), response_metadata: { n } })] };
  })
  .addEdge(START, "answer");
const graph = builder.compile() as unknown as Graph;

async function turn(saver: BaseCheckpointSaver, threadId: string, text: string, n: number, more: object = {}) {
  const bound = bindGraph(graph, saver, undefined as never);
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "", ...more }, streamMode: ["values"] };
  let last: unknown;
  const input = { messages: [new HumanMessage({ id: `h${n}`, content: text })] };
  for await (const [, values] of (await bound.stream(input, config)) as AsyncIterable<[string, unknown]>) last = values;
  return last;
}

/** Runs a turn as a host does: fenced, from the head that it remembers. */
async function hostTurn(threadId: string, text: string, n: number, on = database, more: object = {}): Promise<unknown> {
  const runId = randomUUID();
  await db.sql`insert into threads (thread_id) values (${threadId}) on conflict do nothing`;
  await db.sql`
    insert into runs (run_id, thread_id, assistant_id, status, attempt)
    values (${runId}, ${threadId}, ${randomUUID()}, 'running', 1)`;
  const id = await newest(threadId);
  const head = id === undefined ? {} : { head: { threadId, id } };
  const saver = new HeddleSaver(on, { fence: { runId, attempt: 1 }, ...head, ...(!id && { freshThread: threadId }) });
  const last = await turn(saver, threadId, text, n, { ...more, run_id: runId });
  await saver.flush(threadId);
  await db.sql`update runs set status = 'success' where run_id = ${runId}`;
  return last;
}

async function newest(threadId: string): Promise<string | undefined> {
  const [row] = await db.sql<{ id: string | null }[]>`
    select max(checkpoint_id) as id from checkpoints where thread_id = ${threadId} and checkpoint_ns = ''`;
  return row?.id ?? undefined;
}

async function history(saver: BaseCheckpointSaver, threadId: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const config = { configurable: { thread_id: threadId } };
  for await (const { values, next } of bindGraph(graph, saver, undefined as never).getStateHistory(config)) {
    found.push(JSON.parse(toJson({ values, next })));
  }
  return found;
}

const TEXTS = [
  "plain",
  "plain",
  "tool",
  "remove",
  "plain",
  "replace",
  "mutate",
  "tool",
  "plain",
  "clear",
  "plain",
  "tool",
];
const LONG = "q".repeat(300);
async function changes(threadId: string): Promise<{ type: string; n: number }[]> {
  return db.sql`
    select type, count(*)::int as n from checkpoint_blobs
    where thread_id = ${threadId} and channel = 'messages' group by type order by type`;
}

test("a conversation with every kind of change has the states that MemorySaver has, turn by turn and in its history", async () => {
  const threadId = randomUUID();
  const memory = new MemorySaver();
  const hosts = [database, connect(), connect()];
  let n = 0;
  for (let round = 0; round < 4; round++) {
    for (const text of TEXTS) {
      const question = `${text} ${LONG}`;
      const expected = await turn(memory, threadId, question, n);
      const found = await hostTurn(threadId, question, n, hosts[n % 7 === 6 ? 2 : n % 3 === 2 ? 1 : 0]);
      n += 1;
      expect(JSON.parse(toJson(found))).toEqual(JSON.parse(toJson(expected)));
    }
  }
  expect((await changes(threadId)).map(({ type }) => type)).toEqual(["json", "list"]);
  expect(await history(new HeddleSaver(connect()), threadId)).toEqual(await history(memory, threadId));
  for (const host of hosts.slice(1)) await host.close();
});

/** Returns the state and the history as the API shows them; `options` are those of the saver. */
async function show(threadId: string, options: object, limit = 100, on = database): Promise<unknown> {
  const bound = bindGraph(graph, new HeddleSaver(on, { onlyReads: true, ...options }), undefined as never);
  const params = { graph_id: "g", thread_id: threadId, config: {}, subgraphs: false, limit } as never;
  const parts = toSharedParts([await readState(bound, params), ...(await readHistory(bound, params))]);
  const text =
    parts.length === 1 ? (parts[0] as string) : new SharedJson(Buffer.from(encodeSharedJson(parts))).toString();
  return JSON.parse(text);
}
const SHOWN = { showsLists: showableLists(graph) };

test("what the API shows is what loaded values would print", async () => {
  const threadId = randomUUID();
  for (const [n, text] of [...TEXTS, "plain"].entries()) await hostTurn(threadId, `${text} ${LONG}`, n);
  expect(await show(threadId, SHOWN)).toEqual(await show(threadId, {}));
});

test("a history that was shown before is read from there, whatever has happened since", async () => {
  const threadId = randomUUID();
  const reader = connect();
  const check = async (limit: number) =>
    expect(await show(threadId, SHOWN, limit, reader)).toEqual(await show(threadId, {}, limit));
  for (let n = 0; n < 20; n++) await hostTurn(threadId, LONG, n);
  statements.length = 0;
  await check(10);
  const listed = () => statements.filter((text) => text.includes("limit 10") && text.includes("unnest")).length;
  expect(listed()).toBe(0);
  await check(10);
  expect(listed()).toBe(1);
  // a shorter one needs nothing older, and a longer one that begins before the list was long leaves nothing to keep
  for (const limit of [3, 60]) await check(limit);
  expect(reader.historyLists.get(threadId)!.get("messages")!.items.length).toBe(34);
  // no statement that cannot succeed
  expect(statements.filter((text) => text.includes("limit 60") && text.includes("unnest"))).toEqual([]);
  await check(10);

  for (const [n, text] of TEXTS.entries()) {
    await hostTurn(threadId, `${text} ${LONG}`, 20 + n);
    await check(10);
  }
  const older = await db.sql<{ id: string }[]>`
    select checkpoint_id as id from checkpoints where thread_id = ${threadId} order by checkpoint_id desc limit 1 offset 9`;
  await hostTurn(threadId, `fork ${LONG}`, 50, database, { checkpoint_id: older[0]!.id });
  await check(10);
  const [run] = await db.sql<{ run_id: string }[]>`
    select metadata ->> 'run_id' as run_id from checkpoints where thread_id = ${threadId} order by checkpoint_id desc limit 1`;
  await db.sql`select delete_run_checkpoints(${threadId}, ${run!.run_id})`;
  await check(10);
  await db.sql`update threads set status = 'idle' where thread_id = ${threadId}`;
  await db.sql`select prune_thread(${threadId})`;
  await check(10);
  await reader.close();
});

test("a turn writes and reads only what is new, also on another host that knew the thread before", async () => {
  const threadId = randomUUID();
  const other = connect();
  for (let n = 0; n < 30; n++) await hostTurn(threadId, LONG, n, n === 20 ? other : database);
  const before = await size(threadId);
  for (let n = 30; n < 40; n++) await hostTurn(threadId, LONG, n, n === 35 ? other : database);
  expect((await size(threadId)) - before).toBeLessThan(10 * (300 + 30 * 301 + 1000));
  const tuple = await new HeddleSaver(other, { fence: { runId: randomUUID(), attempt: 1 } }).getTuple({
    configurable: { thread_id: threadId },
  });
  expect((tuple!.checkpoint.channel_values["messages"] as unknown[]).length).toBe(80);
  await other.close();
});

async function size(threadId: string): Promise<number> {
  const [row] = await db.sql<{ bytes: number }[]>`
    select sum(length(blob))::int as bytes from checkpoint_blobs where thread_id = ${threadId} and channel = 'messages'`;
  return row!.bytes;
}

test("forks, rollbacks, copies and pruned threads keep their lists, and deletions leave nothing behind", async () => {
  const threadId = randomUUID();
  const memory = new MemorySaver();
  const both = async (text: string, n: number) => {
    await turn(memory, threadId, text, n);
    await hostTurn(threadId, text, n);
  };
  for (let n = 0; n < 12; n++) await both(LONG, n);
  const states = (await history(new HeddleSaver(connect()), threadId)) as { values: unknown }[];

  // a fork from an older checkpoint, then its rollback
  const older = await db.sql<{ id: string }[]>`
    select checkpoint_id as id from checkpoints where thread_id = ${threadId} order by checkpoint_id desc limit 1 offset 9`;
  await hostTurn(threadId, `fork ${LONG}`, 50, database, { checkpoint_id: older[0]!.id });
  const forked = (await history(new HeddleSaver(database), threadId)) as { values: { messages: unknown[] } }[];
  expect(forked.slice(-states.length)).toEqual(states);
  expect(forked[0]!.values.messages.length).toBeLessThan((states[0] as (typeof forked)[0]).values.messages.length);
  const [run] = await db.sql<{ run_id: string }[]>`
    select metadata ->> 'run_id' as run_id from checkpoints where thread_id = ${threadId} order by checkpoint_id desc limit 1`;
  await db.sql`select delete_run_checkpoints(${threadId}, ${run!.run_id})`;
  expect(await history(new HeddleSaver(connect()), threadId)).toEqual(states);

  // the last run's rollback, and the next run on the host that remembers the rolled back one
  await hostTurn(threadId, `gone ${LONG}`, 60);
  const [last] = await db.sql<{ run_id: string }[]>`
    select metadata ->> 'run_id' as run_id from checkpoints where thread_id = ${threadId} order by checkpoint_id desc limit 1`;
  await db.sql`select delete_run_checkpoints(${threadId}, ${last!.run_id})`;
  expect(await history(new HeddleSaver(connect()), threadId)).toEqual(states);
  await both(`after ${LONG}`, 61);
  expect(await history(new HeddleSaver(connect()), threadId)).toEqual(await history(memory, threadId));

  const copy = randomUUID();
  await db.sql`select copy_thread(${threadId}, ${copy})`;
  expect(await history(new HeddleSaver(connect()), copy)).toEqual(await history(memory, threadId));
  await db.sql`select delete_thread(${threadId})`;
  const [left] = await db.sql`select count(*)::int as n from checkpoint_blobs where thread_id = ${threadId}`;
  expect(left).toEqual({ n: 0 });

  await db.sql`update threads set status = 'idle' where thread_id = ${copy}`;
  expect(await db.sql`select prune_thread(${copy}) as done`).toEqual([{ done: true }]);
  const [kept] = await history(new HeddleSaver(connect()), copy);
  expect(kept).toEqual((await history(memory, threadId))[0]);
  const continued = (await hostTurn(copy, `on ${LONG}`, 70)) as { messages: unknown[] };
  expect(continued.messages.length).toBe(28);
});

test("a thread of the official saver is continued, and its long lists are stored as changes from then on", async () => {
  const threadId = randomUUID();
  for (let n = 0; n < 10; n++) await turn(official, threadId, LONG, n);
  expect(await changes(threadId)).toEqual([{ type: "json", n: 20 }]);
  const last = (await hostTurn(threadId, LONG, 10)) as { messages: unknown[] };
  expect(last.messages.length).toBe(22);
  expect(await changes(threadId)).toEqual([
    { type: "json", n: 20 },
    { type: "list", n: 2 },
  ]);
});

test("lists are stored whole while a server shares the database that cannot read changes", async () => {
  const threadId = randomUUID();
  database.storesListsWhole = true;
  for (let n = 0; n < 6; n++) await hostTurn(threadId, LONG, n);
  expect((await changes(threadId)).map(({ type }) => type)).toEqual(["json"]);
  database.storesListsWhole = false;
  await hostTurn(threadId, LONG, 6);
  expect((await changes(threadId)).find(({ type }) => type === "list")).toEqual({ type: "list", n: 2 });
});

test("objects that a run has changed after its last put do not reach the next run", async () => {
  const threadId = randomUUID();
  for (let n = 0; n < 12; n++) await hostTurn(threadId, LONG, n);
  const values = (await hostTurn(threadId, LONG, 12)) as { messages: HumanMessage[] };
  for (const message of values.messages) message.content = "changed later";
  const next = (await hostTurn(threadId, LONG, 13)) as { messages: HumanMessage[] };
  expect(next.messages.some(({ content }) => content === "changed later")).toBe(false);
});
