import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { client, connectTo, url } from "./clients.ts";
import { has } from "./features.ts";
import { Network } from "./network.ts";
import { isPython } from "./server.ts";

type Stream = ReturnType<typeof client.threads.stream>;
const open: Stream[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((stream) => stream.close()));
});

const webSocketFactory = (at: string) => new WebSocket(at) as unknown as globalThis.WebSocket;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** What a node wrote to channel `custom`, which the JavaScript server wraps. */
const written = (data: unknown): unknown => (isPython ? data : (data as { payload: unknown }).payload);

const user = (content: string) => ({ messages: [{ role: "user", content }] });

describe.runIf(has("protocol v2")).each(["sse", "websocket"] as const)("protocol v2 over %s", (transport) => {
  function connect(assistantId: string, threadId: string = randomUUID()): Stream {
    const stream = client.threads.stream(threadId, { assistantId, transport, webSocketFactory });
    open.push(stream);
    return stream;
  }

  test("a run streams its values, its messages token by token, and its tool calls", async () => {
    const stream = connect("agent");
    const messages = all(stream.messages);
    const tools = all(stream.toolCalls);
    const { run_id } = await stream.run.start({ input: user("weather in Oslo") });
    const output = (await stream.output) as { messages: { content: unknown; getType(): string }[] };
    expect(output.messages.map((message) => message.getType())).toEqual(["human", "ai", "tool", "ai"]);
    const texts = await Promise.all((await messages).map(async (message) => String(await message.text)));
    expect(texts.at(-1)).toBe("The tool says: sunny in Oslo");
    const [call] = await tools;
    expect(call).toMatchObject({ name: "get_weather", input: { city: "Oslo" } });
    expect(JSON.stringify(await call!.output)).toContain("sunny in Oslo");
    const runs = await client.runs.list(stream.threadId);
    expect(runs.map((run) => [run.run_id, run.status])).toEqual([[run_id, "success"]]);
  });

  test("an interrupt is received and answered, and the thread continues over the same stream", async () => {
    const stream = connect("approval");
    await stream.run.start({ input: { topic: "tea" } });
    await expect.poll(() => stream.interrupts).toHaveLength(1);
    const [{ interruptId, payload, namespace }] = stream.interrupts as [(typeof stream.interrupts)[number]];
    expect(payload).toEqual({ question: "Publish tea?" });
    await expect.poll(() => stream.interrupted).toBe(true);
    const ended = stream.subscribe({ channels: ["lifecycle"] });
    await stream.input.respond({ namespace: [...namespace], interrupt_id: interruptId, response: "yes" });
    for await (const event of await ended) {
      const { data } = event.params as { data: { event: string } };
      if (event.params.namespace.length === 0 && data.event === "completed") break;
    }
    const state = await stream.state.get({ namespace: [] });
    expect(state.values).toMatchObject({ answer: "yes", log: ["draft:tea", "asked", "published"] });
    expect(state.checkpoint!.id).toBeTypeOf("string");
  });

  test("subgraphs are discovered with their namespaces, and their tree can be queried", async () => {
    const stream = connect("nested");
    const custom = await stream.subscribe({ channels: ["custom"], namespaces: [["child"]] });
    const found = all(stream.subgraphs);
    await stream.run.start({ input: { ask: false } });
    await stream.output;
    expect((await found).map((event) => event.namespace.map((part: string) => part.split(":")[0]))).toContainEqual([
      "child",
    ]);
    expect((await all(custom)).map(({ params }) => written(params.data))).toEqual([
      { from: "before" },
      { from: "deep" },
    ]);
    const { tree } = await stream.agent.getTree();
    expect(tree).toMatchObject({ status: "completed", graph_name: "nested" });
    expect(tree.children).toMatchObject([{ graph_name: "child", children: [{ graph_name: "grandchild" }] }]);
  });

  test("a later client receives the thread's runs again, with the same sequence numbers", async () => {
    const first = connect("counter");
    const seen: unknown[] = [];
    first.onEvent((event) => seen.push([event.event_id, event.seq, event.method]));
    await first.run.start({ input: { add: 2 } });
    await first.output;
    const second = connect("counter", first.threadId);
    const again: unknown[] = [];
    second.onEvent((event) => again.push([event.event_id, event.seq, event.method]));
    const values = await second.subscribe(["values", "lifecycle", "input"]);
    for await (const event of values) {
      const { data } = event.params as { data: { event?: string } };
      if (event.method === "lifecycle" && data.event === "completed" && event.params.namespace.length === 0) break;
    }
    expect(again.length).toBeGreaterThan(2);
    expect(seen).toEqual(expect.arrayContaining(again));
  });

  test("a cut connection is resumed without missing or duplicate events", async () => {
    const network = new Network();
    const far = connectTo("1.15.0", await network.open());
    const threadId = randomUUID();
    const options = { assistantId: "slow", transport, webSocketFactory };
    const stream = far.threads.stream(threadId, options);
    try {
      const seen: number[] = [];
      const labels: unknown[] = [];
      stream.onEvent((event) => {
        seen.push(event.seq!);
        if (event.method === "custom") labels.push((written(event.params.data) as { tick: number }).tick);
      });
      const events = await stream.subscribe(["custom", "lifecycle", "values"]);
      await stream.run.start({ input: { label: "cut", steps: 12, ms: 100 } });
      setTimeout(() => network.cut(), 400);
      for await (const event of events) {
        const { data } = event.params as { data: { event?: string } };
        if (event.method === "lifecycle" && data.event === "completed" && event.params.namespace.length === 0) break;
      }
      expect(network.connections).toBeGreaterThan(transport === "sse" ? 2 : 1);
      expect(new Set(seen).size).toBe(seen.length);
      expect(labels).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    } finally {
      await stream.close();
      network.close();
    }
  });

  test("checkpoints are listed and can be forked", async () => {
    const stream = connect("counter");
    await stream.run.start({ input: { add: 2 } });
    expect(await stream.output).toMatchObject({ total: 4 });
    const { checkpoints } = await stream.state.listCheckpoints({});
    expect(checkpoints.map(({ step }) => step)).toEqual([2, 1, 0, -1]);
    const forked = await stream.state.fork({ checkpoint_id: checkpoints[1]!.id });
    expect(forked.thread_id).toBe(stream.threadId);
    await client.runs.join(stream.threadId, forked.run_id);
    expect((await stream.state.get({ namespace: [] })).values).toMatchObject({ trail: ["+2", "*2"] });
  });

  test("errors have codes, and a failed run emits a failed event", async () => {
    const stream = connect("nobody");
    await expect(stream.run.start({ input: {} })).rejects.toMatchObject({ code: "invalid_argument" });
    const failing = connect("failing");
    const failures: unknown[] = [];
    failing.onEvent((event) => {
      if (event.method === "lifecycle" && event.params.namespace.length === 0) failures.push(event.params.data);
    });
    await failing.run.start({ input: {} });
    await failing.output;
    await expect.poll(() => failures).toContainEqual(expect.objectContaining({ event: "failed" }));
  });

  test("each of many runs that fail at once ends for its reader", async () => {
    for (let round = 0; round < 10; round++) {
      const failing = Array.from({ length: 6 }, () => connect("failing"));
      await Promise.all(failing.map((stream) => stream.run.start({ input: {} })));
      const ended = failing.map((stream) => Promise.resolve(stream.output).then(() => "ended"));
      expect(await Promise.all(ended)).toEqual(failing.map(() => "ended"));
      await Promise.all(failing.map((stream) => stream.close()));
    }
  });
});

test("rejects a plain request to the WebSocket endpoint", async () => {
  const plain = await fetch(`${url}/threads/${randomUUID()}/stream/events`);
  expect([plain.status, plain.headers.get("upgrade")]).toEqual([426, "websocket"]);
});

describe.runIf(isPython && has("protocol v2"))(
  "protocol v2 of Python graphs, which has the events of LangGraph's own streams",
  () => {
    async function events(assistantId: string, input: object) {
      const stream = client.threads.stream(randomUUID(), { assistantId, transport: "sse" });
      open.push(stream);
      const channels = [
        "values",
        "updates",
        "messages",
        "tools",
        "lifecycle",
        "custom",
        "tasks",
        "checkpoints",
      ] as const;
      const received = all(await stream.subscribe({ channels: [...channels] }));
      await stream.run.start({ input });
      await stream.output;
      return (await received).map(({ method, params }) => ({
        method,
        at: params.namespace.map((part: string) => part.split(":")[0]),
        ...params,
      }));
    }

    test("messages of nodes are in the graph's namespace, and nodes have no lifecycle", async () => {
      const found = await events("agent", user("weather in Oslo"));
      expect(new Set(found.map(({ method }) => method))).toEqual(new Set(["lifecycle", "values", "messages", "tools"]));
      expect(found.filter(({ method }) => method === "lifecycle").map(({ at }) => at)).toEqual([[], []]);
      const messages = found.filter(({ method }) => method === "messages");
      expect(new Set(messages.map(({ at }) => at.join()))).toEqual(new Set(["", "tools"]));
      for (const { data, node } of messages as { data: object; node?: string }[]) {
        expect(node).toBeUndefined();
        expect(data).not.toHaveProperty("run_id");
      }
      const ofTool = messages.filter(({ at }) => at.length > 0).map(({ data }) => data);
      expect(ofTool).toMatchObject([
        { event: "message-start", role: "tool", tool_call_id: expect.any(String) },
        { event: "content-block-start" },
        { event: "content-block-delta", content: { type: "text", text: "sunny in Oslo" } },
        { event: "content-block-finish", content: { type: "text", text: "sunny in Oslo" } },
        { event: "message-finish" },
      ]);
    });

    test("subgraphs announce themselves by their lifecycle, after their first state", async () => {
      const found = await events("nested", { ask: false });
      const child = found.filter(({ at }) => at.join() === "child").map(({ method, data }) => [method, data]);
      expect(child.map(([method]) => method)).toEqual([
        "values",
        "lifecycle",
        "custom",
        "values",
        "values",
        "lifecycle",
      ]);
      expect(child[1]![1]).toMatchObject({
        event: "started",
        graph_name: "child",
        trigger_call_id: expect.any(String),
      });
      expect(child[5]![1]).toEqual({ event: "completed", graph_name: "child" });
    });

    test("an interrupted subgraph ends before its graph does", async () => {
      const found = await events("nested", { ask: true });
      const lifecycle = found.filter(({ method }) => method === "lifecycle");
      const ends = lifecycle.map(({ at, data }) => [at.join(), (data as { event: string }).event]).slice(-3);
      expect(ends).toEqual([
        ["child,grandchild", "interrupted"],
        ["child", "interrupted"],
        ["", "interrupted"],
      ]);
    });
  },
);
