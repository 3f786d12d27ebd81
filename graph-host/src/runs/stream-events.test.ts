import { afterAll, beforeAll, expect, test } from "vitest";
import { HostProcess } from "../../test/host-process.ts";

let host: HostProcess;
beforeAll(async () => {
  host = await HostProcess.start("agents", {
    echo: "./echo.ts:graph",
    chat: "./chat.ts:graph",
    nostream: "./chat.ts:nostream",
    tools: "./chat.ts:tools",
    ask: "./human.ts:ask",
    steps: "./human.ts:steps",
    nested: "./human.ts:nested",
    trouble: "./trouble.ts:trouble",
  });
});
afterAll(() => host.stop());

const hello = { messages: [{ role: "user", content: "hi", id: "human-1" }] };

test("values: the state after the input and after each step, messages flattened", async () => {
  const run = await host.run("echo", { input: hello, stream_mode: ["values"] });
  expect(run.names()).toEqual(["values", "values"]);
  const human = { type: "human", content: "hi", id: "human-1", additional_kwargs: {}, response_metadata: {} };
  expect(run.data("values")[0]).toEqual({ messages: [human] });
  expect(run.data("values")[1]).toMatchObject({ messages: [human, { type: "ai", content: "echo: hi" }] });
});

test("updates: one event per finished task", async () => {
  const run = await host.run("steps", { input: { log: [] }, stream_mode: ["updates"] });
  expect(run.data("updates")).toEqual([
    { one: { log: ["one"] } },
    { two: { log: ["two"] } },
    { three: { log: ["three"] } },
  ]);
});

test("messages: metadata once, the partial message at each token, each complete message of the state once", async () => {
  const run = await host.run("chat", { input: hello, stream_mode: ["messages"] });
  expect(run.names()).toEqual([
    "messages/complete",
    "messages/metadata",
    ...Array.from("Hello", () => "messages/partial"),
    "messages/complete",
  ]);
  const partials = run.data("messages/partial").map(([message]) => message);
  expect(partials.map(({ content }) => content)).toEqual(["H", "He", "Hel", "Hell", "Hello"]);
  const [{ id }] = partials;
  expect(partials.every((message) => message.id === id && message.type === "ai")).toBe(true);
  expect(run.data("messages/metadata")[0][id].metadata).toMatchObject({
    langgraph_node: "model",
    langgraph_step: 1,
    thread_id: run.threadId,
    run_id: run.runId,
    graph_id: "chat",
    assistant_id: "a",
    run_attempt: 1,
  });
  expect(run.data("messages/complete")).toMatchObject([[{ id: "human-1" }], [{ id, content: "Hello" }]]);
});

test("messages-tuple: chunks as they arrive, with flat metadata, under the name messages", async () => {
  const run = await host.run("chat", { input: hello, stream_mode: ["messages-tuple"] });
  expect(new Set(run.names())).toEqual(new Set(["messages"]));
  expect(run.data("messages").map(([{ content }]) => content)).toEqual(Array.from("Hello"));
  expect(run.data("messages")[0][1]).toMatchObject({ langgraph_node: "model", run_id: run.runId });
});

test("a model tagged nostream sends no tokens", async () => {
  const run = await host.run("nostream", { input: hello, stream_mode: ["messages"] });
  expect(new Set(run.names())).toEqual(new Set(["messages/complete"]));
});

test("a tool's message arrives as one tuple, and its lifecycle as tools events", async () => {
  const run = await host.run("tools", { input: hello, stream_mode: ["messages-tuple", "tools"] });
  const messages = run.data("messages").map(([message]) => message);
  expect(messages.at(-1)).toMatchObject({ type: "tool", content: "3", tool_call_id: "call-1" });
  expect(run.data("tools").map(({ event, name }) => [event, name])).toEqual([
    ["on_tool_start", "add"],
    ["on_tool_end", "add"],
  ]);
  expect(run.data("tools")[0].toolCallId).toBe("call-1");
});

test("events: LangGraph's events without the graph's own chunks, beside other modes", async () => {
  const run = await host.run("chat", { input: hello, stream_mode: ["events", "updates"] });
  const events = new Set(run.data("events").map(({ event }) => event));
  expect(events).toEqual(
    new Set("on_chain_start on_chain_end on_chat_model_start on_chat_model_stream on_chat_model_end".split(" ")),
  );
  expect(run.data("events").filter((event) => event.event === "on_chain_stream" && event.run_id === run.runId)).toEqual(
    [],
  );
  expect(run.data("events")[0]).toMatchObject({ event: "on_chain_start", run_id: run.runId });
  expect(run.data("events").find(({ event }) => event === "on_chat_model_stream").data.chunk).toMatchObject({
    type: "ai",
  });
  expect(run.data("updates")).toMatchObject([{ model: { messages: [{ content: "Hello" }] } }]);
});

test("tasks: each task's start and end", async () => {
  const run = await host.run("echo", { input: hello, stream_mode: ["tasks"] });
  expect(run.data("tasks")).toMatchObject([
    { name: "echo", input: { messages: [{ type: "human" }] }, triggers: ["branch:to:echo"], interrupts: [] },
    { name: "echo", result: { messages: [{ content: "echo: hi" }] }, interrupts: [] },
  ]);
});

test("checkpoints: values, metadata and next nodes", async () => {
  const run = await host.run("steps", { input: { log: [] }, stream_mode: ["checkpoints"] });
  expect(run.data("checkpoints").map(({ next }) => next)).toEqual([["__start__"], ["one"], ["two"], ["three"], []]);
  expect(run.data("checkpoints").at(-1)).toEqual({
    values: { log: ["one", "two", "three"] },
    metadata: { source: "loop", step: 3, parents: {} },
    next: [],
  });
});

test("debug: checkpoints, tasks and results, without internal fields", async () => {
  const run = await host.run("echo", { input: hello, stream_mode: ["debug"] });
  expect(run.data("debug").map(({ type, step }) => [type, step])).toEqual([
    ["checkpoint", -1],
    ["checkpoint", 0],
    ["task", 1],
    ["task_result", 1],
    ["checkpoint", 1],
  ]);
  const last = run.data("debug").at(-1).payload;
  expect(Object.keys(last).toSorted()).toEqual([
    "checkpoint",
    "config",
    "metadata",
    "next",
    "parent_checkpoint",
    "parent_config",
    "tasks",
    "values",
  ]);
  expect(last.checkpoint).toMatchObject({ thread_id: run.threadId, checkpoint_ns: "", checkpoint_map: null });
  expect(Object.keys(last.config.configurable).filter((key) => key.startsWith("__"))).toEqual([]);
  expect(last.config).not.toHaveProperty("callbacks");
});

test("an interrupt is the last values event and a separate update", async () => {
  const run = await host.run("ask", { input: { log: [] }, stream_mode: ["values", "updates"] });
  const id = expect.stringMatching(/^[0-9a-f]{32}$/);
  const interrupts = { __interrupt__: [{ id, value: { question: "go on?" } }] };
  expect(run.data("values").at(-1)).toEqual(interrupts);
  expect(run.data("updates").at(-1)).toEqual(interrupts);
});

test("a breakpoint is an interrupt without a value", async () => {
  const run = await host.run("steps", { input: { log: [] }, interrupt_before: ["two"] });
  expect(run.data("values").at(-1)).toEqual({ __interrupt__: [] });
});

test("names subgraphs by namespace on request, and omits them otherwise", async () => {
  const modes = { input: { log: [] }, stream_mode: ["updates", "custom"] };
  const all = await host.run("nested", { ...modes, subgraphs: true });
  const names = all.names().map((name) => name.replace(/[0-9a-f-]{36}/g, "*"));
  expect(names).toContain("updates|outer:*|inner:*");
  expect(names).toContain("updates|outer:*");
  expect(names.filter((name) => name.startsWith("custom"))).toEqual(["custom|outer:*|inner:*"]);
  const root = await host.run("nested", modes);
  expect(root.names().filter((name) => name.includes("|"))).toEqual([]);
});

test("messages of a root node carry no namespace with subgraphs either", async () => {
  const run = await host.run("chat", { input: hello, stream_mode: ["messages-tuple", "values"], subgraphs: true });
  expect(new Set(run.names())).toEqual(new Set(["values", "messages"]));
});

test("a text that contains __interrupt__ causes no interrupt", async () => {
  const run = await host.run("trouble", { input: { do: "say interrupt" } });
  expect(run.data("values").at(-1).value).toBe('a text with "__interrupt__" in it');
  expect(run.result).toMatchObject({ next: [], interrupts: {} });
});

test("replaces null bytes and lone surrogates with U+FFFD in events and results", async () => {
  const run = await host.run("trouble", { input: { do: "unstorable text" } });
  expect(run.data("values").at(-1).value).toBe("a\uFFFDb\uFFFDc \\u0000");
  expect(run.result.values.value).toBe("a\uFFFDb\uFFFDc \\u0000");
});
