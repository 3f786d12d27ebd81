import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sdks } from "./clients.ts";
import { has } from "./features.ts";
import { UNKNOWN_ID } from "./frames.ts";
import { request } from "./http.ts";

type JsonSchema = { properties: Record<string, unknown> };

const AGENT_ID = "fe096781-5601-53d2-b2f6-0d3403f7e9ca";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe.each(sdks)("assistants over SDK $sdk", ({ client }) => {
  test("each graph has a system assistant whose id is derived from the graph's", async () => {
    const assistant = await client.assistants.get(AGENT_ID);
    expect(assistant).toMatchObject({ assistant_id: AGENT_ID, graph_id: "agent", name: "agent", version: 1 });
    expect(assistant.metadata).toMatchObject({ created_by: "system" });
  });

  test("a path accepts a graph id in place of the system assistant's id", async () => {
    expect((await client.assistants.get("agent")).assistant_id).toBe(AGENT_ID);
  });

  test("a created assistant has the documented defaults and can be read back", async () => {
    const created = await client.assistants.create({ graphId: "agent" });
    expect(created.assistant_id).toMatch(UUID);
    expect(created).toMatchObject({ graph_id: "agent", name: "Untitled", version: 1, config: {}, metadata: {} });
    expect(new Date(created.created_at).getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(await client.assistants.get(created.assistant_id)).toEqual(created);
  });

  test("a created assistant keeps the given fields", async () => {
    const given = {
      graphId: "echo",
      assistantId: randomUUID(),
      name: "Given",
      description: "All fields",
      config: { tags: ["t"], recursion_limit: 9, configurable: { model: "m" } },
      context: { tone: "dry" },
      metadata: { team: "blue" },
    };
    const created = await client.assistants.create(given);
    expect(created).toMatchObject({
      assistant_id: given.assistantId,
      name: "Given",
      description: "All fields",
      config: given.config,
      context: given.context,
      metadata: given.metadata,
    });
  });

  test("creating an assistant twice is a conflict, or returns the existing one with do_nothing", async () => {
    const assistantId = randomUUID();
    await client.assistants.create({ graphId: "agent", assistantId, name: "first" });
    await expect(client.assistants.create({ graphId: "agent", assistantId })).rejects.toThrow(
      "HTTP 409: Assistant already exists",
    );
    const again = await client.assistants.create({
      graphId: "agent",
      assistantId,
      name: "2nd",
      ifExists: "do_nothing",
    });
    expect(again.name).toBe("first");
  });

  test("an unknown assistant is not found", async () => {
    await expect(client.assistants.get(UNKNOWN_ID)).rejects.toThrow("HTTP 404: Assistant not found");
    await expect(client.assistants.get("no-such-graph")).rejects.toThrow("HTTP 404: Assistant not found");
  });

  test("an update merges metadata, replaces other fields and creates a version", async () => {
    const { assistant_id } = await client.assistants.create({
      graphId: "agent",
      config: { configurable: { a: 1, b: 2 } },
      metadata: { keep: 1, change: 1 },
    });
    const updated = await client.assistants.update(assistant_id, {
      name: "Renamed",
      config: { configurable: { a: 3 } },
      metadata: { change: 2 },
    });
    expect(updated).toMatchObject({ name: "Renamed", version: 2, metadata: { keep: 1, change: 2 } });
    expect(updated.config).toEqual({ configurable: { a: 3 } });
    expect((await client.assistants.update(assistant_id, {})).version).toBe(3);
  });

  test("versions are listed newest first, and an older one can be made the latest", async () => {
    const { assistant_id } = await client.assistants.create({
      graphId: "echo",
      name: "v1",
      description: "one",
      context: { tone: "one" },
    });
    await client.assistants.update(assistant_id, { name: "v2", description: "two", context: { tone: "two" } });
    const versions = await client.assistants.getVersions(assistant_id);
    expect(versions.map((version) => [version.version, version.name])).toEqual([
      [2, "v2"],
      [1, "v1"],
    ]);
    expect(await client.assistants.setLatest(assistant_id, 1)).toMatchObject({ version: 1, name: "v1" });
    expect(await client.assistants.get(assistant_id)).toMatchObject({ version: 1, name: "v1" });
    expect((await client.assistants.update(assistant_id, { name: "v3" })).version).toBe(3);
    expect(await client.assistants.getVersions(assistant_id, { limit: 1, offset: 1 })).toMatchObject([{ version: 2 }]);
  });

  // The JavaScript dev server restores neither context nor description nor graph.
  test("an older version is restored with all its fields", async () => {
    const { assistant_id } = await client.assistants.create({
      graphId: "echo",
      description: "1",
      context: { tone: "1" },
    });
    await client.assistants.update(assistant_id, { graphId: "agent", description: "2", context: { tone: "2" } });
    const restored = await client.assistants.setLatest(assistant_id, 1);
    expect(restored).toMatchObject({ graph_id: "echo", description: "1", context: { tone: "1" } });
  });

  test("an unknown version cannot be made the latest", async () => {
    const { assistant_id } = await client.assistants.create({ graphId: "agent" });
    await expect(client.assistants.setLatest(assistant_id, 7)).rejects.toThrow("HTTP 404: Assistant version not found");
  });

  test("search filters by graph, name and metadata, in pages", async () => {
    const mark = randomUUID();
    for (const name of ["Alpha", "Beta", "Gamma"]) {
      await client.assistants.create({ graphId: name === "Gamma" ? "echo" : "agent", name, metadata: { mark } });
    }
    const names = async (query: object) =>
      (await client.assistants.search({ metadata: { mark }, ...query })).map((assistant) => assistant.name);
    expect(await names({})).toEqual(["Gamma", "Beta", "Alpha"]);
    expect(await names({ graphId: "agent" })).toEqual(["Beta", "Alpha"]);
    expect(await names({ name: "ALPH" })).toEqual(["Alpha"]);
    expect(await names({ limit: 1, offset: 1 })).toEqual(["Beta"]);
    expect(await client.assistants.count({ metadata: { mark } })).toBe(3);
    expect(await client.assistants.count({ metadata: { mark }, graphId: "echo" })).toBe(1);
    expect(await client.assistants.count({ metadata: { mark }, name: "beta" })).toBe(1);
    const [selected] = await client.assistants.search({ metadata: { mark }, select: ["name", "graph_id"] });
    expect(selected).toEqual({ name: "Gamma", graph_id: "echo" });
  });

  // The JavaScript dev server ignores the sort order of assistants.
  test("search sorts by the requested field", async () => {
    const mark = randomUUID();
    for (const name of ["b", "a", "c"]) await client.assistants.create({ graphId: "agent", name, metadata: { mark } });
    const found = await client.assistants.search({ metadata: { mark }, sortBy: "name", sortOrder: "asc" });
    expect(found.map((assistant) => assistant.name)).toEqual(["a", "b", "c"]);
  });

  // The JavaScript dev server forgets the next offset unless the page ends exactly at the last match.
  test("search with pagination returns the next offset", async () => {
    const mark = randomUUID();
    for (const name of ["a", "b", "c"]) await client.assistants.create({ graphId: "agent", name, metadata: { mark } });
    const page = await client.assistants.search({ metadata: { mark }, limit: 2, includePagination: true });
    expect(page).toMatchObject({ assistants: [{ name: "c" }, { name: "b" }], next: "2" });
  });

  test("a deleted assistant is gone, and its threads too on request", async () => {
    const { assistant_id } = await client.assistants.create({ graphId: "counter" });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, assistant_id, { input: { add: 1 } });
    await client.assistants.delete(assistant_id, { deleteThreads: true });
    await expect(client.assistants.get(assistant_id)).rejects.toThrow("HTTP 404");
    await expect(client.threads.get(thread_id)).rejects.toThrow("HTTP 404");
    await expect(client.assistants.delete(assistant_id)).rejects.toThrow("HTTP 404");
  });

  test("threads of a deleted assistant stay by default", async () => {
    const { assistant_id } = await client.assistants.create({ graphId: "counter" });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, assistant_id, { input: { add: 1 } });
    await client.assistants.delete(assistant_id);
    expect((await client.threads.get(thread_id)).values).toMatchObject({ total: 2 });
  });

  test("the drawable graph has nodes and edges", async () => {
    const graph = await client.assistants.getGraph("nested");
    expect(graph.nodes.map((node) => node.id).sort()).toEqual(["__end__", "__start__", "child", "enter"]);
    expect(graph.edges).toContainEqual(expect.objectContaining({ source: "enter", target: "child" }));
  });

  test.runIf(has("nested drawings"))("the drawable graph has nested nodes on request", async () => {
    const xray = await client.assistants.getGraph("nested", { xray: true });
    expect(xray.nodes.map((node) => node.id)).toEqual(expect.arrayContaining(["enter", "child:before"]));
  });

  test("the drawable graph marks conditional edges", async () => {
    const { edges } = await client.assistants.getGraph("agent");
    expect(edges).toContainEqual(expect.objectContaining({ source: "model", target: "tools", conditional: true }));
  });

  test("schemas are JSON schemas of the graph's state, input and output", async () => {
    const schemas = await client.assistants.getSchemas("counter");
    expect(schemas.graph_id).toBe("counter");
    for (const schema of [schemas.state_schema, schemas.input_schema, schemas.output_schema]) {
      expect(Object.keys(schema!.properties!).sort()).toEqual(["add", "total", "trail"]);
    }
  });

  test.runIf(has("schemas of zod") && has("contexts of a schema library"))(
    "types of a schema library are the graph's schemas, and check its input",
    async () => {
      const { input_schema: schema, ...others } = await client.assistants.getSchemas("typed");
      expect(schema).toMatchObject({ properties: { add: expect.anything(), total: { type: expect.any(String) } } });
      const context = (others as { context_schema?: JsonSchema }).context_schema;
      expect(context).toMatchObject({ properties: { factor: { default: 2 } } });
      const values = await client.runs.wait(null, "typed", { input: { add: 3 }, context: { factor: 5 } });
      expect(values).toMatchObject({ total: 15 });
    },
  );

  test("context has the schema that the graph was built with", { timeout: 120_000 }, async () => {
    // the server may still be reading the types of the source
    const names = async () => {
      const schemas = (await client.assistants.getSchemas("echo")) as unknown as Record<string, JsonSchema | null>;
      return Object.keys((schemas["context_schema"] ?? schemas["config_schema"])!.properties);
    };
    await expect.poll(names, { timeout: 110_000 }).toEqual(["tone", "model"]);
  });

  test("subgraphs are listed by namespace, recursively on request", async () => {
    expect(Object.keys(await client.assistants.getSubgraphs("nested"))).toEqual(["child"]);
    const all = await client.assistants.getSubgraphs("nested", { recurse: true });
    expect(Object.keys(all).sort()).toEqual(["child", "child|grandchild"]);
    expect(Object.keys(await client.assistants.getSubgraphs("nested", { namespace: "child" }))).toEqual(["child"]);
  });

  test("an assistant's config and context are the defaults of its runs", async () => {
    const { assistant_id } = await client.assistants.create({
      graphId: "echo",
      config: { tags: ["from-assistant"], configurable: { flavour: "assistant", other: "kept" } },
      context: { tone: "dry", model: "small" },
      metadata: { owner: "assistant" },
    });
    const values = (await client.runs.wait(null, assistant_id, {
      input: { input: 1 },
      context: { model: "large" },
    })) as { seen: { context: object; configurable: object } };
    expect(values.seen.context).toEqual(has("context") ? { tone: "dry", model: "large" } : null);
    expect(values.seen.configurable).toMatchObject({ flavour: "assistant", other: "kept", assistant_id });
  });
});

describe("assistants over HTTP", () => {
  // The JavaScript dev server answers {} to a null config.
  test("a null config is accepted and returned as null", async () => {
    const { status, json } = await request("POST", "/assistants", { graph_id: "agent", config: null });
    expect(status).toBe(200);
    expect(json.config).toBeNull();
    expect((await request("GET", `/assistants/${json.assistant_id}`)).json.config).toBeNull();
  });

  // The JavaScript dev server accepts any graph id.
  test("rejects an assistant of an unknown graph", async () => {
    expect((await request("POST", "/assistants", { graph_id: "no-such-graph" })).status).toBe(404);
  });

  test("search returns the number of matches and the next offset", async () => {
    const mark = randomUUID();
    for (const name of ["a", "b", "c"])
      await request("POST", "/assistants", { graph_id: "agent", name, metadata: { mark } });
    const first = await request("POST", "/assistants/search", { metadata: { mark }, limit: 2 });
    expect([first.headers.get("x-pagination-total"), first.headers.get("x-pagination-next")]).toEqual(["3", "2"]);
    const last = await request("POST", "/assistants/search", { metadata: { mark }, limit: 2, offset: 2 });
    expect([last.headers.get("x-pagination-total"), last.headers.get("x-pagination-next")]).toEqual(["3", null]);
  });
});
