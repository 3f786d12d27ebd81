import { afterAll, beforeAll, expect, test } from "vitest";
import { HostProcess } from "../../test/host-process.ts";

let host: HostProcess;
beforeAll(async () => {
  host = await HostProcess.start("agents", {
    zod: "./schemas.ts:zod",
    annotated: "./schemas.ts:annotated",
    nested: "./human.ts:nested",
    declared: "./declared.ts:declared",
  });
});
afterAll(() => host.stop());

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

test("derives the schemas of an annotated state from its messages and default values", async () => {
  const { input_schema } = await host.call("graph.schemas", { graph_id: "annotated", config: {} });
  expect(input_schema).toMatchObject({
    type: "object",
    properties: { messages: { type: "array", items: { type: "object" } }, count: { type: "number" }, anything: {} },
  });
});

test("reads the types of an annotated state from its source, of its subgraphs too", { timeout: 120_000 }, async () => {
  type Schemas = Record<string, { properties: object; required?: string[] }>;
  const read = () => host.call("graph.schemas", { graph_id: "declared", config: {} }) as Promise<Schemas>;
  let schemas = await read();
  // on a busy machine, a first call does not wait until the end
  for (let i = 0; i < 9 && !schemas["output_schema"]!.required; i += 1) schemas = await read();
  const properties = {
    topic: { type: "string", description: "What to write about." },
    kind: { type: "string", enum: ["short", "long"] },
    scores: { type: "array", items: { type: "number" } },
    options: {
      type: "object",
      properties: { deep: { type: "boolean" }, until: { type: "string", format: "date-time" } },
      required: ["deep"],
    },
    byName: { type: "object", properties: {}, additionalProperties: { type: "number" } },
    next: { anyOf: [{ type: "null" }, { type: "number" }] },
    anything: {},
    messages: { type: "array", langgraph_type: "messages" },
  };
  expect(schemas["state_schema"]).toMatchObject({ type: "object", properties });
  expect(schemas["input_schema"]).toMatchObject({ type: "object", properties: { topic: { type: "string" } } });
  expect(Object.keys(schemas["input_schema"]!.properties)).toEqual(["topic", "messages"]);
  expect(schemas["output_schema"]).toMatchObject({ properties: { scores: properties.scores }, required: ["scores"] });
  expect(schemas["config_schema"]).toMatchObject({
    properties: { model: { type: "string", enum: ["small", "large"] } },
  });
  const subgraphs = await host.call("graph.subgraphs", { graph_id: "declared", config: {}, recurse: true });
  expect(subgraphs).toMatchObject({
    check: { input: { properties: { limit: { type: "number" } } }, output: { required: ["limit"] } },
  });
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
