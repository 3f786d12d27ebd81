/** Projects that change, or cannot be loaded, while a server runs. Real files, real hosts. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";

const NODE_MODULES = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function project(graphs: Record<string, string>, files: Record<string, string>, packages = true): string {
  const dir = mkdtempSync(join(tmpdir(), "heddle-reload-"));
  dirs.push(dir);
  if (packages) symlinkSync(NODE_MODULES, join(dir, "node_modules"));
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  writeFileSync(join(dir, "langgraph.json"), JSON.stringify({ graphs }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, ".."), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

/** Answers with `word`, which comes from a file beside the graph, after `ms`. */
const GRAPH = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { word } from "./word.ts";
const State = Annotation.Root({
  ms: Annotation<number>,
  said: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
const say = async (state: typeof State.State) => {
  await new Promise((resolve) => setTimeout(resolve, state.ms));
  return { said: [word] };
};
export const graph = new StateGraph(State)
  .addNode("one", say).addNode("two", say)
  .addEdge(START, "one").addEdge("one", "two")
  .compile();
`;

async function replyWithin(server: TestAgentServer, threadId: string, ms: number): Promise<string[]> {
  const { json } = await server.call("POST", `/threads/${threadId}/runs/wait`, { assistant_id: "talk", input: { ms } });
  return json.said as string[];
}

test("new runs use changed code, running ones finish on the old code, and threads stay", async () => {
  const dir = project(
    { talk: "./graph.ts:graph" },
    { "graph.ts": GRAPH, "word.ts": 'export const word: string = "old";' },
  );
  const server = await testAgentServer({}, join(dir, "langgraph.json"), { reload: true });
  const threadId = (await server.call("POST", "/threads", {})).json.thread_id as string;
  expect(await replyWithin(server, threadId, 0)).toEqual(["old", "old"]);

  const other = (await server.call("POST", "/threads", {})).json.thread_id as string;
  const goingOn = replyWithin(server, other, 4000);
  await sleep(300);
  writeFileSync(join(dir, "word.ts"), 'export const word: string = "new";');
  for (let i = 0; ; i++) {
    const words = await replyWithin(server, (await server.call("POST", "/threads", {})).json.thread_id as string, 0);
    if (words[0] === "new") break;
    expect(i).toBeLessThan(200);
    await sleep(50);
  }
  expect(await goingOn).toEqual(["old", "old"]);
  expect(await replyWithin(server, threadId, 0)).toEqual(["old", "old", "new", "new"]);
});

test("rejects runs of a broken graph with the reason until it is fixed, while the others keep serving", async () => {
  const dir = project(
    { talk: "./graph.ts:graph", fragile: "./fragile.ts:graph", snake: "./agent.py:graph" },
    {
      "graph.ts": GRAPH,
      "word.ts": 'export const word: string = "hi";',
      "fragile.ts": "export const graph = nonsense(;",
    },
  );
  const server = await testAgentServer({}, join(dir, "langgraph.json"), { reload: true });
  const run = (graph: string) => server.call("POST", "/runs/wait", { assistant_id: graph, input: { ms: 0 } });
  expect((await run("talk")).json.said).toEqual(["hi", "hi"]);
  const broken = await run("fragile");
  expect(broken.status).toBe(422);
  expect(broken.text).toMatch(/Graph "fragile" could not be loaded: .*fragile\.ts/s);
  const python = await run("snake");
  expect(python.status).toBe(422);
  expect(python.text).toMatch(/Python/);

  writeFileSync(join(dir, "fragile.ts"), readFileSync(join(dir, "graph.ts"), "utf8"));
  for (let i = 0; (await run("fragile")).status !== 200; i++) {
    expect(i).toBeLessThan(200);
    await sleep(50);
  }
  expect((await run("talk")).json.said).toEqual(["hi", "hi"]);
});

test("names the package to install when a project has no LangGraph", async () => {
  const dir = project(
    { talk: "./graph.ts:graph" },
    { "graph.ts": GRAPH, "word.ts": 'export const word = "hi";' },
    false,
  );
  const server = await testAgentServer({ HEDDLE_LOG_LEVEL: "silent" }, join(dir, "langgraph.json"));
  for (let i = 0; server.agent.deps.hosts.graphs === undefined; i++) {
    expect(i).toBeLessThan(200);
    await sleep(50);
  }
  const refused = await server.call("POST", "/runs/wait", { assistant_id: "talk", input: {} });
  expect(refused.status).toBe(422);
  expect(refused.text).toMatch(/npm install @langchain\/langgraph/);
});
