/** A project's own Python code: auth handlers, an ASGI app, an embedding function. */
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../../../test/fixtures/python-code/${name}`, import.meta.url));
const python = { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! };
const [{ call, agent }, plain] = await Promise.all([
  testAgentServer(python, fixture("langgraph.json")),
  testAgentServer(python, fixture("plain.json")),
]);
const as =
  (user: string, more: Record<string, string> = {}) =>
  (method: string, path: string, body?: unknown) =>
    call(method, path, body, { authorization: `Bearer ${user}`, ...more });
const anna = as("anna");
const ben = as("ben");

test("authenticate accepts or rejects requests, with its own status, message and headers", async () => {
  const anonymous = await call("POST", "/threads/search", {});
  expect([anonymous.status, anonymous.text, anonymous.headers.get("www-authenticate")]).toEqual([
    401,
    "Who are you?",
    "Bearer",
  ]);
  expect((await as("broken")("POST", "/threads/search", {})).status).toBe(500);
  expect((await as("plain")("POST", "/threads/search", {})).status).toBe(200);
  expect((await call("GET", "/ok")).status).toBe(200);
});

test("handlers set metadata, and their filters decide who sees a thread", async () => {
  const { json: thread } = await anna("POST", "/threads", { metadata: { topic: "one" } });
  expect(thread.metadata).toEqual({ topic: "one", owner: "anna", changed: true });
  const path = `/threads/${thread.thread_id}`;
  expect((await anna("GET", path)).status).toBe(200);
  expect((await ben("GET", path)).status).toBe(404);
  const rejected = await as("ben", { "x-team": "readers" })("DELETE", path);
  expect([rejected.status, rejected.text]).toEqual([403, "Readers delete nothing"]);
  expect((await as("keeper")("DELETE", path)).status).toBe(403);
});

test("the user with all fields reaches graphs", async () => {
  const { json } = await as("anna", { "x-team": "blue" })("POST", "/runs/wait", {
    assistant_id: "agent",
    input: { messages: [] },
  });
  const seen = JSON.parse(json.messages.at(-1).content) as { user: object };
  expect(seen.user).toMatchObject({ identity: "anna", team: "blue", permissions: ["own"] });
});

test("store handlers change the namespace, and the embedding function finds similar items", async () => {
  for (const text of ["apple pie", "zzz"])
    expect((await anna("PUT", "/store/items", { namespace: ["notes"], key: text, value: { text } })).status).toBe(204);
  const found = await anna("POST", "/store/items/search", { namespace_prefix: [], query: "pie apple", limit: 1 });
  expect(found.json.items).toMatchObject([{ namespace: ["anna", "notes"], key: "apple pie" }]);
});

test("middleware of the app wraps the server's routes and can change bodies", async () => {
  const info = await call("GET", "/info");
  expect([info.status, info.headers.get("x-from-middleware")]).toEqual([200, "yes"]);
  expect(info.json.version).toBeDefined();
  const stopped = await call("GET", "/info?interrupt");
  expect([stopped.status, stopped.text]).toEqual([418, "interrupted"]);
});

test("streams of the server pass through middleware", async () => {
  const { text, status } = await anna("POST", "/runs/stream", { assistant_id: "agent", input: { messages: [] } });
  expect(status).toBe(200);
  expect(text).toContain("event: metadata");
  expect(text).toContain("event: values");
});

test("routes of the app are authenticated where the project says so, and know the caller", async () => {
  expect((await call("GET", "/custom/who")).status).toBe(401);
  expect((await anna("GET", "/custom/who")).json).toEqual({ identity: "anna" });
});

test("an app without middleware gets the requests of its routes only", async () => {
  const { call } = plain;
  const order = await call("POST", "/orders/7", { item: "tea" }, { "x-team": "blue" });
  expect(order.json).toEqual({ id: 7, item: "tea", count: 1, team: "blue" });
  expect((await call("POST", "/orders/seven", { item: "tea" })).status).toBe(422);
  expect((await call("GET", "/custom/state?a=1&b=%20")).json).toEqual({
    started: true,
    shared: "by lifespan",
    query: { a: "1", b: " " },
  });
  expect((await call("GET", "/runs/mine")).json).toBe("mine");
  expect((await call("GET", "/custom/reject")).json).toEqual({ detail: "not like this" });
  expect((await call("GET", "/custom/break")).status).toBe(500);
  expect((await call("GET", "/nowhere")).text).toBe("404 Not Found");
  const info = await call("GET", "/info");
  expect([info.status, info.headers.get("x-from-middleware")]).toEqual([200, null]);
  // FastAPI's documentation does not replace the server's
  expect((await call("GET", "/openapi.json")).json.paths["/threads"]).toBeDefined();
});

test("bodies stream in both directions", async () => {
  const app = createAgentApp(plain.agent.deps, openGuard);
  const response = await app.request("/custom/ticks");
  const arrivals: number[] = [];
  for await (const chunk of response.body!) if (chunk.length > 0) arrivals.push(performance.now());
  expect(arrivals.at(-1)! - arrivals[0]!).toBeGreaterThan(250);
  const flood = await app.request("/custom/flood");
  expect((await flood.arrayBuffer()).byteLength).toBe(100 * 65536);
  const sent = await createCaller(app)("POST", "/custom/size", "y".repeat(3_000_000));
  expect(sent.json).toEqual({ bytes: 3_000_000 });
});

test("code that ends its process fails its own requests only, and is started again", async () => {
  const { call } = plain;
  expect((await call("GET", "/custom/exit")).status).toBe(503);
  expect((await call("GET", "/info")).status).toBe(200);
  await expect.poll(async () => (await call("GET", "/custom/state")).status).toBe(200);
  expect(agent.deps.python.ready).not.toBeNull();
});
