import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { systemAssistantId } from "../project/assistant-id.ts";
import { registerSystemAssistants } from "./register-system-assistants.ts";

const { agent, call, sql } = await testAgentServer({
  LANGGRAPH_CONFIG: '{"ask":{"configurable":{"model":"small"},"context":{"user":"u1"}}}',
});
const UNKNOWN = "00000000-0000-0000-0000-000000000000";

const create = async (body: object = {}) => (await call("POST", "/assistants", { graph_id: "trail", ...body })).json;

test("each declared graph has a default assistant, seeded by LANGGRAPH_CONFIG, which a second registration keeps", async () => {
  const { json } = await call("GET", "/assistants/trail");
  expect(json).toMatchObject({
    assistant_id: systemAssistantId("trail"),
    graph_id: "trail",
    name: "trail",
    description: "Notes each step.",
    config: {},
    context: {},
    metadata: { created_by: "system" },
    version: 1,
  });
  await call("PATCH", "/assistants/ask", { name: "renamed" });
  await registerSystemAssistants(agent.deps);
  expect((await call("GET", "/assistants/ask")).json).toMatchObject({
    name: "renamed",
    version: 2,
    config: { configurable: { model: "small" } },
    context: { user: "u1" },
  });
});

test("an unedited default assistant takes the project's LANGGRAPH_CONFIG at each start, an edited one does not", async () => {
  const start = (seeds: object) =>
    registerSystemAssistants({
      ...agent.deps,
      settings: { ...agent.deps.settings, langgraphConfig: undefined },
      project: { ...agent.deps.project, env: { LANGGRAPH_CONFIG: JSON.stringify(seeds) } },
    });
  const seed = (model: string) => ({ configurable: { model }, context: { model } });
  await start({ trail: seed("large"), ask: seed("large") });
  const expected = { version: 1, config: { configurable: { model: "large" } }, context: { model: "large" } };
  expect((await call("GET", "/assistants/trail")).json).toMatchObject(expected);
  const [version] = (await call("POST", "/assistants/trail/versions", {})).json;
  expect(version).toMatchObject(expected);
  expect((await call("GET", "/assistants/ask")).json).toMatchObject({ config: { configurable: { model: "small" } } });
  await start({});
  expect((await call("GET", "/assistants/trail")).json).toMatchObject({ version: 1, config: {}, context: {} });
});

test("returns an assistant as it was sent, config null too, with its first version", async () => {
  const sent = { name: "A", description: "d", metadata: { a: 1 }, context: { k: 1 } };
  const created = await create({ ...sent, config: { tags: ["t"], recursion_limit: 7, own: true } });
  expect(created).toMatchObject({
    ...sent,
    graph_id: "trail",
    version: 1,
    config: { tags: ["t"], recursion_limit: 7, own: true },
  });
  expect(new Date(created.created_at).getTime()).toBeGreaterThan(Date.now() - 60_000);
  expect((await call("GET", `/assistants/${created.assistant_id}`)).json).toEqual(created);
  expect((await call("POST", `/assistants/${created.assistant_id}/versions`, {})).json).toEqual([
    Object.fromEntries(Object.entries(created).filter(([key]) => key !== "updated_at")),
  ]);

  const bare = await create({ config: null });
  expect(bare).toMatchObject({ name: "Untitled", description: null, config: null, context: {}, metadata: {} });
  const patched = await call("PATCH", `/assistants/${bare.assistant_id}`, { config: { x: 1 } });
  expect(patched.json.config).toEqual({ x: 1 });
  expect((await call("PATCH", `/assistants/${bare.assistant_id}`, { config: null })).json.config).toBe(null);
});

test("rejects a duplicate id, or returns the existing assistant", async () => {
  const { assistant_id } = await create({ name: "first" });
  const again = await call("POST", "/assistants", { graph_id: "trail", assistant_id, name: "second" });
  expect([again.status, again.text]).toEqual([409, "Assistant already exists"]);
  const existing = await call("POST", "/assistants", {
    graph_id: "trail",
    assistant_id,
    name: "second",
    if_exists: "do_nothing",
  });
  expect([existing.status, existing.json.name]).toEqual([200, "first"]);
});

test("rejects invalid requests with a 4xx status", async () => {
  const status = async (method: string, path: string, body?: unknown) => (await call(method, path, body)).status;
  expect(await status("POST", "/assistants", { graph_id: "nowhere" })).toBe(404);
  expect(await status("POST", "/assistants", {})).toBe(422);
  expect(await status("POST", "/assistants", { graph_id: "trail", assistant_id: "x" })).toBe(422);
  expect(await status("POST", "/assistants", { graph_id: "trail", metadata: [] })).toBe(422);
  expect(await status("POST", "/assistants", { graph_id: "trail", if_exists: "maybe" })).toBe(422);
  expect(await status("POST", "/assistants", "{")).toBe(400);
  expect(await status("POST", "/assistants/search", { limit: 0 })).toBe(422);
  expect(await status("POST", "/assistants/search", { limit: 1001 })).toBe(422);
  expect(await status("POST", "/assistants/search", { offset: 3e9 })).toBe(422);
  expect(await status("POST", "/assistants/search", { select: ["password"] })).toBe(422);
  expect(await status("POST", "/assistants/search", { sort_by: "config" })).toBe(422);
  expect(await status("GET", "/assistants/a%00b")).toBe(400);
  for (const id of [UNKNOWN, "nobody", "%27"]) {
    expect(await status("GET", `/assistants/${id}`)).toBe(404);
    expect(await status("PATCH", `/assistants/${id}`, {})).toBe(404);
    expect(await status("DELETE", `/assistants/${id}`)).toBe(404);
    expect(await status("POST", `/assistants/${id}/versions`, {})).toBe(404);
    expect(await status("POST", `/assistants/${id}/latest`, { version: 1 })).toBe(404);
    expect(await status("GET", `/assistants/${id}/schemas`)).toBe(404);
  }
  expect((await call("GET", `/assistants/${UNKNOWN}`)).text).toBe("Assistant not found");
  expect((await call("POST", "/assistants/trail/latest", { version: 99 })).text).toBe("Assistant version not found");
  expect(await status("POST", "/assistants/trail/latest", { version: 3e9 })).toBe(422);
});

test("a patch merges metadata, replaces the rest and creates a version, also when it is empty", async () => {
  const { assistant_id } = await create({ metadata: { a: 1, b: 1 }, config: { tags: ["x"] }, description: "d" });
  const { json } = await call("PATCH", `/assistants/${assistant_id}`, {
    metadata: { b: 2 },
    config: {},
    description: null,
  });
  expect(json).toMatchObject({ version: 2, metadata: { a: 1, b: 2 }, config: {}, description: null, name: "Untitled" });
  expect((await call("PATCH", `/assistants/${assistant_id}`, {})).json.version).toBe(3);
});

test("concurrent patches get one version each", async () => {
  const { assistant_id } = await create();
  const patches = Array.from({ length: 20 }, (_, i) =>
    call("PATCH", `/assistants/${assistant_id}`, { metadata: { [`k${i}`]: i } }),
  );
  const versions = (await Promise.all(patches)).map((response) => response.json.version as number);
  expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 2));
  const { json } = await call("GET", `/assistants/${assistant_id}`);
  expect(Object.keys(json.metadata)).toHaveLength(20);
});

test("restores an earlier version completely, and numbers the next patch after the highest version", async () => {
  const { assistant_id } = await create({
    name: "one",
    config: { a: 1 },
    context: { c: 1 },
    description: "d1",
    metadata: { m: 1 },
  });
  await call("PATCH", `/assistants/${assistant_id}`, {
    name: "two",
    graph_id: "ask",
    config: {},
    context: null,
    description: "d2",
  });
  const { json } = await call("POST", `/assistants/${assistant_id}/latest`, { version: 1 });
  expect(json).toMatchObject({
    version: 1,
    name: "one",
    graph_id: "trail",
    config: { a: 1 },
    context: { c: 1 },
    description: "d1",
    metadata: { m: 1 },
  });
  expect((await call("PATCH", `/assistants/${assistant_id}`, {})).json.version).toBe(3);
  const { json: versions } = await call("POST", `/assistants/${assistant_id}/versions`, { limit: 2 });
  expect(versions.map((version: { version: number }) => version.version)).toEqual([3, 2]);
});

test("search filters, sorts, pages and selects fields, and count agrees with it", async () => {
  for (const [i, name] of ["Pear 100%", "apple", "Peach"].entries()) {
    await create({ name, graph_id: i === 1 ? "ask" : "trail", metadata: { fruit: true, at: { i } } });
  }
  const names = async (body: object) =>
    (await call("POST", "/assistants/search", { metadata: { fruit: true }, ...body })).json.map(
      (item: { name: string }) => item.name,
    );
  expect(await names({})).toEqual(["Peach", "apple", "Pear 100%"]);
  expect(await names({ sort_by: "name", sort_order: "asc", name: "PEA" })).toEqual(["Peach", "Pear 100%"]);
  expect(await names({ name: "0%" })).toEqual(["Pear 100%"]);
  expect(await names({ graph_id: "ask" })).toEqual(["apple"]);
  expect(await names({ metadata: { at: { i: 2 } } })).toEqual(["Peach"]);
  expect(await names({ metadata: { none: null } })).toEqual([]);
  expect((await call("POST", "/assistants/count", { metadata: { fruit: true }, name: "pea" })).json).toBe(2);

  const page = await call("POST", "/assistants/search", {
    metadata: { fruit: true },
    limit: 1,
    offset: 1,
    select: ["name", "version"],
  });
  expect(page.json).toEqual([{ name: "apple", version: 1 }]);
  expect(page.headers.get("X-Pagination-Total")).toBe("3");
  expect(page.headers.get("X-Pagination-Next")).toBe("2");
  const beyond = await call("POST", "/assistants/search", { metadata: { fruit: true }, offset: 5 });
  expect([beyond.json, beyond.headers.get("X-Pagination-Total"), beyond.headers.get("X-Pagination-Next")]).toEqual([
    [],
    "3",
    null,
  ]);
});

test("deleting an assistant ends its runs and keeps their threads by default", async () => {
  const { assistant_id } = await create({ graph_id: "slow" });
  const { json: thread } = await call("POST", "/threads", {});
  const { json: run } = await call("POST", `/threads/${thread.thread_id}/runs`, { assistant_id, input: {} });
  const later = { assistant_id, input: {}, after_seconds: 600 };
  await call("POST", `/threads/${thread.thread_id}/runs`, later);
  const deleted = await call("DELETE", `/assistants/${assistant_id}`);
  expect([deleted.status, deleted.json]).toEqual([200, [assistant_id]]);
  expect((await call("GET", `/assistants/${assistant_id}`)).status).toBe(404);
  expect((await call("GET", `/threads/${thread.thread_id}/runs/${run.run_id}`)).status).toBe(404);
  expect((await call("GET", `/threads/${thread.thread_id}`)).json.status).not.toBe("busy");
  expect(await sql`select 1 from assistant_versions where assistant_id = ${assistant_id}`).toHaveLength(0);
  // the thread can be used again
  const next = await call("POST", `/threads/${thread.thread_id}/runs/wait`, {
    assistant_id: "trail",
    input: { topic: "t" },
  });
  expect(next.json.log).toEqual(["first:t", "second"]);
});

test("delete_threads deletes the threads of the assistant and no others", async () => {
  const { assistant_id } = await create();
  const { json: mine } = await call("POST", "/threads", { metadata: { assistant_id } });
  const { json: other } = await call("POST", "/threads", { metadata: { assistant_id: UNKNOWN } });
  expect((await call("DELETE", `/assistants/${assistant_id}?delete_threads=true`)).status).toBe(200);
  expect((await call("GET", `/threads/${mine.thread_id}`)).status).toBe(404);
  expect((await call("GET", `/threads/${other.thread_id}`)).status).toBe(200);
});

test("draws and describes a graph, and returns 422 with the reason for one that did not load", async () => {
  const { json: drawing } = await call("GET", "/assistants/trail/graph");
  expect(drawing.nodes.map((node: { id: string }) => node.id)).toEqual(
    expect.arrayContaining(["__start__", "first", "second"]),
  );
  const { json: schemas } = await call("GET", "/assistants/trail/schemas");
  expect(schemas).toMatchObject({ graph_id: "trail", input_schema: expect.any(Object) });
  const ids = async (query: string) =>
    (await call("GET", `/assistants/pair/graph${query}`)).json.nodes.map((node: { id: string }) => node.id);
  expect(await ids("")).toContain("child");
  expect(await ids("?xray=true")).toEqual(expect.arrayContaining(["child:first", "child:second"]));
  expect(await ids("?xray=no")).toContain("child");
  expect(Object.keys((await call("GET", "/assistants/nested/subgraphs?recurse=true")).json)).toEqual(["child"]);
  const broken = await call("GET", "/assistants/broken/schemas");
  expect([broken.status, broken.text]).toEqual([422, expect.stringContaining("missing")]);
});
