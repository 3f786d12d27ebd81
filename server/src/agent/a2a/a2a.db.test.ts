import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";

const server = await testAgentServer();
const { call } = server;

const post = (assistant: string, method: string, params: unknown, headers: Record<string, string> = {}) =>
  call("POST", `/a2a/${assistant}`, { jsonrpc: "2.0", id: "1", method, params }, headers);
const rpc = async (assistant: string, method: string, params: unknown) => (await post(assistant, method, params)).json;
const data = (value: object, more: object = {}) => ({
  message: { role: "user", messageId: randomUUID(), parts: [{ kind: "data", data: value }], ...more },
});

test("both protocol versions return the same results, each in its own format", async () => {
  const old = (await rpc("trail", "message/send", data({ topic: "a" }))).result;
  expect(old).toMatchObject({
    kind: "task",
    status: { state: "completed" },
    artifacts: [{ parts: [{ kind: "data" }] }],
  });
  const message = { role: "ROLE_USER", messageId: "m", parts: [{ data: { topic: "a" } }] };
  const { task } = (await rpc("trail", "SendMessage", { message })).result;
  expect(task).toMatchObject({
    status: { state: "TASK_STATE_COMPLETED" },
    artifacts: [{ parts: [{ data: { topic: "a", log: ["first:a", "second"] } }] }],
  });
  expect(JSON.stringify(task)).not.toContain('"kind"');
  expect((await rpc("trail", "tasks/get", { id: task.id })).result).toMatchObject({ id: task.id, kind: "task" });
  expect((await rpc("trail", "GetTask", { id: old.id })).result).toMatchObject({ id: old.id });
});

test("a stream has one event per response, with the request's id", async () => {
  const response = await post("trail", "message/stream", data({ topic: "a" }), { Accept: "text/event-stream" });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const events = response.text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => JSON.parse(frame.slice("data: ".length)));
  expect(events.every(({ jsonrpc, id }) => jsonrpc === "2.0" && id === "1")).toBe(true);
  expect(events.map(({ result }) => result.kind)).toEqual([
    "task",
    "status-update",
    "artifact-update",
    "status-update",
  ]);
  expect(events.at(-1).result).toMatchObject({ final: true, status: { state: "completed" } });
});

test("accepts a falsy answer, and cancels a waiting task", async () => {
  const { id: taskId, contextId } = (await rpc("ask", "message/send", data({ topic: "a" }))).result;
  const answered = await rpc(
    "ask",
    "message/send",
    data({ resume: [{ id: "none", value: 1 }] }, { taskId, contextId }),
  );
  expect(answered.error).toMatchObject({ code: -32602, message: expect.stringContaining("none") });
  const { interrupts } = (await rpc("ask", "tasks/get", { id: taskId })).result.status.message.parts[0].data;
  const resume = [{ id: interrupts[0].id, value: false }];
  expect((await rpc("ask", "message/send", data({ resume }, { taskId, contextId }))).result).toMatchObject({
    id: taskId,
    status: { state: "completed" },
    artifacts: [{ parts: [{ data: { log: ["answer:false"] } }] }],
  });
  const other = (await rpc("ask", "message/send", data({ topic: "a" }))).result;
  const elsewhere = data({}, { taskId: other.id, contextId: randomUUID() });
  expect((await rpc("ask", "message/send", elsewhere)).error.code).toBe(-32602);
  expect((await rpc("ask", "tasks/cancel", { id: other.id })).result.status.state).toBe("canceled");
  expect((await rpc("ask", "message/send", data({}, { taskId: other.id }))).error.code).toBe(-32004);
  expect((await rpc("ask", "tasks/cancel", { id: other.id })).error.code).toBe(-32002);
});

test("lists the assistant's tasks in pages, by context and state", async () => {
  const { contextId } = (await rpc("pair", "message/send", data({ topic: "1" }))).result;
  const ids: string[] = [];
  for (const topic of ["2", "3"])
    ids.unshift((await rpc("pair", "message/send", data({ topic }, { contextId }))).result.id);
  const list = async (params: object) => (await rpc("pair", "ListTasks", params)).result;
  const first = await list({ contextId, pageSize: 2 });
  expect(first.tasks.map(({ id }: { id: string }) => id)).toEqual(ids);
  expect(first.tasks[0].artifacts).toEqual([]);
  const { tasks, nextPageToken } = await list({ contextId, pageSize: 2, pageToken: first.nextPageToken });
  expect([tasks.length, nextPageToken]).toEqual([1, ""]);
  // counted over all pages, also on a page past the end
  expect([first.totalSize, (await list({ contextId, pageSize: 1, pageToken: "7" })).totalSize]).toEqual([3, 3]);
  expect(await list({ status: "TASK_STATE_FAILED" })).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: "" });
  expect((await list({ includeArtifacts: true })).tasks[0].artifacts).toHaveLength(1);
  expect((await rpc("trail", "GetTask", { id: ids[0] })).error.code).toBe(-32001);
});

test("finds tasks of a state across all pages", async () => {
  const begun = async () => (await rpc("ask", "message/send", data({ topic: "a" }))).result;
  const [waiting, done, cancelled] = [await begun(), await begun(), await begun()];
  const { id: taskId, contextId } = done;
  await rpc("ask", "message/send", data({ resume: true }, { taskId, contextId }));
  await rpc("ask", "tasks/cancel", { id: cancelled.id });
  const found = async (status: string, task: { contextId: string }) =>
    (await rpc("ask", "tasks/list", { status, contextId: task.contextId, pageSize: 1 })).result;
  for (const [status, task] of [
    ["input-required", waiting],
    ["completed", done],
    ["canceled", cancelled],
  ]) {
    expect(await found(status, task)).toMatchObject({
      totalSize: 1,
      tasks: [{ id: task.id, status: { state: status } }],
    });
  }
  // newer tasks in other states come first and must not hide it
  const page = (await rpc("ask", "tasks/list", { status: "input-required", pageSize: 1 })).result;
  expect(page.tasks).toHaveLength(1);
  expect((await found("completed", waiting)).totalSize).toBe(0);
});

test("rejects invalid requests with JSON-RPC error codes", async () => {
  const code = async (method: string, params: unknown) => (await rpc("trail", method, params)).error?.code;
  const text = { message: { role: "user", messageId: "1", parts: [{ kind: "text", text: "hi" }] } };
  expect(await code("message/send", text)).toBe(-32602); // no messages in the input
  expect(await code("message/send", {})).toBe(-32602);
  expect(await code("message/send", { message: { role: "robot", messageId: "1", parts: [] } })).toBe(-32602);
  expect(await code("message/send", data({}, { contextId: "no-uuid" }))).toBe(-32602);
  expect(await code("message/send", data([1]))).toBe(-32602);
  expect(await code("message/send", data({}, { taskId: randomUUID() }))).toBe(-32001);
  expect(await code("message/stream", data({}))).toBe(-32600); // Accept
  for (const name of ["pushNotificationConfig", "taskPushNotificationConfig"]) {
    const configuration = { [name]: { url: "https://example.com/told" } };
    expect(await code("message/send", { ...data({ topic: "a" }), configuration })).toBe(-32003);
  }
  expect(await code("tasks/get", { id: "no-uuid" })).toBe(-32001);
  expect(await code("tasks/get", { id: randomUUID(), historyLength: 11 })).toBe(-32602);
  expect(await code("tasks/get", { id: randomUUID(), historyScope: "all" })).toBe(-32602);
  expect(await code("tasks/list", { pageToken: "x" })).toBe(-32602);
  expect(await code("tasks/list", { status: "lost" })).toBe(-32602);
  for (const method of ["tasks/resubscribe", "SubscribeToTask", "tasks/pushNotificationConfig/set", "toString"]) {
    expect(await code(method, {})).toBe(-32601);
  }
  const malformed = await call("POST", "/a2a/trail", "{");
  expect([malformed.status, malformed.json.error.code]).toEqual([400, -32700]);
  const batch = await call("POST", "/a2a/trail", [{}]);
  expect([batch.status, batch.json.error.code]).toEqual([400, -32600]);
  expect((await call("POST", "/a2a/trail", { jsonrpc: "2.0", method: "tasks/get" })).status).toBe(400);
  expect((await post("nobody", "tasks/get", {})).status).toBe(404);
  expect((await post(randomUUID(), "tasks/get", {})).status).toBe(404);
});

test("an answer sent in the moment in which a stream shows input-required is accepted, 50 of 50", async () => {
  const app = createAgentApp(server.agent.deps, openGuard);
  for (let i = 0; i < 50; i += 1) {
    const response = await app.request("/a2a/ask", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: "1", method: "message/stream", params: data({ topic: "tea" }) }),
    });
    let answered: Promise<{ result?: { status: object } }> | undefined;
    for await (const chunk of response.body!) {
      const text = Buffer.from(chunk as Uint8Array).toString();
      const event = /"taskId":"([^"]+)","contextId":"([^"]+)","status":\{"state":"input-required"/.exec(text);
      if (event) answered ??= rpc("ask", "message/send", data({ ok: true }, { taskId: event[1], contextId: event[2] }));
    }
    expect((await answered!).result).toMatchObject({ status: { state: "completed" } });
  }
});

test("a card names the media types that its graph accepts; a graph that does not load has none", async () => {
  const card = await call("GET", "/.well-known/agent-card.json?assistant_id=trail");
  expect(card.json).toMatchObject({
    defaultInputModes: ["application/json"],
    defaultOutputModes: ["application/json"],
  });
  expect((await call("GET", "/.well-known/agent-card.json?assistant_id=broken")).status).toBeGreaterThanOrEqual(400);
});

test("behind a trusted proxy, a card's URLs have the outer scheme, host and prefix", async () => {
  const { deps } = server.agent;
  const settings = { ...deps.settings, trustedProxies: ["127.0.0.1/32"] };
  const proxied = createCaller(createAgentApp({ ...deps, settings }, openGuard));
  const path = "/.well-known/agent-card.json?assistant_id=trail";
  const outer = { "x-forwarded-proto": "https", "x-forwarded-host": "h.example:8443", "x-forwarded-prefix": "/d/mine" };
  const card = (await proxied("GET", path, undefined, outer)).json;
  expect(card.url).toMatch(/^https:\/\/h\.example:8443\/d\/mine\/a2a\/[0-9a-f-]{36}$/);
  expect(card.supportedInterfaces).toMatchObject([{ url: card.url }, { url: card.url }]);
  expect((await call("GET", path, undefined, outer)).json.url).toMatch(/^http:\/\/localhost\/a2a\//);
});

test("cards name the assistant's own endpoint, and several assistants require an id", async () => {
  const card = await call("GET", "/.well-known/agent-card.json?assistant_id=trail");
  expect(card.json).toMatchObject({
    name: "trail",
    description: "Notes each step.",
    supportedInterfaces: [{ protocolBinding: "JSONRPC", protocolVersion: "1.0", url: card.json.url }, {}],
  });
  expect((await call("GET", "/.well-known/agent-card.json")).status).toBe(422);
  expect((await call("GET", "/.well-known/agent-card.json?assistant_id=nobody")).status).toBe(404);
  expect((await rpc("trail", "GetExtendedAgentCard", {})).result).toEqual(card.json);
});

test("rejects sending and cancelling by a principal that may only read", async () => {
  const authenticate = () => testPrincipal(undefined, ["runs:read", "assistants:read"]);
  const reader = createCaller(createAgentApp(server.agent.deps, { ...openGuard, authenticator: { authenticate } }));
  const ask = async (method: string, params: unknown) =>
    (await reader("POST", "/a2a/trail", { jsonrpc: "2.0", id: 1, method, params })).json;
  const { id } = (await rpc("trail", "message/send", data({ topic: "a" }))).result;
  expect((await ask("tasks/get", { id })).result.id).toBe(id);
  expect((await ask("message/send", data({}))).error.message).toMatch(/runs:create/);
  expect((await ask("tasks/cancel", { id })).error.message).toMatch(/runs:create/);
  const tool = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "trail" } };
  const called = await reader("POST", "/mcp", tool, { Accept: "application/json, text/event-stream" });
  expect(called.json.error.message).toMatch(/runs:create/);
});
