import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const { call, sql } = await testAgentServer();
const BOTH = { Accept: "application/json, text/event-stream" };
const rpc = async (method: string, params?: object) =>
  (await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method, params }, BOTH)).json;

test("negotiates the client's version when it is known, else the newest", async () => {
  for (const [requested, negotiated] of [
    ["2024-11-05", "2024-11-05"],
    ["2025-06-18", "2025-06-18"],
    ["1999-01-01", "2025-11-25"],
  ]) {
    expect(await rpc("initialize", { protocolVersion: requested })).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      result: { protocolVersion: negotiated, serverInfo: { name: "heddle" }, capabilities: { tools: {} } },
    });
  }
});

test("each assistant is a tool with a unique name, even when its graph does not load", async () => {
  const created: { assistant_id: string }[] = [];
  for (const name of ["trail", "Écrit à la main", "same", "same"]) {
    created.push((await call("POST", "/assistants", { graph_id: "trail", name, description: `about ${name}` })).json);
  }
  const { tools } = (await rpc("tools/list")).result;
  const names = tools.map(({ name }: { name: string }) => name);
  expect(names.pop()).toBe("resume_interrupted");
  const ending = (i: number) => created[i]!.assistant_id.slice(-12);
  expect(names.slice(-4)).toEqual([`trail_${ending(0)}`, "_crit_la_main", "same", `same_${ending(3)}`]);
  expect(new Set(names).size).toBe(names.length);
  expect(tools.find(({ name }: { name: string }) => name === "trail")).toMatchObject({
    description: "Notes each step.",
    inputSchema: { type: "object", properties: { topic: expect.anything() } },
  });
  expect(tools.find(({ name }: { name: string }) => name === "broken")).toEqual({
    name: "broken",
    inputSchema: { type: "object" },
  });
});

test("a call is a stateless run that returns its values as text, and a failure is a tool error", async () => {
  const called = await rpc("tools/call", { name: "trail", arguments: { topic: "tea" } });
  const [{ type, text }] = called.result.content;
  expect([called.result.isError, type, JSON.parse(text)]).toEqual([
    false,
    "text",
    { topic: "tea", log: ["first:tea", "second"] },
  ]);
  expect(await sql`select 1 from runs where status <> 'success' or temporary`).toHaveLength(0);
  const config = { recursion_limit: 1 };
  await call("POST", "/assistants", { graph_id: "trail", name: "hasty", description: "Fails.", config });
  const failed = await rpc("tools/call", { name: "hasty", arguments: { topic: "tea" } });
  expect(failed.result.content[0].text).toMatch(/^GraphRecursionError: /);
  expect(failed.result.isError).toBe(true);
});

test("lists the assistants that are meant to be tools", async () => {
  const create = (name: string, more: object = {}) =>
    call("POST", "/assistants", { graph_id: "trail", name, ...more }).then(({ json }) => json.assistant_id as string);
  await call("POST", "/assistants", { graph_id: "trail" });
  await create("throwaway");
  await create("described", { description: "Does something." });
  await create("marked", { metadata: { mcp: true } });
  await create("hidden", { description: "Not a tool.", metadata: { mcp: false } });
  const reserved = await create("resume_interrupted", { description: "Has a reserved name." });
  const { tools } = (await rpc("tools/list")).result;
  const names: string[] = tools.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["trail", "ask", "described", "marked"]));
  expect(names.filter((name) => /throwaway|hidden|Untitled/.test(name))).toEqual([]);
  expect(names.filter((name) => name.startsWith("resume_"))).toEqual([
    `resume_interrupted_${reserved.slice(-12)}`,
    "resume_interrupted",
  ]);
  expect((await rpc("tools/call", { name: "throwaway", arguments: {} })).error.code).toBe(-32602);
});

test("an interrupted call returns its questions, and resume_interrupted continues it", async () => {
  const { result } = await rpc("tools/call", { name: "ask", arguments: { topic: "tea" } });
  expect(result).toMatchObject({
    isError: false,
    structuredContent: { status: "interrupted", interrupts: [{ value: { about: "tea" } }] },
  });
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
  const { thread_id } = result.structuredContent;
  expect((await call("GET", `/threads/${thread_id}?include=ttl`)).json).toMatchObject({
    status: "interrupted",
    ttl: { strategy: "delete", ttl: 1440 },
  });
  const resume = (args: object) => rpc("tools/call", { name: "resume_interrupted", arguments: args });
  expect((await resume({ thread_id })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("answer"),
  });
  expect((await resume({ thread_id, answers: { [`${"0".repeat(32)}`]: 1 } })).error).toMatchObject({ code: -32602 });
  const continued = (await resume({ thread_id, answer: "yes" })).result;
  expect([continued.isError, JSON.parse(continued.content[0].text)]).toEqual([
    false,
    { topic: "tea", log: ["answer:yes"] },
  ]);
  // as after every call, nothing is left
  expect((await call("GET", `/threads/${thread_id}`)).status).toBe(404);
  expect((await resume({ thread_id, answer: "yes" })).error).toMatchObject({ code: -32602 });
  expect((await resume({ thread_id: "x", answer: "yes" })).error).toMatchObject({ code: -32602 });
});

test("a call returns its questions when one branch asks and another finishes later", async () => {
  const { result } = await rpc("tools/call", { name: "branches", arguments: { topic: "tea" } });
  expect(result).toMatchObject({
    isError: false,
    structuredContent: { status: "interrupted", interrupts: [{ value: { about: "tea" } }] },
  });
  const { thread_id } = result.structuredContent;
  const resumed = await rpc("tools/call", { name: "resume_interrupted", arguments: { thread_id, answer: "yes" } });
  expect(JSON.parse(resumed.result.content[0].text)).toEqual({ topic: "tea", log: ["beside", "answer:yes"] });
});

test("resume_interrupted never continues, nor deletes, a thread that is not a tool's", async () => {
  const { thread_id } = (await call("POST", "/threads", {})).json;
  await call("POST", `/threads/${thread_id}/runs/wait`, { assistant_id: "ask", input: { topic: "tea" } });
  const { error } = await rpc("tools/call", { name: "resume_interrupted", arguments: { thread_id, answer: "yes" } });
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("no interrupted call") });
  expect((await call("GET", `/threads/${thread_id}`)).json.status).toBe("interrupted");
});

test("returns lists in pages", async () => {
  await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      call("POST", "/assistants", { graph_id: "trail", name: `many ${i}`, description: "one" }),
    ),
  );
  const first = (await rpc("tools/list")).result;
  expect(first.tools).toHaveLength(50);
  const second = (await rpc("tools/list", { cursor: first.nextCursor })).result;
  expect(second.nextCursor).toBeUndefined();
  const names = [...first.tools, ...second.tools].map(({ name }: { name: string }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect((await rpc("tools/list", { cursor: "x" })).error.code).toBe(-32602);
});

test("rejects invalid requests with JSON-RPC error codes", async () => {
  const post = async (body: unknown, headers: Record<string, string> = BOTH) => {
    const { status, json } = await call("POST", "/mcp", body, headers);
    return [status, json?.error?.code];
  };
  const message = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect(await post(message)).toEqual([200, undefined]);
  expect(await post("{")).toEqual([400, -32700]);
  expect(await post([message])).toEqual([400, -32600]);
  expect(await post({ id: 1, method: "ping" })).toEqual([400, -32600]);
  expect(await post({ jsonrpc: "2.0", id: 1 })).toEqual([400, -32600]);
  expect(await post({ jsonrpc: "2.0", id: {}, method: "ping" })).toEqual([400, -32600]);
  expect(await post(message, { Accept: "application/json" })).toEqual([400, -32600]);
  expect(await post(message, { ...BOTH, "MCP-Protocol-Version": "1999" })).toEqual([400, -32022]);
  expect(await post({ ...message, method: "resources/list" })).toEqual([200, -32601]);
  expect(await post({ ...message, method: "initialize" })).toEqual([200, -32602]);
  const calls = { ...message, method: "tools/call" };
  expect(await post({ ...calls, params: { name: "nothing" } })).toEqual([200, -32602]);
  expect(await post({ ...calls, params: { name: "trail", arguments: [] } })).toEqual([200, -32602]);
  expect(await post({ jsonrpc: "2.0", method: "notifications/initialized" })).toEqual([202, undefined]);
  expect(await post({ jsonrpc: "2.0", id: 7, result: {} })).toEqual([202, undefined]);
  const get = await call("GET", "/mcp/", undefined, BOTH);
  expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  expect((await call("DELETE", "/mcp")).status).toBe(404);
});
