import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { type RunningConsole, serveConsole } from "../core/console-server.ts";
import { banner, describeReload, type Graphs } from "../core/banner.ts";
import { explainStart } from "../core/explain-start.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";
import { warnOfMisspelled } from "../core/known-variables.ts";
import { launcherPath } from "../core/launcher.ts";
import { offerChdb } from "../core/offer-chdb.ts";
import { needsRestarts, runWithRestarts, notifyLauncher } from "../core/restarts.ts";
import { SERVER_FLAGS } from "../core/server-flags.ts";
import { onStopSignal } from "../core/stop-signals.ts";
import { type TraceOutcome, TraceProcess } from "../core/trace-process.ts";
import { readVersion } from "../core/version.ts";

const flags = {
  config: {
    type: "text",
    placeholder: "FILE",
    default: "langgraph.json",
    description: "The project to serve.",
  },
  port: SERVER_FLAGS.port,
  host: SERVER_FLAGS.host,
  "data-dir": {
    type: "text",
    placeholder: "DIR",
    env: ["HEDDLE_DATA_DIR"],
    defaultNote: ".heddle beside the project's langgraph.json",
    description: "Data directory of threads, runs and the embedded Postgres.",
  },
  "postgres-uri": SERVER_FLAGS["postgres-uri"],
  reload: {
    type: "switch",
    env: ["HEDDLE_RELOAD"],
    default: true,
    description: "Do not reload graphs when their files change.",
  },
  "debug-port": {
    type: "integer",
    placeholder: "N",
    env: ["HEDDLE_DEBUG_PORT"],
    defaultNote: "none",
    min: 1024,
    max: 65_534,
    description: "Port where a debugger can attach: debugpy for Python, the inspector for JavaScript.",
  },
  "n-jobs-per-worker": SERVER_FLAGS["n-jobs-per-worker"],
  trace: {
    type: "switch",
    env: ["HEDDLE_TRACE"],
    default: true,
    description: "Do not start the trace platform.",
  },
  "trace-port": SERVER_FLAGS["trace-port"],
  console: SERVER_FLAGS.console,
  "console-port": SERVER_FLAGS["console-port"],
} as const satisfies Record<string, FlagSpec>;

export const summary = "Serve a LangGraph project";

export function help(): string {
  return `Usage: heddle dev [options]

Serves the graphs of a langgraph.json, reloads them when they change, and stores threads and runs in
an embedded Postgres. The trace platform runs beside it in a separate process, and the console
shows both in a browser. Requires no account, key or container.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const options = readFlags(flags, args, process.env);
  const config = resolve(options.config);
  if (!existsSync(config)) throw new UsageError(missingConfig(config));
  const dataDir = resolve(options["data-dir"] ?? join(dirname(config), ".heddle"));
  if (options.trace) await offerChdb(dataDir);
  if (needsRestarts(config)) return runWithRestarts("dev", args);

  const { startAgentServer } = await import("../../../server/src/main.ts");
  let trace: TraceProcess | undefined;
  let consoleServer: RunningConsole | undefined;
  let tracesUrl: string | null = null;
  const warn = (message: string) => console.error(`heddle: ${message}`);
  // Does nothing initially: the banner reports the first load.
  let announce = (_graphs: Graphs) => {};
  const starting = startAgentServer({
    config,
    host: options.host,
    port: options.port,
    dataDir,
    database: options["postgres-uri"],
    reload: options.reload,
    debugPort: options["debug-port"],
    jobs: options["n-jobs-per-worker"],
    traces: { state: options.trace ? "waiting" : "off" },
    // stopped after the runs, whose traces it receives, and before the database, which it shares
    stopOthers: async () => trace?.stop(),
    onGraphs: (graphs) => announce(graphs),
  });
  // Registered first, because a start may take seconds: Ctrl-C then stops what has been started so far.
  onStopSignal(async () => {
    const { close } = await starting;
    await consoleServer?.close();
    await close();
  });
  const { host, port } = options;
  const server = await starting.catch((error: unknown) => {
    const names = { portFlag: "--port", portVariable: "HEDDLE_AGENT_PORT" };
    throw explainStart(error, { host, port, ...names, databaseUri: options["postgres-uri"] });
  });
  notifyLauncher("ready");
  for (const warning of server.warnings) console.error(`heddle: ${warning}`);
  const slow = setTimeout(() => console.error(`${server.url} is up; the graphs are still loading.`), 5_000);
  const graphs = await server.graphs;
  clearTimeout(slow);

  // started after the agent server, which needs the machine's resources first
  let traces: TraceOutcome | undefined;
  if (options.trace) {
    const { database, sendTracesTo } = server;
    const tracingKey = randomBytes(32).toString("base64url");
    const onUrl = (url: string | null) => {
      tracesUrl = url;
      sendTracesTo(url === null ? { state: "off" } : { state: "on", url, key: tracingKey });
    };
    const processOptions = { launcher: launcherPath(), host, port: options["trace-port"], dataDir, database };
    trace = new TraceProcess({ ...processOptions, tracingKey, onUrl, print: warn });
    traces = await trace.start(TRACE_START_TIMEOUT_MS);
  }
  if (options.console) {
    const { keysNeeded } = server;
    const at = { host, port: options["console-port"], keysNeeded };
    consoleServer = await serveConsole(at, { agent: () => server.url, trace: () => tracesUrl }, warn);
  }
  process.stdout.write(
    await banner({
      url: server.url,
      version: readVersion(),
      config,
      dataDir,
      database: options["postgres-uri"] ? "DATABASE_URI" : "embedded Postgres in the data directory",
      graphs,
      traces,
      console: consoleServer?.outcome,
      keysNeeded: server.keysNeeded,
      access: server.access,
      hasOwnAuth: server.hasOwnAuth,
      firstKey: server.firstKey,
    }),
  );
  announce = (reloaded) => process.stdout.write(describeReload(reloaded));
  await warnOfMisspelled(process.env);
}

/** Maximum time that the banner waits for the trace platform. */
const TRACE_START_TIMEOUT_MS = 20_000;

function missingConfig(config: string): string {
  return `There is no ${config}.

Run this in the directory of a LangGraph project, or name its file with --config. A minimal one is

  { "graphs": { "agent": "./src/agent.ts:graph" } }

where ./src/agent.ts exports the graph as "graph".`;
}
