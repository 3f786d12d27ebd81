import { describe, expect, test } from "vitest";
import { type Client, sdks } from "./clients.ts";
import { has } from "./features.ts";
import { collect, eventData } from "./frames.ts";

const weather = { messages: [{ role: "user", content: "weather in Rome" }] };
const hello = { messages: [{ role: "user", content: "hello there" }] };

describe.each(sdks)("streaming over SDK $sdk", ({ client }) => {
  const streamed = async (graph: string, payload: Parameters<Client["runs"]["stream"]>[2]) => {
    const { thread_id } = await client.threads.create();
    return collect(client.runs.stream(thread_id, graph, payload));
  };

  test("the first frame carries the run's id", async () => {
    const { thread_id } = await client.threads.create();
    let created: { run_id: string; thread_id?: string } | undefined;
    const frames = await collect(
      client.runs.stream(thread_id, "counter", { input: {}, onRunCreated: (run) => (created = run) }),
    );
    expect(frames[0]).toMatchObject({ event: "metadata", data: { run_id: created!.run_id, attempt: 1 } });
    expect(created).toMatchObject({ thread_id });
    expect(eventData(frames, "metadata")).toHaveLength(1);
    expect((await client.runs.get(thread_id, created!.run_id)).status).toBe("success");
  });

  test("values is the default mode and contains the state after each step", async () => {
    const frames = await streamed("counter", { input: { add: 1 } });
    expect([...new Set(frames.map((frame) => frame.event))]).toEqual(["metadata", "values"]);
    expect(eventData(frames, "values").map((values) => values.total)).toEqual([0, 1, 2]);
  });

  test("updates contains the output of each node", async () => {
    const frames = await streamed("counter", { input: { add: 1 }, streamMode: "updates" });
    expect(eventData(frames, "updates")).toEqual([
      { increment: { total: 1, trail: ["+1"] } },
      { double: { total: 1, trail: ["*2"] } },
    ]);
    expect(eventData(frames, "values")).toEqual([]);
  });

  test("messages contains each message as it grows, then complete", async () => {
    const frames = await streamed("agent", { input: hello, streamMode: "messages" });
    const kinds = new Set(frames.map((frame) => frame.event));
    expect([...kinds].sort()).toEqual(["messages/complete", "messages/metadata", "messages/partial", "metadata"]);
    const partials = eventData(frames, "messages/partial").map(([message]) => message);
    expect(partials.map((message) => message.content)).toEqual([
      "You ",
      "You said: ",
      "You said: hello ",
      "You said: hello there",
    ]);
    const [id, ...others] = new Set(partials.map((message) => message.id));
    expect(others).toEqual([]);
    expect(partials.every((message) => message.type === "ai")).toBe(true);
    expect(eventData(frames, "messages/metadata")).toMatchObject([
      { [id]: { metadata: { langgraph_node: "model", langgraph_step: 1, graph_id: "agent" } } },
    ]);
    const complete = eventData(frames, "messages/complete").flat();
    expect(complete).toMatchObject([
      { type: "human", content: "hello there" },
      { type: "ai", content: "You said: hello there", id },
    ]);
  });

  test("messages contains tool calls as they grow, and the tool's result", async () => {
    const frames = await streamed("agent", { input: weather, streamMode: "messages" });
    const calls = eventData(frames, "messages/partial").map(([message]) => message.tool_calls?.[0]);
    expect(calls.filter(Boolean).at(-1)).toMatchObject({ name: "get_weather", args: { city: "Rome" } });
    const complete = eventData(frames, "messages/complete").flat();
    expect(complete.map((message) => message.type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(complete[2]).toMatchObject({ content: "sunny in Rome", tool_call_id: complete[1].tool_calls[0].id });
    expect(complete.at(-1).content).toBe("The tool says: sunny in Rome");
  });

  test("messages-tuple contains each token with its origin", async () => {
    const frames = await streamed("agent", { input: weather, streamMode: "messages-tuple" });
    const tuples = eventData(frames, "messages");
    const modelMessages = tuples.filter(([, meta]) => meta.langgraph_node === "model").map(([message]) => message);
    expect(modelMessages.map((message) => message.content).join("")).toBe("The tool says: sunny in Rome");
    const args = modelMessages.flatMap((message) => message.tool_call_chunks ?? []).map((chunk) => chunk.args);
    expect(args.join("")).toBe('{"city":"Rome"}');
    const tool = tuples.filter(([, meta]) => meta.langgraph_node === "tools");
    expect(tool).toMatchObject([[{ type: "tool", content: "sunny in Rome" }, { graph_id: "agent" }]]);
  });

  test("events contains LangChain's events of models and chains", async () => {
    const frames = await streamed("agent", { input: hello, streamMode: "events" });
    const events = eventData(frames, "events");
    const names = new Set(events.map((event) => event.event));
    expect(names).toContain("on_chain_start");
    expect(names).toContain("on_chain_end");
    const tokens = events.filter((event) => event.event === "on_chat_model_stream");
    expect(tokens.map((event) => event.data.chunk.content).join("")).toBe("You said: hello there");
    expect(events.filter((event) => event.event === "on_chat_model_end")).toHaveLength(1);
    expect(events[0]).toMatchObject({ event: "on_chain_start", run_id: frames[0]!.data.run_id });
  });

  test("debug contains checkpoints, tasks and their results", async () => {
    const { thread_id } = await client.threads.create();
    const frames = await collect(client.runs.stream(thread_id, "counter", { input: { add: 1 }, streamMode: "debug" }));
    const debug = eventData(frames, "debug");
    const types = debug.map((entry) =>
      entry.type === "checkpoint" ? entry.type : `${entry.type}:${entry.payload.name}`,
    );
    expect(types.filter((type) => type !== "checkpoint")).toEqual([
      "task:increment",
      "task_result:increment",
      "task:double",
      "task_result:double",
    ]);
    const last = debug.filter((entry) => entry.type === "checkpoint").at(-1);
    expect(last.payload).toMatchObject({
      values: { total: 2 },
      next: [],
      checkpoint: { thread_id, checkpoint_ns: "" },
    });
    const state = await client.threads.getState(thread_id);
    expect(last.payload.checkpoint.checkpoint_id).toBe(state.checkpoint.checkpoint_id);
    expect(Object.keys(last.payload.config.configurable).filter((key) => key.startsWith("__"))).toEqual([]);
  });

  test.runIf(has("stream modes tasks and checkpoints"))(
    "tasks contains the start and the end of each task",
    async () => {
      const frames = await streamed("counter", { input: { add: 1 }, streamMode: "tasks" });
      const tasks = eventData(frames, "tasks");
      expect(tasks.map((task) => [task.name, "result" in task])).toEqual([
        ["increment", false],
        ["increment", true],
        ["double", false],
        ["double", true],
      ]);
      expect(tasks[0]).toMatchObject({ input: { add: 1 }, interrupts: [] });
      expect(tasks[1].id).toBe(tasks[0].id);
    },
  );

  test.runIf(has("stream modes tasks and checkpoints"))("checkpoints contains each checkpoint", async () => {
    const frames = await streamed("counter", { input: { add: 1 }, streamMode: "checkpoints" });
    const checkpoints = eventData(frames, "checkpoints");
    expect(checkpoints.map((checkpoint) => checkpoint.next)).toEqual([["__start__"], ["increment"], ["double"], []]);
    expect(checkpoints.at(-1)).toMatchObject({ values: { total: 2 }, metadata: { source: "loop", step: 2 } });
  });

  test("custom contains what the nodes write", async () => {
    const frames = await streamed("slow", { input: { steps: 2, ms: 5, label: "c" }, streamMode: "custom" });
    expect(eventData(frames, "custom")).toEqual([
      { label: "c", tick: 1 },
      { label: "c", tick: 2 },
    ]);
  });

  test.runIf(has("stream mode tools"))("tools contains the start and the end of each tool call", async () => {
    const frames = await streamed("agent", { input: weather, streamMode: "tools" as "custom" });
    const [start, end] = eventData(frames, "tools");
    expect(start).toMatchObject({ event: "on_tool_start", name: "get_weather" });
    expect(end).toMatchObject({ event: "on_tool_end", output: { content: "sunny in Rome" } });
    expect(end.toolCallId).toBe(start.toolCallId);
  });

  test("several modes share one stream, in the order of events", async () => {
    const frames = await streamed("slow", {
      input: { steps: 1, ms: 5, label: "m" },
      streamMode: ["values", "updates", "custom"],
    });
    const wait = frames.findIndex((frame) => frame.event === "updates" && "wait" in frame.data);
    const custom = frames.findIndex((frame) => frame.event === "custom");
    expect(custom).toBeGreaterThan(0);
    expect(wait).toBeGreaterThan(custom);
    expect(frames.at(-1)).toMatchObject({ event: "values", data: { log: ["m:begin", "m:1"] } });
  });

  test("frames arrive while the run is executing", async () => {
    const { thread_id } = await client.threads.create();
    const input = { steps: 3, ms: 200, label: "live" };
    const arrivals: number[] = [];
    for await (const frame of client.runs.stream(thread_id, "slow", { input, streamMode: "custom" })) {
      if (frame.event === "custom") arrivals.push(Date.now());
    }
    expect(arrivals).toHaveLength(3);
    expect(arrivals[2]! - arrivals[0]!).toBeGreaterThan(250);
  });

  test("a failing run ends its stream with an error frame", async () => {
    const { thread_id } = await client.threads.create();
    const frames = await collect(client.runs.stream(thread_id, "failing", { input: { reason: "told" } }));
    expect(frames.at(-1)).toMatchObject({ event: "error", data: { message: expect.stringContaining("told") } });
    expect(eventData(frames, "values").at(-1)).toMatchObject({ prepared: true });
    expect(await client.runs.list(thread_id)).toMatchObject([{ status: "error" }]);
  });

  test("the error frame names the class of the error", async () => {
    const frames = await streamed("failing", { input: { reason: "told" } });
    expect(frames.at(-1)!.data).toEqual({ error: "CustomError", message: "told" });
  });

  test("a stateless run can be streamed", async () => {
    const frames = await collect(client.runs.stream(null, "counter", { input: { add: 3 }, streamMode: "values" }));
    expect(frames[0]!.event).toBe("metadata");
    expect(frames.at(-1)).toMatchObject({ event: "values", data: { total: 6 } });
  });
});
