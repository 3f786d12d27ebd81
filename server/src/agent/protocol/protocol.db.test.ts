import { afterEach, expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { EventReader, listenAgent } from "../../../test/protocol-client.ts";
import { uuid7 } from "../../base/ids.ts";
import { sweepStreams } from "../streams/sql.ts";

const server = await testAgentServer();
const { url } = await listenAgent(server);
const ALL = ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"];

const open: EventReader[] = [];
afterEach(() => open.splice(0).forEach((reader) => reader.close()));
async function read(threadId: string, body: object = {}): Promise<EventReader> {
  const reader = await EventReader.open(url, threadId, { channels: ALL, ...body });
  open.push(reader);
  return reader;
}

let id = 0;
async function command(threadId: string, method: string, params: object = {}) {
  const { status, json } = await server.call("POST", `/threads/${threadId}/commands`, { id: ++id, method, params });
  expect(status).toBe(200);
  expect(json.id).toBe(id);
  return json;
}
const start = (threadId: string, assistant_id: string, input: unknown, more: object = {}) =>
  command(threadId, "run.start", { assistant_id, input, ...more });

const endings = ["completed", "failed", "interrupted"];
const terminals = (reader: EventReader) =>
  reader.events.filter(
    ({ method, params }) =>
      method === "lifecycle" && params.namespace.length === 0 && endings.includes(params.data.event),
  );
const until = (reader: EventReader, ends: number) =>
  vi.waitUntil(() => terminals(reader).length >= ends, { timeout: 30_000, interval: 5 });

test("a stream opened before its thread exists receives all events of all runs, numbered from 1", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  const started = await start(thread, "trail", { topic: "a" });
  expect(started).toMatchObject({
    type: "success",
    result: { run_id: expect.any(String) },
    meta: { thread_id: thread },
  });
  await until(reader, 1);
  const count = reader.events.length;
  expect((await start(thread, "trail", { topic: "b" })).meta.applied_through_seq).toBeGreaterThanOrEqual(count);
  await until(reader, 2);
  expect(reader.events.map(({ seq }) => seq)).toEqual(reader.events.map((_, i) => i + 1));
  expect(reader.events.every(({ seq, event_id, type }) => event_id === String(seq) && type === "event")).toBe(true);
  expect(reader.events[0]).toMatchObject({
    method: "lifecycle",
    params: { namespace: [], data: { event: "running", graph_name: "trail" } },
  });
  expect(terminals(reader).map(({ params }) => params.data)).toEqual([
    { event: "completed", graph_name: "trail" },
    { event: "completed", graph_name: "trail" },
  ]);
  expect(reader.events[count - 1]).toEqual(terminals(reader)[0]);
  const { json: storage } = await server.call("GET", `/threads/${thread}/storage`);
  expect(storage.protocol_events.count).toBe(reader.events.length);
  expect(storage.protocol_events.bytes).toBeGreaterThan(reader.events.length * 50);
  const { json: runs } = await server.call("GET", `/threads/${thread}/runs`);
  expect(runs).toMatchObject([{ status: "success" }, { run_id: started.result.run_id, status: "success" }]);
});

test("a thread may be named by any text, which stands for a UUID that answers contain", async () => {
  const name = encodeURIComponent(`Anna's chat, ${uuid7()}`);
  const reader = await read(name);
  const { meta } = await start(name, "trail", { topic: "a" });
  await until(reader, 1);
  expect(meta.thread_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
  expect((await server.call("GET", `/threads/${meta.thread_id}`)).json.status).toBe("idle");
  const again = await command(name, "state.get");
  expect([again.meta.thread_id, again.result.values.topic]).toEqual([meta.thread_id, "a"]);
  expect((await command(`${name}x`, "state.get")).meta?.thread_id).not.toBe(meta.thread_id);
});

test("late and reconnecting readers receive exactly the same bytes", async () => {
  const thread = uuid7();
  const first = await read(thread);
  await start(thread, "nested", { topic: "a" });
  await until(first, 1);
  const late = await read(thread);
  await until(late, 1);
  expect(late.text).toBe(first.text);
  for (const since of [0, 1, 5, first.events.length - 1]) {
    const back = await read(thread, { since });
    await until(back, 1);
    expect(back.events).toEqual(first.events.slice(since));
  }
  const headers = { "Last-Event-ID": "5" };
  const byHeader = await EventReader.open(url, thread, { channels: ALL }, headers);
  open.push(byHeader);
  await until(byHeader, 1);
  expect(byHeader.events).toEqual(first.events.slice(5));
  await expect(EventReader.open(url, thread, { channels: ALL }, { "Last-Event-ID": "x" })).rejects.toThrow(/^400 /);
  const { length } = first.events;
  const beyond = await read(thread, { since: length });
  await start(thread, "nested", "yes");
  await until(beyond, 1);
  expect(beyond.events[0].seq).toBe(length + 1);
});

test("filters by channels and namespaces, with and without the ids of tasks", async () => {
  const thread = uuid7();
  const all = await read(thread);
  await start(thread, "nested", { topic: "a" });
  await until(all, 1);
  const chosen = async (body: object, count: number) => {
    const reader = await read(thread, body);
    await vi.waitUntil(() => reader.events.length >= count, { timeout: 20_000, interval: 5 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    return reader.events;
  };
  const of = (keep: (event: { method: string; params: { namespace: string[] } }) => boolean) => all.events.filter(keep);
  const inChild = of(({ params }) => params.namespace[0]?.startsWith("child:") ?? false);
  expect(inChild.length).toBeGreaterThan(2);
  const atRoot = of(({ params }) => params.namespace.length === 0);
  const values = of(({ method }) => method === "values");
  const [task] = inChild[0].params.namespace;
  expect(await chosen({ channels: ["values"] }, values.length)).toEqual(values);
  expect(await chosen({ namespaces: [["child"]] }, inChild.length)).toEqual(inChild);
  expect(await chosen({ namespaces: [[task]] }, inChild.length)).toEqual(inChild);
  expect(await chosen({ namespaces: [["chil"], ["child:x"]] }, 0)).toEqual([]);
  expect(await chosen({ namespaces: [[]], depth: 0 }, atRoot.length)).toEqual(atRoot);
  expect(await chosen({ channels: ["input"] }, 1)).toMatchObject([{ method: "input.requested" }]);
  expect(await chosen({ channels: ["no such channel"] }, 0)).toEqual([]);
});

test("reports an interrupt and ends, returns state and tree, and accepts an answer by id", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  await start(thread, "nested", { topic: "tea" });
  await until(reader, 1);
  expect(terminals(reader)[0].params.data.event).toBe("interrupted");
  const inputRequests = reader.events.filter(({ method }) => method === "input.requested");
  expect(inputRequests).toHaveLength(1);
  const { interrupt_id, payload } = inputRequests[0].params.data;
  expect(payload).toEqual({ about: "tea" });

  expect(await command(thread, "agent.getTree")).toMatchObject({
    result: {
      tree: { namespace: [], status: "interrupted", graph_name: "nested", children: [{ graph_name: "child" }] },
    },
  });
  expect(await command(thread, "input.respond", { interrupt_id: "nonsense", response: 1 })).toMatchObject({
    error: "no_such_interrupt",
  });
  expect(await command(thread, "input.respond", { response: 1 })).toMatchObject({
    error: "invalid_argument",
    message: "input.respond requires an interrupt_id.",
  });
  expect(await command(thread, "input.respond", { responses: [] })).toMatchObject({
    message: "input.respond requires at least one response.",
  });
  const answered = await command(thread, "input.respond", { namespace: [], interrupt_id, response: false });
  expect(answered).toMatchObject({ type: "success", result: {} });
  await until(reader, 2);
  expect(terminals(reader)[1].params.data.event).toBe("completed");
  const state = await command(thread, "state.get", { namespace: [] });
  expect(state.result).toMatchObject({
    values: { topic: "tea", log: ["enter", "enter", "answer:false"] },
    checkpoint: { id: expect.any(String) },
  });
  expect((await command(thread, "state.get", { keys: ["topic", "none"] })).result.values).toEqual({ topic: "tea" });
  expect(await command(thread, "state.get", { namespace: ["nowhere:1"] })).toMatchObject({
    error: "no_such_namespace",
  });
  expect(await command(thread, "input.respond", { interrupt_id, response: 1 })).toMatchObject({
    error: "invalid_argument",
    message: "input.respond can only be used while the run is interrupted.",
  });
});

test("input on an interrupted thread answers the interrupt", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  await start(thread, "ask", { topic: "a" });
  await until(reader, 1);
  await start(thread, "ask", "by input");
  await until(reader, 2);
  const { values } = (await command(thread, "state.get")).result;
  expect(values.log).toEqual(["answer:by input"]);
});

test("lists checkpoints and forks from them", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  await start(thread, "trail", { topic: "a" });
  await until(reader, 1);
  const { checkpoints } = (await command(thread, "state.listCheckpoints", { limit: 10 })).result;
  expect(checkpoints.map(({ step }: { step: number }) => step)).toEqual([2, 1, 0, -1]);
  expect(checkpoints[0]).toMatchObject({ id: expect.any(String), timestamp: expect.any(String) });
  const rest = await command(thread, "state.listCheckpoints", { before: checkpoints[1].id, limit: 1 });
  expect(rest.result.checkpoints).toEqual([checkpoints[2]]);
  const forked = await command(thread, "state.fork", { checkpoint_id: checkpoints[1].id });
  expect(forked.result).toEqual({ run_id: expect.any(String), thread_id: thread });
  await until(reader, 2);
  expect((await command(thread, "state.get")).result.values.log).toEqual(["first:a", "second"]);
  const none = "1f1e5d2f-2f10-6290-8000-a66e5da2e341";
  expect(await command(thread, "state.fork", { checkpoint_id: none })).toMatchObject({ error: "no_such_checkpoint" });
});

test("runs that never begin, that fail and that are cancelled all have an end event", async () => {
  const broken = uuid7();
  const failing = await read(broken);
  await start(broken, "trail", { topic: "a" }, { config: { recursion_limit: 1 } });
  await until(failing, 1);
  expect(terminals(failing)[0].params.data).toMatchObject({ event: "failed", error: expect.stringContaining("limit") });

  const thread = uuid7();
  const reader = await read(thread);
  await start(thread, "slow", {});
  const { run_id } = (await start(thread, "slow", {})).result;
  await server.call("POST", `/threads/${thread}/runs/${run_id}/cancel`);
  await until(reader, 1);
  expect(terminals(reader)[0].params.data).toEqual({ event: "interrupted", graph_name: "slow" });
  await start(thread, "slow", {}, { multitaskStrategy: "rollback" });
  await until(reader, 2);
  await server.call("POST", "/runs/cancel", { status: "all" });
  await until(reader, 3);
  expect(terminals(reader).map(({ params }) => params.data.event)).toEqual([
    "interrupted",
    "interrupted",
    "interrupted",
  ]);
});

test("rejects invalid commands with a code", async () => {
  const thread = uuid7();
  const cases: [string, object, string, RegExp?][] = [
    ["run.start", {}, "invalid_argument", /^run.start requires an assistant_id.$/],
    ["run.start", { assistant_id: "nobody" }, "invalid_argument", /nobody/],
    ["run.start", { assistant_id: "trail", config: 1 }, "invalid_argument", /config/],
    ["run.start", { assistant_id: "trail", config: { recursion_limit: 0 } }, "invalid_argument", /recursion_limit/],
    ["run.start", { assistant_id: "trail", webhook: "http://10.0.0.1/" }, "invalid_argument", /private address/],
    [
      "run.start",
      { assistant_id: "trail", feedback_keys: ["up"] },
      "invalid_argument",
      /feedback_keys: cannot be set for/,
    ],
    [
      "run.start",
      { assistant_id: "trail", command: { resume: 1 } },
      "invalid_argument",
      /command: cannot be set for run/,
    ],
    ["run.start", { assistant_id: "trail", interrupt_before: 1 }, "invalid_argument", /interrupt_before/],
    ["state.listCheckpoints", { before: "x" }, "invalid_argument", /before: must be a UUID/],
    ["input.respond", { interrupt_id: "x", response: 1 }, "no_such_run", /no active assistant/],
    ["input.inject", { message: { role: "user", content: "x" } }, "no_such_run"],
    ["input.inject", { message: { role: "robot", content: "x" } }, "invalid_argument"],
    ["state.get", {}, "no_such_run"],
    ["state.listCheckpoints", { limit: 0 }, "invalid_argument"],
    ["agent.getTree", {}, "no_such_run", /^No active run is bound to this thread.$/],
    ["subscription.reconnect", { run_id: uuid7() }, "not_supported"],
    ["subscription.subscribe", { channels: ["values"] }, "not_supported"],
    ["run.stop", {}, "unknown_command", /^Unknown protocol command: run.stop$/],
    ["constructor", {}, "unknown_command"],
  ];
  for (const [method, params, error, message = /./] of cases) {
    expect(await command(thread, method, params)).toMatchObject({
      type: "error",
      error,
      message: expect.stringMatching(message),
    });
  }
  await start(thread, "trail", {});
  expect(await start(thread, "ask", {})).toMatchObject({
    error: "invalid_argument",
    message: expect.stringMatching(/is bound to assistant/),
  });
});

test("accepts the other parameters of an ordinary run", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  const webhook = "/threads/search";
  const started = await start(
    thread,
    "trail",
    { topic: "a" },
    { webhook, interrupt_after: ["first"], context: { a: 1 } },
  );
  await until(reader, 1);
  const { json: run } = await server.call("GET", `/threads/${thread}/runs/${started.result.run_id}`);
  expect(run.kwargs).toMatchObject({ webhook, context: { a: 1 } });
  expect((await server.call("GET", `/threads/${thread}`)).json.status).toBe("interrupted");
  const { json: deliveries } = await server.call("GET", `/webhooks/deliveries?run_id=${run.run_id}`);
  expect(deliveries).toMatchObject([{ url: webhook, run_status: "success" }]);
});

test("rejects malformed requests first", async () => {
  const thread = uuid7();
  const path = `/threads/${thread}`;
  for (const body of [{}, { id: "1", method: "state.get" }, { id: -1, method: "x" }, { id: 1.5, method: "x" }, []]) {
    expect((await server.call("POST", `${path}/commands`, body)).status).toBe(422);
  }
  expect((await server.call("POST", `${path}/commands`, "{")).status).toBe(400);
  for (const body of [{}, { channels: "values" }, { channels: [], depth: -1 }, { channels: [], since: 0.5 }]) {
    expect((await server.call("POST", `${path}/stream/events`, body)).status).toBe(422);
  }
  for (const [name, status] of [
    ["a%00b", 400],
    ["x".repeat(201), 422],
  ] as const) {
    const answer = await server.call("POST", `/threads/${name}/commands`, { id: 1, method: "state.get" });
    expect(answer.status).toBe(status);
  }
  const plain = await server.call("GET", `${path}/stream/events`);
  expect([plain.status, plain.headers.get("upgrade")]).toEqual([426, "websocket"]);
});

test("injects a message as the input of the next run", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  await start(thread, "trail", { topic: "a" });
  await until(reader, 1);
  const message = { role: "user", content: "hello" };
  expect(await command(thread, "input.inject", { namespace: [], message })).toMatchObject({ result: {} });
  await until(reader, 2);
  expect(await command(thread, "input.inject", { namespace: ["x"], message })).toMatchObject({
    error: "not_supported",
  });
});

test("a deleted thread ends its streams, and a new one with its id is numbered from 1", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  await start(thread, "trail", { topic: "a" });
  await until(reader, 1);
  expect((await server.call("DELETE", `/threads/${thread}`)).status).toBe(204);
  await vi.waitUntil(() => reader.ended, { timeout: 20_000 });
  const again = await read(thread);
  await start(thread, "trail", { topic: "a" });
  await until(again, 1);
  expect(again.events[0].seq).toBe(1);
});

test("deletes old events, and continues their numbering", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  await start(thread, "trail", { topic: "a" });
  await until(reader, 1);
  const last = reader.events.at(-1).seq;
  reader.close();
  await vi.waitUntil(() => server.agent.deps.protocol.readers === 0, { timeout: 20_000 });
  await server.sql`update run_streams set ended_at = now() - interval '1 hour' where thread_id = ${thread}`;
  const count = async () => (await server.sql`select 1 from run_stream_segments where thread_id = ${thread}`).length;
  expect(await count()).toBeGreaterThan(0);
  await sweepStreams(server.sql, 120);
  expect(await count()).toBe(0);
  const late = await read(thread);
  await start(thread, "trail", { topic: "b" });
  await until(late, 1);
  expect(late.events[0].seq).toBe(last + 1);
});

test("a command repeated with its Idempotency-Key starts no second run", async () => {
  const thread = uuid7();
  const reader = await read(thread);
  const send = async (key: string, method: string, params: object) => {
    const headers = { "Idempotency-Key": key };
    return (await server.call("POST", `/threads/${thread}/commands`, { id: ++id, method, params }, headers)).json;
  };
  const params = { assistant_id: "ask", input: { topic: "a" } };
  const first = await send("one", "run.start", params);
  await until(reader, 1);
  expect((await send("one", "run.start", params)).result).toEqual(first.result);
  const { interrupt_id } = reader.events.find(({ method }) => method === "input.requested").params.data;
  const answer = { interrupt_id, response: "yes" };
  expect((await send("two", "input.respond", answer)).type).toBe("success");
  await until(reader, 2);
  expect((await send("two", "input.respond", answer)).type).toBe("success");
  expect(await send("two", "input.respond", { interrupt_id, response: "no" })).toMatchObject({
    error: "invalid_argument",
    message: expect.stringContaining("Idempotency-Key"),
  });
  expect((await server.call("GET", `/threads/${thread}/runs`)).json).toHaveLength(2);
});
