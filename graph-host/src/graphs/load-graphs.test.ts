import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HostProcess } from "../../test/host-process.ts";

const GRAPHS = {
  compiled: "./graphs.ts:compiled",
  withSaver: "./graphs.ts:withSaver",
  withoutSaver: "./graphs.ts:withoutSaver",
  factoryWithSaver: "./graphs.ts:factoryWithSaver",
  uncompiled: "./graphs.ts:uncompiled",
  promise: "./graphs.ts:promise",
  factory: "./graphs.ts:factory",
  agent: "./graphs.ts:agent",
  byDefault: "./graphs.ts",
  plain: "./plain.js:graph",
  text: "./graphs.ts:text",
  wrongFactory: "./graphs.ts:wrongFactory",
  misspelt: "./graphs.ts:compield",
  nowhere: "./nowhere.ts:graph",
  throws: "./throws.ts:graph",
  missing: "./missing-package.ts:graph",
  python: "./python.py:graph",
};

let host: HostProcess;
beforeAll(async () => void (host = await HostProcess.start("kinds", GRAPHS)));
afterAll(() => host.stop());

const temporary: string[] = [];
afterAll(() => temporary.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "heddle-host-"));
  temporary.push(dir);
  return dir;
}

const graphError = (id: string) => (host.ready.graphs[id] as { error?: string }).error;

test("reports its LangGraph version and the graphs that it can serve", () => {
  expect(host.ready).toMatchObject({ protocol: 1, langgraph_version: expect.stringMatching(/^1\./) });
  const served = Object.keys(host.ready.graphs).filter((id) => host.ready.graphs[id]!.ok);
  expect(served).toEqual(
    "compiled withSaver withoutSaver factoryWithSaver uncompiled promise factory agent byDefault plain wrongFactory".split(
      " ",
    ),
  );
});

test.each([
  ["compiled", "compiled"],
  ["uncompiled", "uncompiled"],
  ["promise", "promise"],
  ["byDefault", "default"],
  ["plain", "plain JavaScript"],
])("a graph exported as %s runs", async (id, text) => {
  expect((await host.run(id, { input: { text: "" } })).result.values).toEqual({ text });
});

test("a factory receives the config of each run", async () => {
  const [first, second] = await Promise.all(
    ["one", "two"].map((word) => host.run("factory", { input: { text: "" }, config: { configurable: { word } } })),
  );
  expect([first!.result.values, second!.result.values]).toEqual([{ text: "factory: one" }, { text: "factory: two" }]);
});

test("an agent of createAgent runs and has a state", async () => {
  const run = await host.run("agent", { input: { messages: [{ role: "user", content: "hi" }] } });
  expect(run.outcome.error).toBeUndefined();
  expect(run.result.values.messages).toHaveLength(2);
});

test.each(["withSaver", "withoutSaver"])(
  "the server's checkpoint saver replaces the graph's own: %s",
  async (graph_id) => {
    const { threadId: thread_id, result } = await host.run(graph_id, { input: { text: "" } });
    expect(result.next).toEqual([]);
    const state = await host.call("state.get", { graph_id, thread_id, config: {}, subgraphs: false });
    expect(state).toMatchObject({ values: result.values });
  },
);

test("names a checkpointer and a store of the project that are not used", async () => {
  const part = (name: string, of: string) =>
    `its own ${name} (${of}) is not used, because the server provides one that keeps its data in Heddle's database.`;
  expect(host.ready.graphs["withSaver"]).toEqual({
    ok: true,
    description: null,
    notes: [part("checkpointer", "MemorySaver"), part("store", "InMemoryStore")],
  });
  expect(host.ready.graphs["withoutSaver"]).toEqual({ ok: true, description: null });
  for (let i = 0; i < 2; i++) await host.run("factoryWithSaver", { input: { text: "" } });
  const logged = () => host.stderr.join("").match(/^Graph \.\/graphs\.ts:factoryWithSaver: .*$/gm);
  await expect.poll(logged).toEqual([`Graph ./graphs.ts:factoryWithSaver: ${part("checkpointer", "MemorySaver")}`]);
});

test("explains why a graph failed to load", () => {
  expect(graphError("text")).toContain("./graphs.ts:text is a string, not a LangGraph graph");
  expect(graphError("misspelt")).toMatch(/no export "compield"\. It exports: .*compiled.*uncompiled/);
  expect(graphError("nowhere")).toMatch(/there is no file .*nowhere\.ts/);
  expect(graphError("throws")).toMatch(/TypeError: Cannot read properties of undefined[^]*at throws\.ts:3:/);
  expect(graphError("missing")).toContain("npm install @no-such/package-anywhere");
  expect(graphError("python")).toContain("does not serve Python graphs yet");
});

test("a factory that returns no graph fails its run with the reason", async () => {
  const run = await host.run("wrongFactory", { input: { text: "" } });
  expect(run.outcome).toMatchObject({
    outcome: "error",
    error: { message: expect.stringContaining("returned a number") },
  });
});

test("a run or call of a graph that did not load fails with the reason, one of an unknown graph with 404", async () => {
  expect((await host.run("throws", {})).outcome.error!.message).toContain("throws.ts:3:");
  await expect(host.call("graph.schemas", { graph_id: "python", config: {} })).rejects.toMatchObject({ status: 500 });
  await expect(host.call("graph.schemas", { graph_id: "nobody", config: {} })).rejects.toMatchObject({ status: 404 });
});

/** Creates a project outside the repository, with the repository's packages. */
function project(files: Record<string, string>): string {
  const dir = temporaryDirectory();
  symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(dir, "node_modules"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

const COMMONJS_TS = `
import { HumanMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("say", () => ({ messages: [new HumanMessage("told " + interrupt("what?"))] }))
  .addEdge("__start__", "say")
  .compile();`;

const COMMONJS = `
const { Annotation, StateGraph } = require("@langchain/langgraph");
exports.graph = new StateGraph(Annotation.Root({ text: Annotation() }))
  .addNode("say", () => ({ text: "CommonJS" }))
  .addEdge("__start__", "say")
  .compile();`;

test("a CommonJS project shares its LangGraph with the host", { timeout: 60_000 }, async () => {
  const dir = project({ "package.json": "{}", "graph.ts": COMMONJS_TS, "graph.cjs": COMMONJS });
  const other = await HostProcess.start(dir, { ts: "./graph.ts:graph", cjs: "./graph.cjs:graph" });
  expect((await other.run("cjs", { input: { text: "" } })).result.values).toEqual({ text: "CommonJS" });
  const interrupted = await other.run("ts", { input: { messages: [{ role: "user", content: "hi" }] } });
  expect(Object.values(interrupted.result.interrupts!).flat()).toMatchObject([{ value: "what?" }]);
  const resumed = await other.run("ts", { command: { resume: "this" } }, { threadId: interrupted.threadId });
  expect(resumed.result.values.messages.at(-1)).toMatchObject({ type: "human", content: "told this" });
  await other.stop();
});

const FINE = `
import { entrypoint } from "@langchain/langgraph";
export const graph = entrypoint("fine", async (n) => n + 1);`;

const ALIASED = `import { reply } from "@/reply"; export const graph = reply;`;

test("the path aliases of a package below the project are not used", { timeout: 60_000 }, async () => {
  const dir = project({ "package.json": "{}" });
  mkdirSync(join(dir, "agent"));
  const tsconfig = JSON.stringify({ compilerOptions: { paths: { "@/*": ["./*"] } } });
  for (const [name, text] of Object.entries({ "tsconfig.json": tsconfig, "reply.ts": FINE, "graph.ts": ALIASED }))
    writeFileSync(join(dir, "agent", name), text);
  const other = await HostProcess.start(dir, { graph: "./agent/graph.ts:graph" });
  expect(other.ready.graphs["graph"]).toMatchObject({ ok: false, error: expect.stringContaining("@/reply") });
  await other.stop();
});

test("names the line of a syntax error, and serves the other graphs", { timeout: 60_000 }, async () => {
  const dir = project({ "syntax.ts": "export const fine = 1;\nexport const graph = ;\n", "fine.mjs": FINE });
  const other = await HostProcess.start(dir, { bad: "./syntax.ts:graph", good: "./fine.mjs:graph" });
  expect((other.ready.graphs.bad as { error: string }).error).toMatch(/syntax\.ts:2:.*Unexpected/);
  expect((await other.run("good", { input: 1 })).data("values")).toEqual([2]);
  await other.stop();
});

test("a project need not have LangGraph's own dependencies at its top level", { timeout: 60_000 }, async () => {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, "node_modules/@langchain"), { recursive: true });
  for (const name of ["langgraph", "core"]) {
    const installed = resolve(import.meta.dirname, "../../../node_modules/@langchain", name);
    symlinkSync(installed, join(dir, "node_modules/@langchain", name));
  }
  writeFileSync(join(dir, "fine.mjs"), FINE);
  const other = await HostProcess.start(dir, { good: "./fine.mjs:graph" });
  expect((await other.run("good", { input: 1 })).data("values")).toEqual([2]);
  await other.stop();
});

test("names the package to install when a project has no LangGraph", { timeout: 60_000 }, async () => {
  const dir = temporaryDirectory();
  const other = HostProcess.spawn(dir, { graph: "./graph.ts:graph" });
  expect(await other.exited).toEqual({ code: 78, signal: null });
  expect(other.stderr.join("")).toContain("npm install @langchain/langgraph");
  await other.stop();
});
