/** Projects that change, or cannot be loaded, while a server runs. Real files, real hosts. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import type { GraphStatus } from "../../../../host-kit/src/host-protocol.ts";
import { logTo } from "../../base/log.ts";
import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";

type Graphs = Record<string, GraphStatus>;

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
  const rejected = await server.call("POST", "/runs/wait", { assistant_id: "talk", input: {} });
  expect(rejected.status).toBe(422);
  expect(rejected.text).toContain(
    `Graph "talk" could not be loaded: ${dir} has no @langchain/langgraph. Install it there:\n  npm install`,
  );
});

test("rejects an unsupported LangGraph with the command, and serves the graphs once it is installed", async () => {
  const manifest = (version: string) => JSON.stringify({ name: "@langchain/langgraph", version });
  const dir = project(
    { talk: "./graph.ts:graph" },
    {
      "graph.ts": GRAPH,
      "word.ts": 'export const word = "hi";',
      "node_modules/@langchain/langgraph/package.json": manifest("0.2.11"),
    },
    false,
  );
  const reports: Graphs[] = [];
  const server = await testAgentServer({ HEDDLE_LOG_LEVEL: "silent" }, join(dir, "langgraph.json"), {
    reload: true,
    onGraphs: (graphs) => reports.push(graphs),
  });
  const run = () => server.call("POST", "/runs/wait", { assistant_id: "talk", input: { ms: 0 } });
  const rejected = await run();
  expect(rejected.status).toBe(422);
  expect(rejected.text).toContain(
    `langgraph 0.2.11 is not supported, needs 0.2.57 or newer. Run in ${dir}:\n  npm install @langchain/langgraph@0.2`,
  );
  expect(server.agent.deps.hosts.all).toEqual([]);
  expect(reports).toHaveLength(1);

  // as a package manager does it: only its own file shows that it has finished
  rmSync(join(dir, "node_modules"), { recursive: true });
  const installed = mkdtempSync(join(tmpdir(), "heddle-installed-"));
  dirs.push(installed);
  for (const name of readdirSync(NODE_MODULES)) symlinkSync(join(NODE_MODULES, name), join(installed, name));
  rmSync(join(installed, ".package-lock.json"), { force: true });
  symlinkSync(installed, join(dir, "node_modules"));
  writeFileSync(join(installed, ".package-lock.json"), "{}");
  await expect.poll(async () => (await run()).json.said).toEqual(["hi", "hi"]);
});

test("a project that ends its host at the start is reported once, and tried again when it has changed", async () => {
  const dir = project(
    { talk: "./graph.ts:graph" },
    {
      "graph.ts": `console.error("boom: no such model");\nprocess.exit(3);\n${GRAPH}`,
      "word.ts": 'export const word = "hi";',
    },
  );
  const reports: Graphs[] = [];
  const server = await testAgentServer({ HEDDLE_LOG_LEVEL: "silent" }, join(dir, "langgraph.json"), {
    reload: true,
    onGraphs: (graphs) => reports.push(graphs),
  });
  await expect.poll(() => reports.length).toBe(1);
  expect(reports[0]!["talk"]).toMatchObject({ ok: false, error: expect.stringContaining("boom: no such model") });
  const { hosts } = server.agent.deps;
  await sleep(3000);
  expect(hosts.all).toEqual([]);
  expect(reports).toHaveLength(1);
  writeFileSync(join(dir, "graph.ts"), GRAPH);
  const run = () => server.call("POST", "/runs/wait", { assistant_id: "talk", input: { ms: 0 } });
  await expect.poll(async () => (await run()).json.said).toEqual(["hi", "hi"]);
});

test("a module that never returns is reported once its host is killed, and not tried again unchanged", async () => {
  const dir = project({ talk: "./graph.ts:graph" }, { "graph.ts": "for (;;);" });
  const reports: Graphs[] = [];
  const env = { HEDDLE_LOG_LEVEL: "silent", HEDDLE_HOST_START_MS: "3000" };
  const server = await testAgentServer(env, join(dir, "langgraph.json"), {
    reload: true,
    onGraphs: (graphs) => reports.push(graphs),
  });
  await expect.poll(() => reports.length).toBe(1);
  const { error } = reports[0]!["talk"] as { error: string };
  expect(error).toContain("was not ready after 3 s. Check whether a module waits for something");
  await sleep(1500);
  expect(server.agent.deps.hosts.all).toEqual([]);
  expect(reports).toHaveLength(1);
});

test("reports the first error of a host that throws at the start, without Node's frames", async () => {
  const dir = project(
    { talk: "./graph.ts:graph" },
    {
      "graph.ts": `setTimeout(() => { throw new TypeError("no such model"); });\nawait new Promise(() => {});\n`,
      "word.ts": "",
    },
  );
  const reports: Graphs[] = [];
  await testAgentServer({ HEDDLE_LOG_LEVEL: "silent" }, join(dir, "langgraph.json"), {
    reload: true,
    onGraphs: (graphs) => reports.push(graphs),
  });
  await expect.poll(() => reports.length).toBe(1);
  const { error } = reports[0]!["talk"] as { error: string };
  expect(error).toContain("TypeError: no such model");
  expect(error).toContain("graph.ts:1");
  expect(error).not.toContain("node:internal");
});

test("only files that were imported restart hosts, each reload is reported, and a superseded one is no warning", async () => {
  const dir = project(
    { talk: "./graph.ts:graph" },
    {
      "graph.ts": GRAPH.replace(
        "return { said: [word] };",
        'return { said: [word, (await import("./later.ts")).later, required.word] };',
      ).replace(
        'import { word } from "./word.ts";',
        'import { word } from "./word.ts";\nimport required from "./old/a.cjs";',
      ),
      "word.ts": 'export const word: string = "one";',
      "later.ts": 'export const later: string = "later";',
      "old/a.cjs": 'exports.word = require("./b.cjs").word;',
      "old/b.cjs": 'exports.word = "required";',
      "unused.ts": "export const nothing = 1;",
    },
  );
  const reports: Graphs[] = [];
  const lines: string[] = [];
  const server = await testAgentServer({}, join(dir, "langgraph.json"), {
    reload: true,
    onGraphs: (graphs) => reports.push(graphs),
    log: logTo("warn", { write: (line) => void lines.push(line) }),
  });
  const run = async () =>
    (await server.call("POST", "/runs/wait", { assistant_id: "talk", input: { ms: 0 } })).json.said as string[];
  expect((await run()).slice(0, 3)).toEqual(["one", "later", "required"]);
  const { hosts } = server.agent.deps;
  await expect.poll(() => hosts.files?.some((file) => file.endsWith("later.ts"))).toBe(true);
  await expect.poll(() => hosts.all.filter(({ state }) => state === "ready").length).toBe(2);
  const started = hosts.counts.started;

  mkdirSync(join(dir, "web"));
  for (const name of ["web/main.js", "unused.ts", "test_graph.py", "NOTES.md"]) writeFileSync(join(dir, name), "// 1");
  await sleep(1500);
  expect([reports.length, hosts.counts.started]).toEqual([1, started]);

  // two changes, of which the second one comes while hosts start
  writeFileSync(join(dir, "later.ts"), 'export const later: string = "changed";');
  await expect.poll(() => hosts.counts.started).toBeGreaterThan(started);
  writeFileSync(join(dir, "old/b.cjs"), 'exports.word = "changed";');
  await expect.poll(async () => (await run()).slice(0, 3)).toEqual(["one", "changed", "changed"]);
  // the graphs are the same; their reload is reported nevertheless
  expect(reports.length).toBeGreaterThan(1);
  expect(reports.at(-1)).toEqual(reports[0]);
  expect(lines.filter((line) => line.includes("graph host"))).toEqual([]);
});

test("a change of a file that only the project's own app imports reloads it", async () => {
  const dir = project(
    { talk: "./graph.ts:graph" },
    {
      "graph.ts": GRAPH,
      "word.ts": 'export const word: string = "hi";',
      "app.ts": `import { Hono } from "hono";
import { greeting } from "./greeting.ts";
export const app = new Hono().get("/greeting", (c) => c.text(greeting));`,
      "greeting.ts": 'export const greeting: string = "one";',
    },
  );
  writeFileSync(
    join(dir, "langgraph.json"),
    JSON.stringify({ graphs: { talk: "./graph.ts:graph" }, http: { app: "./app.ts:app" } }),
  );
  const server = await testAgentServer({}, join(dir, "langgraph.json"), { reload: true });
  const greeting = async () => {
    const response = await server.agent.deps.customApp!.fetch(new Request("http://localhost/greeting"));
    return response.text();
  };
  expect(await greeting()).toBe("one");
  const { hosts } = server.agent.deps;
  await expect.poll(() => hosts.files?.length).toBeGreaterThan(0);
  writeFileSync(join(dir, "greeting.ts"), 'export const greeting: string = "two";');
  await expect.poll(greeting).toBe("two");
});
