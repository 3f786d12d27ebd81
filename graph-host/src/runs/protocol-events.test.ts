import { afterAll, beforeAll, expect, test } from "vitest";
import { HostProcess } from "../../test/host-process.ts";

let host: HostProcess;
beforeAll(async () => {
  host = await HostProcess.start("agents", {
    chat: "./chat.ts:graph",
    tools: "./chat.ts:tools",
    ask: "./human.ts:ask",
    nested: "./human.ts:nested",
    trouble: "./trouble.ts:trouble",
  });
});
afterAll(() => host.stop());

const hello = { messages: [{ role: "user", content: "hi", id: "human-1" }] };

/** Returns channel, namespace and data of a run's events; segments of namespaces without their task. */
async function events(graphId: string, input: unknown = hello) {
  const run = await host.run(graphId, { input, protocol: "v2" });
  return run.events.map(({ event, data }) => {
    if (event === "error") return { channel: event, namespace: [] as string[], data, params: data };
    const [channel, ...namespace] = JSON.parse(event.slice("protocol:".length)) as [string, ...string[]];
    expect(data.namespace).toEqual(namespace);
    expect(Math.abs(Date.now() - data.timestamp)).toBeLessThan(60_000);
    return { channel, namespace: namespace.map((segment) => segment.split(":")[0]!), data: data.data, params: data };
  });
}

test("emits a model's message block by block, with the node that sent it", async () => {
  const all = await events("chat");
  expect(all[0]).toMatchObject({ channel: "lifecycle", namespace: [], data: { event: "running", graph_name: "chat" } });
  const spoken = all.filter(({ channel }) => channel === "messages");
  expect(spoken.map(({ data }) => data.event)).toEqual([
    "message-start",
    "content-block-start",
    ...Array.from("Hello", () => "content-block-delta"),
    "content-block-finish",
    "message-finish",
  ]);
  expect(spoken.every(({ namespace, params }) => namespace.join() === "model" && params.node === "model")).toBe(true);
  expect(spoken.at(-2)!.data.content).toEqual({ type: "text", text: "Hello" });
  expect(all.filter(({ channel, namespace }) => channel === "lifecycle" && namespace.length === 1)).toMatchObject([
    { data: { event: "started", graph_name: "model" } },
    { data: { event: "completed", graph_name: "model" } },
  ]);
});

test("emits compact messages in states, each state after its checkpoint", async () => {
  const all = await events("chat");
  const values = all.filter(({ channel }) => channel === "values");
  expect(values[0]!.data).toEqual({ messages: [{ type: "human", content: "hi", id: "human-1" }] });
  for (const state of values) expect(all[all.indexOf(state) - 1]!.channel).toBe("checkpoints");
  expect(all.find(({ channel }) => channel === "checkpoints")!.data).toMatchObject({ step: 0, source: "loop" });
  const update = all.find(({ channel }) => channel === "updates")!;
  expect(update.params.node).toBe("model");
  expect(update.data.messages).toMatchObject([{ type: "ai", content: [{ type: "text", text: "Hello" }] }]);
  expect(update.data.messages[0]).not.toHaveProperty("additional_kwargs");
});

test("emits tool events by call id, and a provider's tool calls in the standard form", async () => {
  const all = await events("tools");
  expect(all.filter(({ channel }) => channel === "tools").map(({ data }) => data)).toMatchObject([
    { event: "tool-started", tool_call_id: "call-1", tool_name: "add" },
    { event: "tool-finished", tool_call_id: "call-1", output: { type: "tool", content: "3" } },
  ]);
  const state = all.findLast(({ channel }) => channel === "values")!.data;
  expect(state.messages[1].tool_calls).toEqual([
    { id: "call-1", name: "add", args: { a: 1, b: 2 }, type: "tool_call" },
  ]);
});

test("emits an interrupt once, and not as part of the state", async () => {
  const all = await events("ask", { log: [] });
  expect(all.filter(({ channel }) => channel === "input").map(({ data }) => data)).toEqual([
    { interrupt_id: expect.any(String), payload: { question: "go on?" } },
  ]);
  expect(JSON.stringify(all)).not.toContain("__interrupt__");
});

test("emits the start, the end and the interrupts of subgraphs under their namespaces", async () => {
  const all = await events("nested", { log: [] });
  const deep = all.filter(({ namespace }) => namespace.join("/") === "outer/inner");
  expect(deep.map(({ channel }) => channel)).toEqual(expect.arrayContaining(["values", "updates", "tasks", "custom"]));
  expect(deep.find(({ channel }) => channel === "custom")!.data).toEqual({ payload: { from: "leaf" } });
  expect(deep.filter(({ channel }) => channel === "lifecycle").map(({ data }) => data.event)).toEqual([
    "started",
    "completed",
  ]);
  expect(all.find(({ channel }) => channel === "input")!.namespace).toEqual(["outer"]);
});

test("a graph that throws fails its run, and the host continues", async () => {
  const all = await events("trouble", {});
  expect(all.at(-1)).toMatchObject({ channel: "error", data: { error: "TypeError" } });
  expect((await events("chat")).at(-1)!.channel).toBe("values");
});

test("emits an interrupt of an earlier attempt again for waiting readers", async () => {
  const first = await host.run("ask", { input: { log: [] }, protocol: "v2" });
  const options = { threadId: first.threadId, runId: first.runId, attempt: 2, freshThread: false };
  const again = await host.run("ask", { input: { log: [] }, protocol: "v2" }, options);
  expect(again.events.map(({ event }) => event)).toContain('protocol:["input"]');
});
