import { fileURLToPath } from "node:url";

import { afterAll, expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { EventReader, listenAgent, SocketClient } from "../../../test/protocol-client.ts";
import { uuid7 } from "../../base/ids.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/auth-project/langgraph.json", import.meta.url));
const server = await testAgentServer({ HEDDLE_LOG_LEVEL: "fatal" }, PROJECT);
const { url } = await listenAgent(server);
const ALL = { channels: ["values", "messages", "lifecycle", "tasks"] };
const as = (user: string) => ({ authorization: `Bearer ${user}`, "content-type": "application/json" });

const open: { close(): void }[] = [];
afterAll(() => open.forEach((socket) => socket.close()));

async function ask(user: string, path: string, body: object, accept = "application/json") {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...as(user), accept },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { error: unknown; result: never; type: string };
}
const command = (user: string, thread: string, method: string, params: object = {}) =>
  ask(user, `/threads/${thread}/commands`, { id: 1, method, params });
const input = { messages: [{ role: "user", content: "mine" }] };
const isEnd = ({ method, params }: { method: string; params: { data: { event: string } } }) =>
  method === "lifecycle" && params.data.event === "completed";

test("hides a user's thread from other users on every transport and for every command", async () => {
  const thread = uuid7();
  const started = await command("ann", thread, "run.start", { assistant_id: "agent", input });
  expect(started.type).toBe("success");
  const own = await EventReader.open(url, thread, ALL, as("ann"));
  open.push(own);
  await vi.waitUntil(() => own.events.some(isEnd), { timeout: 30_000 });

  await expect(EventReader.open(url, thread, ALL, as("ben"))).rejects.toThrow(/^404 /);
  await expect(SocketClient.open(url, thread, { authorization: "Bearer ben" })).rejects.toThrow("404");
  await expect(EventReader.open(url, thread, ALL)).rejects.toThrow(/^401 /);
  await expect(SocketClient.open(url, thread)).rejects.toThrow("401");
  for (const [method, params] of [
    ["run.start", { assistant_id: "agent", input }],
    ["input.respond", { interrupt_id: "x", response: 1 }],
    ["input.inject", { message: { role: "user", content: "x" } }],
    ["state.get", {}],
    ["state.listCheckpoints", {}],
    ["state.fork", { checkpoint_id: "x" }],
    ["agent.getTree", {}],
  ] as const) {
    expect((await command("ben", thread, method, params)).error).toBe("no_such_run");
  }
  expect(await server.sql`select 1 from runs where thread_id = ${thread}`).toHaveLength(1);
});

test("a stream opened at an id that another user then creates receives no events and ends", async () => {
  const thread = uuid7();
  const stream = await EventReader.open(url, thread, ALL, as("ben"));
  const socket = await SocketClient.open(url, thread, { authorization: "Bearer ben" });
  await socket.command("subscription.subscribe", ALL);
  await command("ann", thread, "run.start", { assistant_id: "agent", input });
  await vi.waitUntil(() => stream.ended && socket.closed, { timeout: 30_000 });
  expect([stream.events, socket.events, socket.closed?.code]).toEqual([[], [], 1008]);
});

test("a user sees no A2A tasks or MCP tools of other users", async () => {
  const rpc = (user: string, path: string, method: string, params: object = {}) =>
    ask(user, path, { jsonrpc: "2.0", id: 1, method, params }, "application/json, text/event-stream");
  const message = { role: "user", messageId: "1", parts: [{ kind: "text", text: "hi" }] };
  const sent = await rpc("ann", "/a2a/agent", "message/send", { message });
  const { id, contextId } = sent.result as { id: string; contextId: string };
  expect((await rpc("ann", "/a2a/agent", "tasks/list")).result).toMatchObject({ tasks: [{ id }] });
  expect((await rpc("ben", "/a2a/agent", "tasks/list")).result).toMatchObject({ tasks: [], totalSize: 0 });
  for (const method of ["tasks/get", "tasks/cancel"]) {
    expect((await rpc("ben", "/a2a/agent", method, { id })).error).toMatchObject({ code: -32001 });
  }
  for (const more of [{ taskId: id }, { contextId }]) {
    const { error } = await rpc("ben", "/a2a/agent", "message/send", { message: { ...message, ...more } });
    expect(error).toMatchObject({ code: expect.any(Number), message: expect.stringContaining("not found") });
  }

  const created = await fetch(`${url}/assistants`, {
    method: "POST",
    headers: as("ann"),
    body: JSON.stringify({ graph_id: "agent", name: "anns", description: "Answers ann." }),
  });
  const { assistant_id } = (await created.json()) as { assistant_id: string };
  const names = async (user: string) => {
    const { tools } = (await rpc(user, "/mcp", "tools/list")).result as { tools: { name: string }[] };
    return tools.map(({ name }) => name).toSorted();
  };
  expect(await names("ann")).toEqual(["agent", "anns", "resume_interrupted", "slow"]);
  expect(await names("ben")).toEqual(["agent", "resume_interrupted", "slow"]);
  const call = { name: "anns", arguments: input };
  expect((await rpc("ann", "/mcp", "tools/call", call)).result).toMatchObject({ isError: false });
  expect((await rpc("ben", "/mcp", "tools/call", call)).error).toMatchObject({ message: "Unknown tool: anns" });
  const card = `${url}/.well-known/agent-card.json?assistant_id=${assistant_id}`;
  expect((await fetch(card, { headers: as("ann") })).status).toBe(200);
  expect((await fetch(card, { headers: as("ben") })).status).toBe(404);
});
