/** Compares the traces of runs with those that LangChain's own tracer and LangSmith's own client make of the same runs. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import {
  FakeListChatModel,
  FakeRetriever,
  FakeStreamingChatModel,
  FakeStreamingLLM,
} from "@langchain/core/utils/testing";
import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { Annotation, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { Client } from "langsmith";
import { getCurrentRunTree, traceable } from "langsmith/traceable";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";

import type { RunKwargs, RunStart } from "../../../host-kit/src/host-protocol.ts";
import { RunTracing } from "./run-tracing.ts";

type Doc = Record<string, unknown> & { id: string; dotted_order: string; start_time: string; end_time?: string };
type Piece = Record<string, unknown> & { id: string };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Merges pieces to runs as the platform does: creates first, an absent field changes nothing. */
class Received {
  readonly runs = new Map<string, Piece>();

  add(body: string): void {
    const { post, patch } = JSON.parse(body) as Record<"post" | "patch", Piece[]>;
    for (const piece of [...post, ...patch]) {
      const known = this.runs.get(piece.id) ?? {};
      const given = Object.entries(piece).filter(([key, value]) => key !== "child_runs" && value !== null);
      this.runs.set(piece.id, { ...known, ...Object.fromEntries(given) } as Piece);
    }
  }

  docs(): Doc[] {
    return ([...this.runs.values()] as Doc[]).toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
  }
}

type Invoke = (config: { callbacks: LangChainTracer[]; runId: string } & Record<string, unknown>) => Promise<unknown>;

async function theirs(invoke: Invoke): Promise<Doc[]> {
  const received = new Received();
  const client = new Client({
    apiUrl: "http://nowhere.invalid",
    apiKey: "none",
    tracingMode: "langsmith",
    fetchImplementation: (async (url: string, init?: { body?: Uint8Array }) => {
      if (url.endsWith("/info")) return Response.json({ batch_ingest_config: { use_multipart_endpoint: false } });
      received.add(Buffer.from(init!.body!).toString());
      return new Response("{}", { status: 202 });
    }) as typeof fetch,
  });
  const runId = crypto.randomUUID();
  await invoke({ callbacks: [new LangChainTracer({ client, metadata: { run_id: runId } })], runId }).catch(() => {});
  const { consumeCallback } = await import("@langchain/core/callbacks/promises");
  // handlers may enqueue further ones
  for (let n = 0; n < 3; n++) {
    await new Promise<void>((done) => void consumeCallback(() => Promise.resolve(done()), false));
    await new Promise(setImmediate);
  }
  await client.flush();
  await client.awaitPendingTraceBatches();
  return received.docs();
}

/** @param pieces flushes while the runs are in progress, so that their starts and ends are sent separately */
async function ours(invoke: Invoke, pieces = false): Promise<Doc[]> {
  const received = new Received();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.add(body);
      response.writeHead(202).end("{}");
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const tracing = new RunTracing();
  tracing.direct({ state: "on", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: null });
  const runId = crypto.randomUUID();
  const trace = tracing.start({ run_id: runId, attempt: 1 } as RunStart, { config: {} } as RunKwargs)!;
  const flushing = pieces ? setInterval(() => void tracing.flush(1000), 1) : undefined;
  await invoke({ callbacks: trace.callbacks, runId }).catch(() => {});
  clearInterval(flushing);
  trace.ended();
  await new Promise(setImmediate);
  expect(await tracing.flush(5000)).toBe(true);
  return received.docs();
}

const UUID = /[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}/g;
const TIME = /\d{4}-?\d\d-?\d\dT\d\d:?\d\d:?\d\d\.?\d{3}(?:\d{3})?Z/g;

/** Replaces ids by their order and times by a mark. */
function normalized(docs: Doc[]): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(
    docs.map((doc) => ({ ...doc, end_time: doc.end_time === undefined ? "none" : "T" })),
    (_key, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
  );
  const named = text.replaceAll(UUID, (id) => {
    if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
    return ids.get(id)!;
  });
  // stacks contain positions in this file, the runtime of LangGraph times in milliseconds
  return JSON.parse(
    named
      .replaceAll(TIME, "T")
      .replaceAll(/\\n\\n(?:[^"\\]|\\.)*/g, "")
      .replaceAll(/\b\d{13}\b/g, "0"),
  );
}

const micros = (time: string | number): number =>
  typeof time === "number" ? time * 1000 : Date.parse(`${time.slice(0, 23)}Z`) * 1000 + Number(time.slice(23, -1) || 0);

function expectExactTimes(docs: Doc[]): void {
  const byId = new Map(docs.map((doc) => [doc.id, doc]));
  for (const doc of docs) {
    expect(micros(doc.end_time ?? doc.start_time)).toBeGreaterThanOrEqual(micros(doc.start_time));
    const parent = byId.get(doc["parent_run_id"] as string);
    if (!parent) continue;
    expect(micros(doc.start_time)).toBeGreaterThan(micros(parent.start_time));
    expect(doc.dotted_order.startsWith(`${parent.dotted_order}.`)).toBe(true);
  }
  expect(new Set(docs.map(({ start_time }) => start_time)).size).toBe(docs.length);
}

async function expectSame(invoke: Invoke, count: number): Promise<Doc[]> {
  const expected = await theirs(invoke);
  const complete = await ours(invoke);
  expect(expected.map(({ name }) => name)).toHaveLength(count);
  expect(normalized(complete)).toEqual(normalized(expected));
  expectExactTimes(complete);
  const inPieces = await ours(invoke, true);
  expect(normalized(inPieces)).toEqual(normalized(expected));
  return complete;
}

const State = Annotation.Root({ value: Annotation<unknown>(), other: Annotation<unknown>() });

test("a graph with a subgraph, tags and metadata", async () => {
  const inner = new StateGraph(State)
    .addNode("leaf", async () => ({ other: await Promise.resolve({ deep: [1, null, "text"] }) }))
    .addEdge("__start__", "leaf")
    .compile({ name: "inner" });
  const graph = new StateGraph(State)
    .addNode("first", ({ value }) => ({ value: `${value as string}!` }))
    .addNode("second", inner)
    .addEdge("__start__", "first")
    .addConditionalEdges("first", () => "second", ["second"])
    .compile();
  const config = {
    tags: ["a", "b"],
    metadata: { team: "x" },
    configurable: { thread_id: "t", number: 5 },
    runName: "R",
  };
  const docs = await expectSame((given) => graph.invoke({ value: "in" }, { ...given, ...config }), 8);
  expect(docs[0]).toMatchObject({ name: "R", tags: ["a", "b"] });
});

test("chat models with usage, a streamed model, a completion model, a tool and a retriever", async () => {
  const usage_metadata = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  const chunks = ["a", "b", "c"].map((content) => new AIMessageChunk({ content, usage_metadata, id: "message-1" }));
  const streaming = new FakeStreamingChatModel({ sleep: 0, chunks });
  const answer = new AIMessage({ content: "one", usage_metadata, id: "message-3" });
  class Whole extends BaseChatModel {
    override _llmType() {
      return "whole";
    }
    override _generate() {
      return Promise.resolve({ generations: [{ text: "one", message: answer }] });
    }
  }
  const whole = new Whole({});
  const add = tool(({ a }) => a + 1, { name: "add", schema: z.object({ a: z.number() }), metadata: { kind: "sum" } });
  const retriever = new FakeRetriever();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => {
      for await (const _ of await streaming.stream(messages)) void _;
      const sum = await add.invoke({ type: "tool_call", id: "call-1", name: "add", args: { a: 1 } });
      await retriever.invoke("query");
      await new FakeStreamingLLM({ responses: ["text"] }).invoke("prompt");
      await whole.withConfig({ tags: ["named"], runName: "whole" }).invoke(messages);
      return { messages: [new AIMessage({ content: String(sum.content), id: "message-2" })] };
    })
    .addEdge("__start__", "model")
    .compile();
  const invoke: Invoke = (given) => graph.invoke({ messages: [new HumanMessage({ content: "hi", id: "m" })] }, given);
  const docs = await expectSame(invoke, 8);
  const named = (name: string) => docs.find((doc) => doc["name"] === name)!;
  expect((named("FakeStreamingChatModel")["events"] as { name: string }[])[1]).toMatchObject({ name: "new_token" });
  expect(named("whole")).toMatchObject({ tags: ["named"], extra: { metadata: { usage_metadata } } });
});

test("errors of nodes and tools, and interrupts", async () => {
  const failing = tool(() => Promise.reject(new TypeError("broken")), { name: "failing", schema: z.object({}) });
  const graph = new StateGraph(State)
    .addNode("node", async () => {
      await failing.invoke({});
      return {};
    })
    .addEdge("__start__", "node")
    .compile();
  const [root] = await expectSame((given) => graph.invoke({ value: 1 }, given), 4);
  expect(root!["error"]).toMatch(/^broken\n\nTypeError: broken/);
  const asking = new StateGraph(State)
    .addNode("ask", () => ({ value: interrupt("sure?") as unknown }))
    .addEdge("__start__", "ask")
    .compile({ checkpointer: new MemorySaver() });
  const ask: Invoke = (given) =>
    asking.invoke({ value: 1 }, { ...given, configurable: { thread_id: crypto.randomUUID() } });
  await expectSame(ask, 3);
});

test("a streamed lambda, whose input is known at its end", async () => {
  const upper = RunnableLambda.from((text: string) => text.toUpperCase());
  const chain = RunnableLambda.from((text: string) => `${text}?`).pipe(upper);
  const stream: Invoke = async (given) => {
    for await (const _ of await chain.stream("in", given)) void _;
  };
  const docs = await expectSame(stream, 3);
  expect(docs[2]).toMatchObject({ inputs: { input: "in?" }, outputs: { output: "IN?" } });
});

test("runs of `traceable` inside a node, and LangChain's runs inside them", async () => {
  const model = new FakeListChatModel({ responses: ["one"] });
  const leaf = traceable((text: string) => text.length, { name: "leaf", run_type: "tool", tags: ["t"] });
  const outer = traceable(
    async (text: string) => {
      getCurrentRunTree().addEvent({ name: "mark", time: "2020-01-01T00:00:00.000Z" });
      await model.invoke(text);
      return { length: await leaf(text) };
    },
    { name: "outer", metadata: { own: true } },
  );
  const failing = traceable(() => Promise.reject(new Error("no")), { name: "failing" });
  const stream = traceable(
    async function* numbers() {
      yield await Promise.resolve(1);
      yield 2;
    },
    { name: "numbers" },
  );
  const graph = new StateGraph(State)
    .addNode("node", async ({ value }) => {
      await failing().catch(() => {});
      for await (const _ of stream()) void _;
      return { other: await outer(value as string) };
    })
    .addEdge("__start__", "node")
    .compile();
  const docs = await expectSame((given) => graph.invoke({ value: "text" }, given), 8);
  expect(docs.find(({ name }) => name === "leaf")).toMatchObject({ outputs: { outputs: 4 }, tags: ["t"] });
  expect(new Set(docs.map(({ trace_id }) => trace_id)).size).toBe(1);
});

test("a node adds metadata, tags and events to its run", async () => {
  const lambda = RunnableLambda.from(() => {
    const run = getCurrentRunTree();
    run.metadata = { noted: 1 };
    run.tags = ["tagged"];
    run.addEvent("happened");
    return 1;
  });
  for (const inPieces of [false, true]) {
    const [run] = await ours((given) => lambda.invoke("in", given), inPieces);
    expect(run).toMatchObject({ tags: ["tagged"], extra: { metadata: { noted: 1 } } });
    expect(run!["events"]).toMatchObject([{ name: "start" }, { name: "event", message: "happened" }, { name: "end" }]);
  }
});

test("values that JSON does not know", async () => {
  const circular: Record<string, unknown> = { a: 1 };
  circular["self"] = circular;
  const values = {
    map: new Map([["k", new Set([1, 2])]]),
    date: new Date(0),
    big: 12n,
    pattern: /x/g,
    error: new RangeError("inner"),
    absent: undefined,
    bytes: new Uint8Array([1, 2]),
    deep: { messages: [new AIMessage({ content: "x", id: "m", additional_kwargs: { when: new Date(0) } })] },
  };
  const lambda = RunnableLambda.from(() => values);
  await expectSame((given) => lambda.invoke(values, given), 1);
  const [run] = await ours((given) => RunnableLambda.from(() => circular).invoke({ circular }, given));
  expect(run!["outputs"]).toEqual({ a: 1, self: { result: "[Circular]" } });
  const bad = {
    toJSON: () => {
      throw new Error("never");
    },
  };
  const [unserializable] = await ours((given) => RunnableLambda.from(() => ({ fine: 1 })).invoke({ bad }, given));
  expect(unserializable).toMatchObject({ inputs: { error: "[Unserializable]" }, outputs: { fine: 1 } });
});
