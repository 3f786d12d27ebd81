import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { type BaseCheckpointSaver, type CheckpointTuple, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { HeddleSaver } from "./heddle-saver.ts";
import { startsWithoutUserCode } from "./start-step.ts";
import { echoGraph, twoStepGraph } from "./test/graphs.ts";
import { officialSaver } from "./test/own-postgres.ts";

const db = await testDatabase();
const statements: string[] = [];
const database = new CheckpointDatabase(db.uri, {
  socket: db.options.host,
  onStatement: (text) => statements.push(text),
});
const official = officialSaver(db.uri);
afterAll(() => Promise.all([database.close(), official.end()]));
beforeEach(() => void (statements.length = 0));

const config = (threadId: string, more: object = {}) => ({
  configurable: { thread_id: threadId, checkpoint_ns: "", ...more },
  durability: "sync" as const,
});

async function startRun(): Promise<{ runId: string; threadId: string }> {
  const [runId, threadId] = [randomUUID(), randomUUID()];
  await db.sql`insert into threads (thread_id) values (${threadId})`;
  await db.sql`
    insert into runs (run_id, thread_id, assistant_id, status, attempt)
    values (${runId}, ${threadId}, ${randomUUID()}, 'running', 1)`;
  return { runId, threadId };
}

async function all(saver: BaseCheckpointSaver, threadId: string): Promise<CheckpointTuple[]> {
  const found: CheckpointTuple[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: threadId } })) found.push(tuple);
  return found;
}

/** Builds a graph with interrupts, sends, subgraphs and messages: everything that a checkpoint can contain. */
function richGraph(checkpointer: BaseCheckpointSaver) {
  const State = Annotation.Root({ ...MessagesAnnotation.spec, seen: Annotation<unknown> });
  const inner = new StateGraph(State)
    .addNode("ask", () => ({ seen: interrupt({ question: "go on?" }) }))
    .addNode("answer", (state) => ({
      messages: [new AIMessage({ id: "a", content: `you said ${String(state.seen)}` })],
    }))
    .addEdge(START, "ask")
    .addEdge("ask", "answer")
    .addEdge("answer", END)
    .compile();
  return new StateGraph(State)
    .addNode("prepare", () => ({ seen: new Map([["k", new Set([1, undefined])]]) }))
    .addNode("inner", inner)
    .addEdge(START, "prepare")
    .addEdge("prepare", "inner")
    .addEdge("inner", END)
    .compile({ checkpointer });
}

const hello = { messages: [new HumanMessage({ id: "h", content: "hello" })] };

describe("the official saver", () => {
  test("reads a thread of Heddle, each checkpoint as Heddle reads it", async () => {
    const threadId = randomUUID();
    const graph = richGraph(new HeddleSaver(database));
    await graph.invoke(hello, config(threadId));
    const theirs = await all(official, threadId);
    expect(theirs.length).toBeGreaterThanOrEqual(5);
    expect(theirs).toEqual(await all(new HeddleSaver(database), threadId));
    expect((await richGraph(official).getState(config(threadId), { subgraphs: true })).tasks).toEqual(
      (await richGraph(new HeddleSaver(database)).getState(config(threadId), { subgraphs: true })).tasks,
    );
  });

  test("continues a thread of Heddle, and Heddle continues it afterwards", async () => {
    const threadId = randomUUID();
    await richGraph(new HeddleSaver(database)).invoke(hello, config(threadId));
    const done = await richGraph(official).invoke(new Command({ resume: "yes" }), config(threadId));
    expect(done.messages.map((m) => m.content)).toEqual(["hello", "you said yes"]);
    const again = { messages: [new HumanMessage({ id: "h2", content: "again" })] };
    await richGraph(new HeddleSaver(database)).invoke(again, config(threadId));
    const ended = await richGraph(new HeddleSaver(database)).invoke(new Command({ resume: "no" }), config(threadId));
    expect(ended.messages.map((m) => m.content)).toEqual(["hello", "you said no", "again"]);
    expect((await richGraph(official).getState(config(threadId))).values).toEqual(ended);
  });

  test("has its threads continued by Heddle", async () => {
    const threadId = randomUUID();
    await richGraph(official).invoke(hello, config(threadId));
    expect(await all(new HeddleSaver(database), threadId)).toEqual(await all(official, threadId));
    const done = await richGraph(new HeddleSaver(database)).invoke(new Command({ resume: "yes" }), config(threadId));
    expect(done.messages.map((m) => m.content)).toEqual(["hello", "you said yes"]);
    const states = [];
    for await (const state of richGraph(official).getStateHistory(config(threadId))) states.push(state);
    expect(states.map((state) => state.metadata?.step)).toEqual([2, 1, 0, -1]);
  });

  test("needs no setup on Heddle's tables", async () => {
    await official.setup();
    expect(await db.sql`select max(v)::int as v from checkpoint_migrations`).toEqual([{ v: 4 }]);
  });
});

/** Creates two branches from the checkpoint before `second`, with different values of the same channel. */
async function fork(saver: () => BaseCheckpointSaver) {
  const threadId = randomUUID();
  let branch = "trunk";
  const graph = () => twoStepGraph(saver(), () => branch);
  await graph().invoke({ last: "go" }, config(threadId));
  let origin: string | undefined;
  for await (const state of graph().getStateHistory(config(threadId))) {
    if (state.next[0] === "second") origin = state.config.configurable?.["checkpoint_id"];
  }
  const ends: Record<string, string[]> = {};
  for (branch of ["left", "right"]) {
    await graph().invoke(null, config(threadId, { checkpoint_id: origin }));
    ends[branch] = (await graph().getState(config(threadId))).values.log;
  }
  return ends;
}

test("branches of one checkpoint keep their own values", async () => {
  expect(await fork(() => new HeddleSaver(database))).toEqual({
    left: ["first trunk", "second left"],
    right: ["first trunk", "second right"],
  });
  const shared = new HeddleSaver(database);
  expect(await fork(() => shared)).toEqual({
    left: ["first trunk", "second left"],
    right: ["first trunk", "second right"],
  });
  // the official saver's result, which is the reason for Heddle's own versions
  expect((await fork(() => official))["right"]).toEqual(["first trunk", "second trunk"]);
});

describe("a run on a fresh thread", () => {
  test("takes one statement from its input to its end, state included", async () => {
    const { runId, threadId } = await startRun();
    const saver = new HeddleSaver(database, {
      fence: { runId, attempt: 1 },
      freshThread: threadId,
      passiveStart: true,
    });
    const graph = echoGraph(saver);
    expect(startsWithoutUserCode(graph)).toBe(true);
    await graph.invoke({ last: "hi" }, config(threadId));
    const state = await graph.getState(config(threadId));
    await saver.flush();
    expect(state.values).toEqual({ last: "hi", log: ["heard hi"] });
    expect(statements.length).toBe(1);
    expect((await all(official, threadId)).map((t) => t.metadata?.step)).toEqual([1, 0, -1]);
  });

  test("reads the same from memory as from the database", async () => {
    const { runId, threadId } = await startRun();
    const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 }, freshThread: threadId });
    const graph = richGraph(saver);
    for (const step of [hello, "resume"] as const) {
      await graph.invoke(step === "resume" ? new Command({ resume: "yes" }) : step, config(threadId));
      statements.length = 0;
      const remembered = await saver.getTuple(config(threadId));
      expect(statements).toEqual([]);
      expect(remembered).toEqual(await new HeddleSaver(database).getTuple(config(threadId)));
    }
  });

  test("returns values that the graph may change without changing what is stored", async () => {
    const { runId, threadId } = await startRun();
    const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 }, freshThread: threadId });
    await echoGraph(saver).invoke({ last: "hi" }, config(threadId));
    const first = await saver.getTuple(config(threadId));
    (first!.checkpoint.channel_values["log"] as string[]).push("mine");
    first!.checkpoint.channel_versions["log"] = 99;
    expect((await saver.getTuple(config(threadId)))?.checkpoint.channel_values["log"]).toEqual(["heard hi"]);
    expect((await saver.getTuple(config(threadId)))?.checkpoint.channel_versions["log"]).not.toBe(99);
  });
});

test("stores bytes as they were at the put, and returns a copy to each reader", async () => {
  const threadId = randomUUID();
  const saver = new HeddleSaver(database);
  const bytes = new Uint8Array([1, 2, 3]);
  const checkpoint = { ...emptyCheckpoint(), channel_values: { bytes }, channel_versions: { bytes: 1 } };
  const putting = saver.put(config(threadId), checkpoint, { source: "loop", step: 1, parents: {} }, { bytes: 1 });
  bytes[0] = 9;
  await putting;
  for (const reader of [saver, new HeddleSaver(database), saver]) {
    const read = (await reader.get(config(threadId)))?.channel_values["bytes"] as Uint8Array;
    expect([...read]).toEqual([1, 2, 3]);
    read[1] = 9;
  }
});

test("a thread that a Python graph has written is rejected by name", async () => {
  const threadId = randomUUID();
  const checkpoint = { ...emptyCheckpoint(), channel_values: { n: { deep: 1 } }, channel_versions: { n: 1 } };
  await new HeddleSaver(database).put(config(threadId), checkpoint, { source: "loop", step: 1, parents: {} }, { n: 1 });
  await db.sql`update checkpoint_blobs set type = 'msgpack' where thread_id = ${threadId}`;
  await expect(new HeddleSaver(database).get(config(threadId))).rejects.toThrow(
    `Thread ${threadId} was written by a Python graph, and a JavaScript graph cannot continue it. Use a new thread.`,
  );
});

test("a second run reads its thread once, and its final state from memory", async () => {
  const { runId, threadId } = await startRun();
  await echoGraph(new HeddleSaver(database)).invoke({ last: "one" }, config(threadId));
  statements.length = 0;
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 }, passiveStart: true });
  const graph = echoGraph(saver);
  await graph.invoke({ last: "two" }, config(threadId));
  const state = await graph.getState(config(threadId));
  await saver.flush();
  expect(state.values.log).toEqual(["heard one", "heard two"]);
  expect(statements.length).toBe(2);
});

test("everything finished before a node begins is committed", async () => {
  const { runId, threadId } = await startRun();
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 }, freshThread: threadId, passiveStart: true });
  const seen: Record<string, unknown> = {};
  const graph = twoStepGraph(saver, async (node) => {
    const [row] = await db.sql`
      select max((metadata ->> 'step')::int) as step, (select count(*)::int from checkpoint_writes where thread_id = ${threadId}) as writes
      from checkpoints where thread_id = ${threadId}`;
    seen[node] = row;
    return node;
  });
  await graph.invoke({ last: "go" }, config(threadId));
  expect(seen["second"]).toMatchObject({ step: 1 });
  expect((seen["second"] as { writes: number }).writes).toBeGreaterThanOrEqual(2);
});

test("commits the step before the first node when a router on the entry runs user code", async () => {
  const { runId, threadId } = await startRun();
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 }, freshThread: threadId });
  const State = Annotation.Root({ last: Annotation<string> });
  let steps: unknown;
  const graph = new StateGraph(State)
    .addNode("a", async () => {
      steps =
        await db.sql`select metadata ->> 'step' as step from checkpoints where thread_id = ${threadId} order by 1`;
      return { last: "a" };
    })
    .addConditionalEdges(START, () => "a")
    .addEdge("a", END)
    .compile({ checkpointer: saver });
  expect(startsWithoutUserCode(graph)).toBe(false);
  await graph.invoke({ last: "go" }, config(threadId));
  expect(steps).toEqual([{ step: "-1" }, { step: "0" }]);
});

test("flush commits a stop before the first node", async () => {
  const { runId, threadId } = await startRun();
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 }, freshThread: threadId, passiveStart: true });
  await echoGraph(saver).invoke({ last: "go" }, { ...config(threadId), interruptBefore: ["echo"] });
  await saver.flush();
  const state = await echoGraph(new HeddleSaver(database)).getState(config(threadId));
  expect(state.next).toEqual(["echo"]);
});

test("checkpoints of graphs and subgraphs contain the run's metadata and their own", async () => {
  const { runId, threadId } = await startRun();
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 } });
  await richGraph(saver).invoke(hello, {
    ...config(threadId, { graph_id: "rich", user_id: "u1", __secret: 1 }),
    metadata: { owner: "me", step: "not this", run_id: "nor this", source: "nor that" },
  });
  const rows = await db.sql<{ checkpoint_ns: string; metadata: Record<string, unknown> }[]>`
    select checkpoint_ns, metadata from checkpoints where thread_id = ${threadId} order by checkpoint_id`;
  expect(rows.some((row) => row.checkpoint_ns.startsWith("inner:"))).toBe(true);
  for (const { metadata } of rows) {
    expect(metadata).toMatchObject({
      owner: "me",
      run_id: runId,
      thread_id: threadId,
      graph_id: "rich",
      user_id: "u1",
    });
    expect(["input", "loop"]).toContain(metadata["source"]);
    expect(metadata["step"]).toBeTypeOf("number");
    expect(Object.keys(metadata).filter((key) => key.startsWith("__") || key.startsWith("langgraph_"))).toEqual([]);
    expect(Object.keys(metadata)).not.toContain("checkpoint_ns");
  }
});

test("a rolled back run leaves nothing, and the next run starts from the previous state", async () => {
  const { runId, threadId } = await startRun();
  await echoGraph(new HeddleSaver(database)).invoke({ last: "one" }, config(threadId));
  const before = await all(official, threadId);
  await echoGraph(new HeddleSaver(database, { fence: { runId, attempt: 1 } })).invoke(
    { last: "two" },
    config(threadId),
  );
  await db.sql`select delete_run_checkpoints(${threadId}, ${runId})`;
  expect(await all(official, threadId)).toEqual(before);
  const state = await echoGraph(new HeddleSaver(database)).invoke({ last: "three" }, config(threadId));
  expect(state.log).toEqual(["heard one", "heard three"]);
});

test("states updated manually, in several supersteps, read as with the official saver", async () => {
  const states = [];
  for (const saver of [new HeddleSaver(database), official]) {
    const graph = twoStepGraph(saver, (node) => node);
    const threadId = randomUUID();
    await graph.bulkUpdateState(config(threadId), [
      { updates: [{ values: { last: "in" }, asNode: "__input__" }] },
      { updates: [{ values: { log: ["by hand"] }, asNode: "first" }] },
    ]);
    await graph.updateState(config(threadId), { log: ["again"] }, "second");
    const { values, next, metadata } = await graph.getState(config(threadId));
    states.push({
      values,
      next,
      metadata: { ...metadata, thread_id: (metadata as { thread_id?: string })["thread_id"] === threadId },
    });
  }
  expect(states[0]).toEqual(states[1]);
  expect(states[0]?.metadata).toMatchObject({ source: "update", thread_id: true });
});
