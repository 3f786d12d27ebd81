import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const GRAPH = `
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ port: Annotation<string> }))
  .addNode("read", () => ({ port: process.env.PORT }))
  .addEdge("__start__", "read")
  .compile();
`;

const dir = mkdtempSync(join(tmpdir(), "heddle-port-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("graphs find the port of their server in PORT, whatever the project sets", async () => {
  symlinkSync(fileURLToPath(new URL("../../../../node_modules", import.meta.url)), join(dir, "node_modules"));
  writeFileSync(join(dir, "graph.ts"), GRAPH);
  const config = { graphs: { read: "./graph.ts:graph" }, env: { PORT: "9999" } };
  writeFileSync(join(dir, "langgraph.json"), JSON.stringify(config));
  const { call } = await testAgentServer({}, join(dir, "langgraph.json"));
  // the test server's internal URL has port 1
  expect((await call("POST", "/runs/wait", { assistant_id: "read", input: {} })).json).toEqual({ port: "1" });
});
