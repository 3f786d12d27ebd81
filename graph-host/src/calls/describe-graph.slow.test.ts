import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HostProcess } from "../../test/host-process.ts";

const TYPES_MS = 300_000;
type Schemas = Record<string, { properties: object; required?: string[] }>;

let host: HostProcess;
beforeAll(async () => {
  host = await HostProcess.start("agents", {
    zod: "./schemas.ts:zod",
    annotated: "./schemas.ts:annotated",
    nested: "./human.ts:nested",
    declared: "./declared.ts:declared",
    official_zod: "./official.ts:zod",
    official_zod_split: "./official.ts:zodSplit",
    official_zod_messages: "./official.ts:zodMessages",
    official_state_schema: "./official.ts:stateSchema",
    official_annotated: "./official.ts:annotated",
  });
});
afterAll(() => host.stop());

/** Repeats a call until the schemas come from the source: on a busy machine, a first one does not wait for them. */
const untilTyped = (read: () => Promise<Schemas>): Promise<Schemas> =>
  vi.waitUntil(
    async () => {
      const schemas = await read();
      return schemas["output_schema"]!.required && schemas;
    },
    { timeout: TYPES_MS, interval: 200 },
  ) as Promise<Schemas>;

test("a zod state has zod's schemas, extras included", async () => {
  const schemas = await host.call("graph.schemas", { graph_id: "zod", config: {} });
  expect(schemas).toMatchObject({
    graph_id: "zod",
    output_schema: { properties: { topic: { type: "string" }, tags: { type: "array", langgraph_type: "prompt" } } },
    config_schema: { properties: { model: { type: "string" } } },
  });
  expect(Object.keys(schemas)).toEqual(
    "graph_id input_schema output_schema state_schema config_schema context_schema".split(" "),
  );
});

test(
  "derives the schemas of an annotated state from its messages and default values",
  { timeout: TYPES_MS },
  async () => {
    const { input_schema } = await host.call("graph.schemas", { graph_id: "annotated", config: {} });
    type Properties = Record<string, { items: { type?: string; $ref?: string } }>;
    const { messages, ...others } = (input_schema as Schemas[string]).properties as Properties;
    expect(input_schema).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", type: "object" });
    expect(others).toMatchObject({ count: { type: "number" }, anything: {} });
    // without, and with the types of the source
    const $ref = "#/definitions/BaseMessage<MessageStructure<MessageToolSet>,MessageType>";
    const { items } = messages!;
    expect(["object", $ref]).toContain(items.$ref ?? items.type);
  },
);

test("reads the types of an annotated state from its source, of its subgraphs too", { timeout: TYPES_MS }, async () => {
  const read = () => host.call("graph.schemas", { graph_id: "declared", config: {} }) as Promise<Schemas>;
  const schemas = await untilTyped(read);
  const properties = {
    topic: { type: "string", description: "What to write about." },
    kind: { type: "string", enum: ["long", "short"] },
    scores: { type: "array", items: { type: "number" } },
    options: {
      type: "object",
      properties: { deep: { type: "boolean" }, until: { type: "string", format: "date-time" } },
      required: ["deep"],
    },
    byName: { type: "object", properties: {}, additionalProperties: { type: "number" } },
    next: { anyOf: [{ type: "number" }, { type: "null" }] },
    anything: {},
    messages: { type: "array", langgraph_type: "messages" },
  };
  const $schema = "http://json-schema.org/draft-07/schema#";
  expect(schemas["state_schema"]).toMatchObject({ $schema, type: "object", properties });
  expect(schemas["config_schema"]).toHaveProperty("$schema", $schema);
  expect(schemas["input_schema"]).toMatchObject({ type: "object", properties: { topic: { type: "string" } } });
  expect(Object.keys(schemas["input_schema"]!.properties)).toEqual(["topic", "messages"]);
  expect(schemas["output_schema"]).toMatchObject({ properties: { scores: properties.scores }, required: ["scores"] });
  expect(schemas["config_schema"]).toMatchObject({
    properties: { model: { type: "string", enum: ["large", "small"] } },
  });
  const subgraphs = await host.call("graph.subgraphs", { graph_id: "declared", config: {}, recurse: true });
  expect(subgraphs).toMatchObject({
    check: { input: { properties: { limit: { type: "number" } } }, output: { required: ["limit"] } },
  });
});

const official = JSON.parse(
  readFileSync(new URL("../../test/fixtures/agents/official-schemas.json", import.meta.url), "utf8"),
) as { derived: Record<string, object>; annotated: Record<string, Record<Kind, { properties?: object }>> };
type Kind = "input" | "output" | "config";

test.each(Object.entries(official.derived))(
  "schemas of %s are those of LangGraph's own server",
  async (name, expected) => {
    const schemas = await host.call("graph.schemas", { graph_id: `official_${name}`, config: {} });
    // where a graph has no configuration, that server leaves it out
    const empty = { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: {} };
    expect(schemas).toEqual({ config_schema: empty, context_schema: empty, ...expected, graph_id: `official_${name}` });
  },
);

test("types of annotated fields are those of LangGraph's own server", { timeout: TYPES_MS }, async () => {
  const target = { graph_id: "official_annotated", config: {} };
  const read = () => host.call("graph.schemas", target) as Promise<Schemas>;
  const schemas = await untilTyped(read);
  const subgraphs = (await host.call("graph.subgraphs", { ...target, recurse: true })) as Record<string, Schemas>;
  // that server does not resolve the fields of nested objects
  for (const kind of ["input", "output", "config"] as const) {
    for (const [ours, theirs] of [
      [schemas[`${kind}_schema`]!.properties, official.annotated[""]![kind].properties ?? {}],
      [subgraphs["search"]![kind]!.properties, official.annotated["search"]![kind].properties ?? {}],
    ] as const) {
      expect(ours).toMatchObject(theirs);
      expect(Object.keys(ours)).toEqual(Object.keys(theirs));
    }
  }
});

test("a call that needs no types does not wait for them", async () => {
  const begunAt = performance.now();
  await host.call("graph.schemas", { graph_id: "annotated", config: {}, types: false });
  expect(performance.now() - begunAt).toBeLessThan(2000);
});

test("draws nodes and edges, with xray those of subgraphs too", async () => {
  const drawing = await host.call("graph.drawing", { graph_id: "annotated", config: {}, xray: false });
  expect(drawing.nodes).toMatchObject([
    { id: "__start__", type: "schema" },
    { id: "work", type: "runnable", data: { name: "work" } },
    { id: "zod", type: "runnable" },
    { id: "__end__", type: "schema" },
  ]);
  expect(drawing.edges).toContainEqual({ source: "__start__", target: "work", conditional: false });
  expect(drawing.edges).toContainEqual({ source: "work", target: "zod", conditional: true });
  const inside = await host.call("graph.drawing", { graph_id: "nested", config: {}, xray: true });
  expect(inside.nodes.map((node) => (node as { id: string }).id)).toEqual([
    "__start__",
    "outer:inner",
    "outer:pause",
    "__end__",
  ]);
});

test("keys subgraphs by namespace", async () => {
  const all = await host.call("graph.subgraphs", { graph_id: "nested", config: {}, recurse: true });
  expect(Object.keys(all)).toEqual(["outer", "outer|inner"]);
  expect(Object.keys(all.outer as object).sort()).toEqual(["config", "input", "output", "state"]);
  const direct = await host.call("graph.subgraphs", { graph_id: "nested", config: {}, recurse: false });
  expect(Object.keys(direct)).toEqual(["outer"]);
  const subgraphs = await host.call("graph.subgraphs", {
    graph_id: "nested",
    config: {},
    namespace: "outer|inner",
    recurse: true,
  });
  expect(Object.keys(subgraphs)).toEqual(["outer|inner"]);
});
