import { connect } from "node:net";

import { afterEach, expect, test, vi } from "vitest";
import type WebSocket from "ws";

import { testAgentServer } from "../../../test/agent-server.ts";
import { listenAgent, SocketClient } from "../../../test/protocol-client.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { unauthorized } from "../../base/errors.ts";
import type { Guard } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";

const server = await testAgentServer();
const { url } = await listenAgent(server, { HEDDLE_WEBSOCKET_MAX_MESSAGE_BYTES: "65536" });
const ALL = ["values", "updates", "lifecycle", "input", "checkpoints", "tasks", "custom"];

const clients: SocketClient[] = [];
afterEach(() => clients.splice(0).forEach((client) => client.socket.terminate()));
async function open(thread: string, at = url, headers: Record<string, string> = {}, query = ""): Promise<SocketClient> {
  const client = await SocketClient.open(at, thread, headers, query);
  clients.push(client);
  return client;
}
const isEnd = ({ method, params }: { method: string; params: { namespace: string[]; data: { event: string } } }) =>
  method === "lifecycle" && params.namespace.length === 0 && params.data.event !== "running";
const ended = (client: SocketClient, runs = 1) => client.until(() => client.events.filter(isEnd).length >= runs);

test("commands, responses and events share a socket, and each event arrives once for all subscriptions", async () => {
  const thread = uuid7();
  const client = await open(thread);
  const first = await client.command("subscription.subscribe", { channels: ALL });
  expect(first).toMatchObject({ type: "success", result: { subscription_id: expect.any(String), replayed_events: 0 } });
  await client.command("subscription.subscribe", { channels: ["lifecycle", "values"] });
  await client.command("run.start", { assistant_id: "trail", input: { topic: "a" } });
  await ended(client);
  expect(client.events.map(({ seq }) => seq)).toEqual(client.events.map((_, i) => i + 1));

  // a late subscription is answered, then gets earlier events, then new ones; the others continue
  const { length } = client.received;
  const values = client.events.filter(({ method }) => method === "values");
  const late = await client.command("subscription.subscribe", { channels: ["values"] });
  expect(late.result.replayed_events).toBe(values.length);
  await client.until(() => client.received.length === length + 1 + values.length);
  expect(client.received.slice(length)).toEqual([late, ...values]);
  const received = client.events.length;
  await client.command("run.start", { assistant_id: "trail", input: { topic: "b" } });
  await client.until(() => client.events.filter(isEnd).length === 2);
  const fresh = client.events.slice(received);
  expect(fresh.map(({ seq }) => seq)).toEqual(fresh.map((_, i) => i + 1 + received - values.length));

  for (const { result } of [first, late]) await client.command("subscription.unsubscribe", result);
  expect(await client.command("subscription.unsubscribe", first.result)).toMatchObject({
    error: "no_such_subscription",
  });
  expect(await client.command("subscription.unsubscribe", {})).toMatchObject({ error: "invalid_argument" });
});

test("replays events of another connection, and closing one leaves the others open", async () => {
  const thread = uuid7();
  const [first, second] = [await open(thread), await open(thread)];
  for (const client of [first, second]) await client.command("subscription.subscribe", { channels: ALL });
  await first.command("run.start", { assistant_id: "ask", input: { topic: "a" } });
  await Promise.all([ended(first), ended(second)]);
  expect(second.events).toEqual(first.events);
  first.socket.close();
  const three = await open(thread);
  expect((await three.command("subscription.subscribe", { channels: ALL })).result.replayed_events).toBe(
    second.events.length,
  );
  await three.until(() => three.events.length === second.events.length);
  expect(three.events).toEqual(second.events);
  const { interrupt_id } = second.events.find(({ method }) => method === "input.requested").params.data;
  await second.command("input.respond", { namespace: [], interrupt_id, response: "ok" });
  await Promise.all([ended(second, 2), ended(three, 2)]);
});

test("answers invalid commands with an error, and keeps the socket open", async () => {
  const client = await open(uuid7());
  const invalid = { type: "error", id: null, error: "invalid_argument" };
  const cases: [string, string][] = [
    ["{", "Protocol commands must be valid JSON."],
    ["", "Protocol commands must be valid JSON."],
    ["[]", "Protocol commands must include an integer id and string method."],
    ["null", "Protocol commands must include an integer id and string method."],
    ['{"id":-1,"method":"x"}', "Protocol commands must include an integer id and string method."],
    ['{"id":1}', "Protocol commands must include an integer id and string method."],
    [`{"id":1,"params":${"[".repeat(5000)}`, "The request body is nested more than 1000 levels deep."],
  ];
  for (const [i, [text, message]] of cases.entries()) {
    client.socket.send(text);
    await client.until(() => client.received.length === i + 1);
    expect(client.received[i]).toEqual({ ...invalid, message });
  }
  for (const [params, message] of [
    [{ channels: [] }, /channels/],
    [{ channels: ["nonsense"] }, /unsupported channel: nonsense/],
    [{ channels: ["custom:"] }, /unsupported channel/],
    [{ channels: ["values"], depth: -1 }, /depth/],
  ] as const) {
    expect(await client.command("subscription.subscribe", params)).toMatchObject({
      error: "invalid_argument",
      message,
    });
  }
  expect(await client.command("state.get", {})).toMatchObject({ error: "no_such_run" });
});

test("binary, oversized and broken frames close the socket with the matching code", async () => {
  const closing = async (spoil: (client: SocketClient) => void) => {
    const client = await open(uuid7());
    spoil(client);
    await client.until(() => client.closed);
    return client.closed!.code;
  };
  expect(await closing(({ socket }) => socket.send(Buffer.from("{}")))).toBe(1003);
  expect(await closing(({ socket }) => socket.send("x".repeat(70_000)))).toBe(1009);
  // invalid UTF-8; a reserved bit; an unknown opcode; a frame without a mask
  const raw = (bytes: number[]) => closing(({ socket }) => rawSocket(socket).write(Buffer.from(bytes)));
  expect(await raw([0x81, 0x81, 0, 0, 0, 0, 0xff])).toBe(1007);
  expect(await raw([0xc1, 0x80, 0, 0, 0, 0])).toBe(1002);
  expect(await raw([0x83, 0x80, 0, 0, 0, 0])).toBe(1002);
  expect(await raw([0x81, 0x01, 0x7b])).toBe(1002);
  expect((await server.call("GET", "/ok")).status).toBe(200);
});

const rawSocket = (socket: WebSocket) => (socket as unknown as { _socket: import("node:net").Socket })._socket;

test("rejects sockets without credentials, and commands beyond the principal's permissions", async () => {
  const guard: Guard = {
    ...openGuard,
    authenticator: {
      authenticate({ headers }) {
        const key = headers.get("x-api-key");
        if (key === "reads") return testPrincipal(undefined, ["runs:read", "threads:read"]);
        if (key === "all" || headers.get("cookie") === "session=all") return testPrincipal();
        throw unauthorized("Missing or unknown key");
      },
    },
  };
  const { url: guarded } = await listenAgent(server, { HEDDLE_CORS_ORIGINS: "https://app.example" }, guard);
  const thread = uuid7();
  await expect(open(thread, guarded)).rejects.toThrow("401");
  await expect(open(thread, guarded, { "x-api-key": "wrong" })).rejects.toThrow("401");
  const reader = await open(thread, guarded, {}, "?x-api-key=reads");
  expect(await reader.command("run.start", { assistant_id: "trail", input: {} })).toMatchObject({
    error: "permission_denied",
  });
  expect((await reader.command("subscription.subscribe", { channels: ALL })).type).toBe("success");
  // a browser sends its session cookie from pages of any origin
  const own = new URL(guarded).host;
  await open(thread, guarded, { cookie: "session=all", origin: `http://${own}` });
  await expect(open(thread, guarded, { cookie: "session=all", origin: "https://evil.example" })).rejects.toThrow("403");
});

test("rejects sockets from pages of origins that are not allowed", async () => {
  const closed = await testOrigins("https://app.example");
  await closed("https://app.example");
  await expect(closed("https://evil.example")).rejects.toThrow("403");
});

async function testOrigins(allowed: string) {
  const other = await testAgentServer({ HEDDLE_CORS_ORIGINS: allowed });
  const { url: at } = await listenAgent(other);
  return (origin: string) => open(uuid7(), at, { origin });
}

test("limits the number of sockets, ends silent ones, and ends all with the server", async () => {
  const other = await testAgentServer();
  const http = await listenAgent(other, { HEDDLE_WEBSOCKET_MAX_CONNECTIONS: "2", HEDDLE_WEBSOCKET_PING_SECS: "1" });
  const lively = await open(uuid7(), http.url);
  const silent = await open(uuid7(), http.url);
  await expect(open(uuid7(), http.url)).rejects.toThrow("503");
  rawSocket(silent.socket).pause();
  await vi.waitUntil(() => other.agent.deps.protocol.readers === 1, { timeout: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(lively.closed).toBeUndefined();
  const back = await open(uuid7(), http.url);
  await other.stop();
  await lively.until(() => lively.closed && back.closed);
  expect(lively.closed!.code).toBe(1001);
  await http.close();
});

test("a client that stops reading costs only its socket's buffer, and loses nothing", async () => {
  const thread = uuid7();
  const slow = await open(thread);
  await slow.command("subscription.subscribe", { channels: ALL });
  await slow.command("run.start", { assistant_id: "trail", input: { topic: "x".repeat(50_000) } });
  await ended(slow);
  rawSocket(slow.socket).pause();
  for (let i = 0; i < 100; i++) slow.socket.send(JSON.stringify({ id: 1000 + i, method: "state.get" }));
  await new Promise((resolve) => setTimeout(resolve, 500));
  rawSocket(slow.socket).resume();
  // events that follow the run's end may arrive between the answers
  const answered = () => slow.received.flatMap(({ id }) => (id >= 1000 ? [id] : []));
  await slow.until(() => answered().length >= 100);
  expect(answered()).toEqual(Array.from({ length: 100 }, (_, i) => 1000 + i));
});

test("ignores a client's offer to upgrade to another protocol", async () => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const body = JSON.stringify({ metadata: {} });
  const head = ["POST /threads HTTP/1.1", "Host: localhost", "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings"];
  const rest = ["HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", "Content-Type: application/json"];
  socket.write([...head, ...rest, `Content-Length: ${body.length}`, "", body].join("\r\n"));
  const answer = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});
