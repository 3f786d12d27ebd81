// npm run bench: the project's claims about speed, measured beside the bare graph and LangGraph's development server.
// Options: --quick (fewer samples), --only NAME[,NAME] (see MEASURES), --url URL (a running server), --no-dev-server,
// --json FILE. Exits with 1 when a target is missed. `npm run bench -- NAME` runs another benchmark instead, and
// `npm run bench -- NAME --help` describes it.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { AgentClient } from "./client.ts";
import { helpOf, summaryOf } from "./help.ts";
import { backlog, firstFrame, manyStreams, memory, sequentialWait, throughput, throughputFresh } from "./measures.ts";
import { printTable, type Results, rows } from "./report.ts";
import {
  removeDirectory,
  runningServer,
  type ServerUnderTest,
  startDevServer,
  startHeddle,
  temporaryDirectory,
} from "./servers.ts";

/** Other benchmarks, each a file of this directory. */
const OTHERS = [
  "alerts",
  "agents-at-size",
  "backup",
  "bloat",
  "capacity",
  "code-evaluators",
  "console",
  "dashboards",
  "deployments",
  "encryption",
  "experiment-comparison",
  "export",
  "feedback",
  "freshness",
  "guard",
  "ingest",
  "insights",
  "languages",
  "large-bodies",
  "large-pages",
  "large-values",
  "peers",
  "prompts",
  "python",
  "query",
  "rest",
  "rules",
  "sharing",
  "streams",
  "tenants",
  "threads",
  "tokens",
  "tracing",
  "versions",
  "webhooks",
  "where",
] as const;
const [name = ""] = process.argv.slice(2);
const other = OTHERS.find((known) => known === name);
if (process.argv.includes("--help") || process.argv.includes("-h")) {
  console.log(helpOf(other ?? "run"));
  if (!other) console.log("\n" + OTHERS.map((known) => `  ${known.padEnd(22)} ${summaryOf(known)}`).join("\n"));
  process.exit();
}
if (other) {
  await import(`./${other}.ts`);
  process.exit();
}
if (name !== "" && !name.startsWith("-")) {
  console.error(`There is no benchmark "${name}". npm run bench -- --help lists all.`);
  process.exit(2);
}

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    url: { type: "string" },
    "no-dev-server": { type: "boolean", default: false },
    json: { type: "string" },
  },
});

/** Number of repetitions. The development server is some hundred times slower, so it gets fewer requests. */
interface Sizes {
  warmup: number;
  waits: number;
  throughput: number;
  frames: number;
  streams: number;
  backlog: number;
  memory: number;
}
const FULL: Sizes = {
  warmup: 600,
  waits: 500,
  throughput: 3000,
  frames: 300,
  streams: 3,
  backlog: 300,
  memory: 10_000,
};
const QUICK: Sizes = { warmup: 50, waits: 100, throughput: 800, frames: 60, streams: 1, backlog: 300, memory: 2000 };
const DEV: Sizes = { warmup: 3, waits: 15, throughput: 160, frames: 15, streams: 1, backlog: 300, memory: 400 };
const DEV_QUICK: Sizes = { warmup: 2, waits: 5, throughput: 64, frames: 5, streams: 1, backlog: 100, memory: 64 };

const MEASURES: Record<string, (client: AgentClient, sizes: Sizes, server: ServerUnderTest) => Promise<Results>> = {
  wait: (client, sizes) => sequentialWait(client, sizes.waits),
  throughput: async (client, sizes) => ({
    throughput: await throughput(client, sizes.throughput),
    "throughput.fresh": await throughputFresh(client, sizes.throughput),
  }),
  frame: (client, sizes) => firstFrame(client, sizes.frames),
  streams: async (client, sizes) => {
    const rounds: Results[] = [];
    for (let n = 0; n < sizes.streams; n++) rounds.push(await manyStreams(client, 50, 200, 5));
    // report the worst round
    return {
      "streams.frames": Math.min(...rounds.map((round) => round["streams.frames"]!)),
      "streams.first.p99": Math.max(...rounds.map((round) => round["streams.first.p99"]!)),
    };
  },
  backlog: async (client, sizes) => ({ backlog: await backlog(client, sizes.backlog) }),
  memory: async (client, sizes, server) => (server.pid ? memory(client, server.pid, sizes.memory, server.process) : {}),
};

const only = options.only?.split(",");
const known = [...Object.keys(MEASURES), "start", "bare"];
const unknown = (only ?? []).filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}. There are: ${known.join(", ")}`);
  process.exit(2);
}
const isSelected = (name: string) => !only || only.includes(name);

async function measureServer(server: ServerUnderTest, sizes: Sizes): Promise<Results> {
  const client = new AgentClient(server.url);
  const results: Results = {};
  try {
    await throughput(client, sizes.warmup);
    for (const [name, measure] of Object.entries(MEASURES)) {
      if (!isSelected(name)) continue;
      console.error(`${server.name}: ${name}`);
      try {
        Object.assign(results, await measure(client, sizes, server));
      } catch (error) {
        failures.push(`${server.name}: ${name}: ${(error as Error).message}`);
      }
    }
  } finally {
    await client.close();
  }
  return results;
}

async function measureBare(): Promise<Results> {
  const script = fileURLToPath(new URL("bare-loop.ts", import.meta.url));
  const runs = options.quick ? "300" : "1500";
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script, runs]);
  const { memory: saved } = JSON.parse(stdout) as Record<
    "bare" | "memory",
    { median: number; p95: number; perSecond: number }
  >;
  return { "wait.fresh.median": saved.median, "wait.fresh.p95": saved.p95, "throughput.fresh": saved.perSecond };
}

async function measureHeddle(): Promise<Results> {
  const sizes = options.quick ? QUICK : FULL;
  if (options.url) return measureServer(runningServer(options.url), sizes);
  const directory = await temporaryDirectory();
  try {
    const first = await startHeddle(directory);
    const results = await measureServer(first, sizes).finally(() => first.stop());
    if (isSelected("start")) {
      console.error("heddle: start");
      const second = await startHeddle(directory);
      results["start"] = second.startMs!;
      await second.stop();
    }
    return results;
  } finally {
    await removeDirectory(directory);
  }
}

async function measureDevServer(): Promise<Results> {
  const directory = await temporaryDirectory();
  try {
    const server = await startDevServer(directory);
    const results = await measureServer(server, options.quick ? DEV_QUICK : DEV).finally(() => server.stop());
    results["start"] = server.startMs!;
    return results;
  } finally {
    await removeDirectory(directory);
  }
}

const failures: string[] = [];
const started = Date.now();
const loadBefore = loadavg()[0]!;
const bare = isSelected("bare") ? await measureBare() : {};
const heddle = await measureHeddle();
const devServer = options["no-dev-server"] ? {} : await measureDevServer();
const table = rows({ heddle, devServer, bare });
console.log(
  `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? "?"}), client on the same machine${options.quick ? ", quick" : ""}\n`,
);
printTable(table);
if (loadBefore > 1)
  console.log(`\nThe machine was busy before (load ${loadBefore.toFixed(1)}): these measurements are worth little.`);
console.log(
  `\n${((Date.now() - started) / 1000).toFixed(0)} s. Bare loop: graph.invoke with the in-memory saver, no server.`,
);
for (const failure of failures) console.log(`FAILED  ${failure}`);
if (options.json) {
  const about = {
    at: new Date().toISOString(),
    node: process.version,
    cores: cpus().length,
    quick: options.quick,
    loadBefore,
  };
  await writeFile(options.json, `${JSON.stringify({ ...about, failures, measurements: table }, null, 2)}\n`);
}
process.exitCode = failures.length > 0 || table.some((row) => row.pass === false) ? 1 : 0;
