/**
 * Drives an agent server with the clients of LangGraph, unmodified: both lines of @langchain/langgraph-sdk and
 * RemoteGraph from npm, langgraph-sdk and RemoteGraph for Python. Fills the table of docs/versions.md:
 *
 *     node --import tsx scripts/versions/sdk-clients.ts [--write]
 *
 * Exits with 1 when a check fails, with 77 when a registry cannot be reached.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { startServer } from "../../conformance/server.ts";
import { installPackages, SKIPPED } from "../build/install-packages.ts";
import { pythonEnvironment } from "../services/python-venv.ts";

const PAGE = fileURLToPath(new URL("../../docs/versions.md", import.meta.url));
const SCRIPT = fileURLToPath(new URL("sdk-clients.py", import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL("../services/python-suite-requirements.txt", import.meta.url));
const LANGGRAPH = "1.7.3";
const SDKS = ["1.15.0", "2.0.0"];
const CHECK_MS = 120_000;

// oxlint-disable-next-line typescript/no-explicit-any -- the clients come from npm at run time
type Any = any;

const CHECKS: Record<string, (client: Any, remote: (graphId: string) => Any, Command: Any) => Promise<void>> = {
  async runs(client) {
    assert.equal((await client.runs.wait(null, "counter", { input: { add: 2 } })).total, 4);
    const { thread_id: thread } = await client.threads.create({ metadata: { by: "npm" } });
    const { run_id: run } = await client.runs.create(thread, "counter", { input: { add: 3 } });
    assert.equal((await client.runs.join(thread, run)).total, 6);
    const found: { thread_id: string }[] = await client.threads.search({ metadata: { by: "npm" } });
    assert.ok(found.some((each) => each.thread_id === thread));
    assert.ok((await client.assistants.search()).length >= 10);
  },
  async streaming(client) {
    const input = { messages: [{ role: "user", content: "What is the weather in Rome?" }] };
    const events: string[] = [];
    for await (const { event, data } of client.runs.stream(null, "agent", {
      input,
      streamMode: ["messages-tuple", "values"],
    })) {
      assert.notEqual(event, "error", JSON.stringify(data));
      events.push(event);
    }
    assert.equal(events[0], "metadata");
    for (const name of ["messages", "values"]) assert.ok(events.includes(name), events.join());
  },
  async interrupts(client) {
    const { thread_id: thread } = await client.threads.create();
    const paused = await client.runs.wait(thread, "approval", { input: { topic: "a" } });
    assert.deepEqual(paused.__interrupt__[0].value, { question: "Publish a?" });
    const values = await client.runs.wait(thread, "approval", { command: { resume: "yes" } });
    assert.equal(values.log.at(-1), "published");
  },
  async state(client) {
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, "counter", { input: { add: 2 } });
    await client.threads.updateState(thread, { values: { total: 10 } });
    assert.equal((await client.threads.getState(thread)).values.total, 14);
    assert.equal((await client.threads.getHistory(thread, { limit: 100 })).length, 5);
    const schemas = await client.assistants.getSchemas("counter");
    assert.ok("total" in schemas.output_schema.properties, JSON.stringify(schemas));
  },
  async store(client) {
    const space = ["npm", crypto.randomUUID()];
    await client.store.putItem(space, "a", { text: "green tea" });
    assert.deepEqual((await client.store.getItem(space, "a")).value, { text: "green tea" });
    assert.equal((await client.store.searchItems(space)).items.length, 1);
    await client.store.deleteItem(space, "a");
  },
  async remote_graph(client, remote, Command) {
    const counter = remote("counter");
    assert.equal((await counter.invoke({ add: 2 })).total, 4);
    const parts: unknown[] = [];
    for await (const part of await counter.stream({ add: 2 }, { streamMode: "updates" })) parts.push(part);
    assert.equal(parts.length, 2);
    assert.ok("increment" in (await counter.getGraphAsync()).nodes);
    const approval = remote("approval");
    const config = { configurable: { thread_id: (await client.threads.create()).thread_id } };
    // so that a graph around it is interrupted
    await assert.rejects(approval.invoke({ topic: "b" }, config), { name: "GraphInterrupt" });
    const paused = await approval.getState(config);
    assert.deepEqual(paused.next, ["ask"]);
    assert.equal(paused.tasks[0].interrupts.length, 1);
    assert.equal((await approval.invoke(new Command({ resume: "no" }), config)).log.at(-1), "dropped");
    await approval.updateState(config, { log: ["noted"] });
    assert.equal((await approval.getState(config)).values.log.at(-1), "noted");
    const history: unknown[] = [];
    for await (const snapshot of approval.getStateHistory(config)) history.push(snapshot);
    assert.ok(history.length > 3);
  },
};

const home = mkdtempSync(join(tmpdir(), "heddle-sdk-clients-"));
const rows: string[][] = [];
let failed = 0;
try {
  process.env["HEDDLE_CONSOLE"] = "false";
  const server = await startServer();
  try {
    for (const version of SDKS) report(`@langchain/langgraph-sdk ${version}`, await checkNpm(version, server.url));
    const { name, failures } = checkPython(server.url);
    report(name, failures);
  } finally {
    await server.stop();
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
const head = ["client", ...Object.keys(CHECKS).map((name) => (name === "remote_graph" ? "RemoteGraph" : name))];
const table = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
console.log(table);
if (process.argv.includes("--write")) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, page.replace(/(<!-- sdks -->\n)[^]*?(<!-- end of sdks -->)/, `$1${table}\n$2`));
}
process.exitCode = failed === 0 ? 0 : 1;

function report(name: string, failures: Record<string, string>): void {
  rows.push([name, ...Object.keys(CHECKS).map((check) => (check in failures ? "no" : "yes"))]);
  for (const [check, message] of Object.entries(failures)) console.log(`${name}, ${check}: ${message}`);
  failed += Object.keys(failures).length;
}

async function checkNpm(version: string, url: string): Promise<Record<string, string>> {
  const directory = join(home, version);
  mkdirSync(directory);
  const dependencies = { "@langchain/core": "1.4.0", "@langchain/langgraph": LANGGRAPH, zod: "4.3.6" };
  const sdk = { "@langchain/langgraph-sdk": version };
  // RemoteGraph uses the same client
  const manifest = { private: true, type: "module", dependencies: { ...dependencies, ...sdk }, overrides: sdk };
  writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
  installPackages(directory);
  const require = createRequire(join(directory, "package.json"));
  const load = async (name: string): Promise<Any> => import(pathToFileURL(require.resolve(name)).href);
  const { Client } = await load("@langchain/langgraph-sdk");
  const { RemoteGraph } = await load("@langchain/langgraph/remote");
  const { Command } = await load("@langchain/langgraph");
  const client = new Client({ apiUrl: url, apiKey: null, callerOptions: { maxRetries: 0 } });
  const failures: Record<string, string> = {};
  for (const [name, check] of Object.entries(CHECKS)) {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no result after ${CHECK_MS / 1000} s`)), CHECK_MS);
    });
    const checking = check(client, (graphId) => new RemoteGraph({ graphId, url }), Command);
    await Promise.race([checking, late])
      .catch((error: Error) => void (failures[name] = String(error.stack)))
      .finally(() => clearTimeout(timer));
  }
  return failures;
}

function checkPython(url: string): { name: string; failures: Record<string, string> } {
  const pinned = /^langgraph-sdk==(\S+)/m.exec(readFileSync(REQUIREMENTS, "utf8"))![1]!;
  const environment = pythonEnvironment(
    "python-suite",
    REQUIREMENTS,
    (directory) =>
      spawnSync(join(directory, "bin", "python"), ["-c", "import langgraph, fastapi, pytest"]).status === 0,
  );
  if (!environment) {
    console.log("skipped, because the Python packages cannot be installed");
    process.exit(SKIPPED);
  }
  const python = join(environment, "bin", "python");
  const { stdout, stderr } = spawnSync(python, [SCRIPT, url], { encoding: "utf8", timeout: 6 * CHECK_MS });
  const name = `langgraph-sdk ${pinned} (Python)`;
  const line = stdout.trim().split("\n").at(-1)!;
  return { name, failures: line.startsWith("{") ? (JSON.parse(line) as Record<string, string>) : { runs: stderr } };
}
