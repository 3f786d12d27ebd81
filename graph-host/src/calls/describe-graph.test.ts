import { afterAll, beforeAll, expect, test } from "vitest";
import { HostProcess } from "../../test/host-process.ts";

let host: HostProcess;
beforeAll(async () => {
  host = await HostProcess.start("agents", {
    zod: "./schemas.ts:zod",
    annotated: "./schemas.ts:annotated",
    nested: "./human.ts:nested",
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
