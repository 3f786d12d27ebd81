import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { banner, describeGraphs, type Graphs } from "../core/banner.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";
import { onStopSignal } from "../core/stop-signals.ts";
import { readVersion } from "../core/version.ts";

const flags = {
  config: {
    type: "text",
    placeholder: "FILE",
    default: "langgraph.json",
    description: "The project to serve.",
  },
  port: {
    type: "integer",
    placeholder: "N",
    env: ["HEDDLE_AGENT_PORT", "PORT"],
    default: 2024,
    max: 65_535,
    description: "Port of the agent server; 0 takes a free one.",
  },
  host: {
    type: "text",
    placeholder: "ADDRESS",
    env: ["HEDDLE_HOST"],
    default: "127.0.0.1",
    description: "Address to listen on.",
  },
  "data-dir": {
    type: "text",
    placeholder: "DIR",
    env: ["HEDDLE_DATA_DIR"],
    defaultNote: ".heddle beside the project's langgraph.json",
    description: "Where threads, runs and the embedded Postgres are kept.",
  },
  "postgres-uri": {
    type: "text",
    placeholder: "URI",
    env: ["DATABASE_URI"],
    description: "A Postgres 15 or newer to use instead of the embedded one.",
  },
  reload: {
    type: "switch",
    env: ["HEDDLE_RELOAD"],
    default: true,
    description: "Do not load graphs again when their files change.",
  },
  "n-jobs-per-worker": {
    type: "integer",
    placeholder: "N",
    env: ["N_JOBS_PER_WORKER"],
    min: 1,
    max: 10_000,
    description: "Runs that are executed at the same time.",
  },
  trace: {
    type: "switch",
    default: true,
    description: "Without the trace platform. This version has none yet, so nothing changes.",
  },
  console: {
    type: "switch",
    default: true,
    description: "Without the console. This version has none yet, so nothing changes.",
  },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Serve a LangGraph project";

export function help(): string {
  return `Usage: heddle dev [options]

Serves the graphs of a langgraph.json, loads them again when they change, and keeps threads and runs
in an embedded Postgres. Needs no account, key or container.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const given = readFlags(flags, args, process.env);
  const config = resolve(given.config);
  if (!existsSync(config)) throw new UsageError(missingConfig(config));
  const dataDir = resolve(given["data-dir"] ?? join(dirname(config), ".heddle"));

  const { startAgentServer } = await import("../../../server/src/main.ts");
  // The first time is part of the banner.
  let announce = (_graphs: Graphs) => {};
  const starting = startAgentServer({
    config,
    host: given.host,
    port: given.port,
    dataDir,
    databaseUri: given["postgres-uri"],
    reload: given.reload,
    jobs: given["n-jobs-per-worker"],
    onGraphs: (graphs) => announce(graphs),
  });
  // At once, because a start may take seconds: a Ctrl-C then ends what was started meanwhile.
  onStopSignal(async () => (await starting).close());
  const server = await starting.catch((error: unknown) => {
    throw explain(error, given.host, given.port, given["postgres-uri"]);
  });
  for (const warning of server.warnings) console.error(`heddle: ${warning}`);
  const slow = setTimeout(() => console.error(`${server.url} answers; the graphs are still loading.`), 5_000);
  const graphs = await server.graphs;
  clearTimeout(slow);
  process.stdout.write(
    await banner({
      url: server.url,
      version: readVersion(),
      config,
      dataDir,
      database: given["postgres-uri"] ? "DATABASE_URI" : "embedded Postgres in the data directory",
      graphs,
    }),
  );
  announce = (reloaded) => process.stdout.write(`Graphs loaded again.\n${describeGraphs(reloaded)}\n`);
}

function missingConfig(config: string): string {
  return `There is no ${config}.

Start in the directory of a LangGraph project, or name its file with --config. The smallest one is

  { "graphs": { "agent": "./src/agent.ts:graph" } }

where ./src/agent.ts exports the graph as "graph".`;
}

/** Gives an error of the start its place: which port, which database. */
function explain(error: unknown, host: string, port: number, databaseUri: string | undefined): Error {
  const { code = "", message } = error as { code?: string; message: string };
  if (code === "EADDRINUSE") {
    return new Error(`Port ${port} is in use on ${host}. Choose another with --port or HEDDLE_AGENT_PORT.`);
  }
  if (code === "EACCES") return new Error(`Port ${port} on ${host} is not for this user. Choose another with --port.`);
  const unreachable = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET|CONN|28|3D)/.test(code);
  if (databaseUri && unreachable) {
    return new Error(`The Postgres of DATABASE_URI (${withoutPassword(databaseUri)}) does not take us: ${message}`);
  }
  return error as Error;
}

function withoutPassword(uri: string): string {
  if (!URL.canParse(uri)) return "not a URL";
  const { host, pathname } = new URL(uri);
  return host + pathname;
}
