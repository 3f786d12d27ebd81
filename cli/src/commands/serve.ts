import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { doNotLoad, graphNotes, type Graphs, loadErrors } from "../core/banner.ts";
import { serveConsole } from "../core/console-server.ts";
import { explainStart } from "../core/explain-start.ts";
import { describeFlags, readFlags, UsageError, type Flags, type FlagSpec } from "../core/flags.ts";
import { warnOfMisspelled } from "../core/known-variables.ts";
import { launcherPath } from "../core/launcher.ts";
import { onParentEnd } from "../core/parent-end.ts";
import { SERVER_FLAGS } from "../core/server-flags.ts";
import { needsRestarts, runWithRestarts, notifyLauncher } from "../core/restarts.ts";
import { onStopSignal } from "../core/stop-signals.ts";
import type { FromChild, FromParent } from "../core/trace-process.ts";

const ROLES = ["trace", "control", "gateway", "agent", "worker", "console"] as const;
type Role = (typeof ROLES)[number];

export const serveFlags = {
  role: {
    type: "text",
    placeholder: "ROLE[,ROLE]",
    env: ["HEDDLE_ROLE"],
    description: `Roles to run in this process: ${ROLES.join(", ")}, or several separated by commas.`,
  },
  config: {
    type: "text",
    placeholder: "FILE",
    default: "langgraph.json",
    description: "The project to serve, for the roles agent and worker.",
  },
  port: SERVER_FLAGS.port,
  "trace-port": SERVER_FLAGS["trace-port"],
  "control-port": SERVER_FLAGS["control-port"],
  "gateway-port": SERVER_FLAGS["gateway-port"],
  "console-port": SERVER_FLAGS["console-port"],
  "agent-url": {
    type: "text",
    placeholder: "URL",
    env: ["HEDDLE_CONSOLE_AGENT_URL"],
    description: "URL of the agent server for the role console, if it runs elsewhere.",
  },
  "trace-url": {
    type: "text",
    placeholder: "URL",
    env: ["HEDDLE_CONSOLE_TRACE_URL"],
    description: "URL of the trace platform for the role console, if it runs elsewhere.",
  },
  "control-url": {
    type: "text",
    placeholder: "URL",
    env: ["HEDDLE_CONSOLE_CONTROL_URL"],
    description: "URL of the control plane for the role console, if it runs elsewhere.",
  },
  host: SERVER_FLAGS.host,
  "data-dir": {
    type: "text",
    placeholder: "DIR",
    env: ["HEDDLE_DATA_DIR"],
    defaultNote: ".heddle next to the project's langgraph.json; in the working directory for the role trace alone",
    description: "Directory of the embedded Postgres and other files.",
  },
  "postgres-uri": SERVER_FLAGS["postgres-uri"],
  reload: {
    type: "switch",
    env: ["HEDDLE_RELOAD"],
    default: false,
    description: "Reload graphs when their files change.",
  },
  "n-jobs-per-worker": SERVER_FLAGS["n-jobs-per-worker"],
  supervised: {
    type: "switch",
    default: false,
    internal: true,
    description: "For heddle dev: the parent process passes the database, and this process exits with it.",
  },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Run one or several roles for production";

export function help(): string {
  return `Usage: heddle serve --role ROLE[,ROLE] [options]

Runs the agent server, the trace platform, the control plane, the console or several of them in one
process, configured by flags and environment variables. Servers that share a Postgres work together.
A worker executes runs that agent servers have accepted; its port serves only /livez, /readyz, /ok
and /metrics. A gateway forwards requests to deployments, whether or not a control plane runs.
REDIS_URI lowers the latency of streams between servers.

Options:
${describeFlags(serveFlags)}
`;
}

interface RoleOptions {
  flags: Flags<typeof serveFlags>;
  dataDir: string;
  database: string | FromParent["database"] | undefined;
  /** Key by which the trace platform accepts the agent server's traces. */
  tracingKey: string;
}

/** A started role. */
interface Running {
  url: string;
  /** Access policy with its reason, as text; absent for the console, which has none. */
  access?: string;
  /** Isolation of deployments that run as processes; null where containers run them. */
  isolation?: string | null;
  firstKey: string | null;
  close(): Promise<void>;
}

export async function run(args: string[]): Promise<void> {
  const options = readFlags(serveFlags, args, process.env);
  const roles = readRoles(options.role);
  const config = resolve(options.config);
  const executing = roles.find((role) => role === "agent" || role === "worker");
  if (executing && !existsSync(config)) {
    throw new UsageError(`There is no ${config}. The role ${executing} needs a project; name its file with --config.`);
  }
  if (executing && needsRestarts(config)) return runWithRestarts("serve", args);
  const home = executing ? dirname(config) : process.cwd();
  const dataDir = resolve(options["data-dir"] ?? join(home, ".heddle"));
  const tracingKey = randomBytes(32).toString("base64url");
  const roleOptions = { flags: options, dataDir, database: options["postgres-uri"], tracingKey };
  if (options.supervised) return runSupervised(roleOptions);

  const starting = startRoles(roles, roleOptions);
  onStopSignal(async () => stopAll(await starting));
  const started = await starting;
  notifyLauncher("ready");
  for (const { url, firstKey, role, access, isolation } of started) {
    process.stdout.write(`${NAMES[role]} ${url}\n`);
    if (access !== undefined) process.stdout.write(`  ${access}\n`);
    if (isolation) process.stdout.write(`  ${isolation}\n`);
    if (firstKey) process.stdout.write(`First API key, shown only once: ${firstKey}\n`);
  }
  await warnOfMisspelled(process.env);
}

const NAMES: Record<Role, string> = {
  agent: "Agent server",
  trace: "Trace platform",
  control: "Control plane",
  gateway: "Gateway",
  worker: "Worker",
  console: "Console",
};

export function readRoles(text: string | undefined): Role[] {
  const names = (text ?? "").split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !ROLES.some((role) => role === name));
  if (names.includes("agent") && names.includes("worker")) {
    throw new UsageError(
      "The roles agent and worker cannot share a process, because an agent server executes runs itself.",
    );
  }
  if (names.includes("control") && names.includes("gateway")) {
    throw new UsageError(
      "The roles control and gateway cannot share a process: the control plane has its own gateway. Run " +
        "heddle serve --role gateway in another process.",
    );
  }
  if (unknown.length === 0) return [...new Set(names as Role[])];
  const wrong = text === undefined ? "--role is required" : `There is no role "${unknown[0]}"`;
  throw new UsageError(`${wrong}: ${ROLES.join(", ")}, or several separated by commas.`);
}

async function startRoles(roles: Role[], options: RoleOptions): Promise<(Running & { role: Role })[]> {
  const running: (Running & { role: Role })[] = [];
  try {
    // sequentially, so that they do not both start the embedded Postgres; the receiver of the traces comes first
    const urls: Partial<Record<Role, string>> = {};
    for (const role of ROLES.filter((role) => roles.includes(role))) {
      const started =
        role === "console" ? await startConsoleRole(options, urls) : await startRole(role, options, urls.trace);
      urls[role] = started.url;
      running.push({ ...started, role });
    }
  } catch (error) {
    await stopAll(running);
    throw error;
  }
  return running;
}

/** Serves the console for the roles in this process and those that the flags name. */
async function startConsoleRole({ flags }: RoleOptions, urls: Partial<Record<Role, string>>): Promise<Running> {
  const { agent, trace, control } = {
    agent: flags["agent-url"] ?? urls.agent,
    trace: flags["trace-url"] ?? urls.trace,
    control: flags["control-url"] ?? urls.control,
  };
  for (const url of [agent, trace, control]) {
    if (url !== undefined && !URL.canParse(url)) throw new UsageError(`${url} is not a URL.`);
  }
  if (agent === undefined && trace === undefined && control === undefined) {
    throw new UsageError(
      "The role console needs other servers to show: name them with --agent-url, --trace-url or --control-url.",
    );
  }
  const { host, "console-port": port } = flags;
  const at = { host, port };
  const roleUrls = { agent: () => agent ?? null, trace: () => trace ?? null, control: () => control ?? null };
  const { outcome, close } = await serveConsole(at, roleUrls, (message) => console.error(`heddle: ${message}`));
  if ("problem" in outcome) throw new Error(outcome.problem);
  return { url: outcome.url, firstKey: null, close };
}

async function startRole(role: Exclude<Role, "console">, options: RoleOptions, tracesUrl?: string): Promise<Running> {
  const { flags, dataDir, database, tracingKey } = options;
  const { startAgentServer, startControlServer, startGatewayServer, startTraceServer } =
    await import("../../../server/src/main.ts");
  const { host, reload, "n-jobs-per-worker": jobs } = flags;
  const port = flags[PORT_FLAGS[role]];
  const common = { host, port, dataDir, database };
  try {
    // beside a developer's agents it should cost little until there are traces; elsewhere it fails early
    if (role === "trace") return await startTraceServer({ ...common, tracingKey, opensOnUse: flags.supervised });
    if (role === "control") {
      const traces = tracesUrl === undefined ? undefined : Promise.resolve({ url: tracesUrl, key: tracingKey });
      return await startControlServer({ ...common, launcher: launcherPath(), traces });
    }
    if (role === "gateway") return await startGatewayServer(common);
    const traces = tracesUrl === undefined ? undefined : ({ state: "on", url: tracesUrl, key: tracingKey } as const);
    const worker = role === "worker";
    const server = await startAgentServer({
      ...common,
      config: resolve(flags.config),
      reload,
      jobs,
      traces,
      worker,
      onGraphs,
    });
    for (const warning of server.warnings) console.error(`heddle: ${warning}`);
    return server;
  } catch (error) {
    const databaseUri = typeof database === "string" ? database : undefined;
    throw explainStart(error, { host, port, databaseUri, ...PORT_NAMES[role] });
  }
}

/** Logs why a graph is missing, or which of its parts are not used, for servers that run unattended. */
const onGraphs = (graphs: Graphs): void => {
  for (const note of graphNotes(graphs)) console.error(note);
  for (const [error, ids] of loadErrors(graphs)) console.error(`${doNotLoad(ids)}: ${error}`);
};

const PORT_FLAGS = {
  agent: "port",
  worker: "port",
  trace: "trace-port",
  control: "control-port",
  gateway: "gateway-port",
  console: "console-port",
} as const;

const PORT_NAMES = {
  agent: { portFlag: "--port", portVariable: "HEDDLE_AGENT_PORT" },
  worker: { portFlag: "--port", portVariable: "HEDDLE_AGENT_PORT" },
  trace: { portFlag: "--trace-port", portVariable: "HEDDLE_TRACE_PORT" },
  gateway: { portFlag: "--gateway-port", portVariable: "HEDDLE_GATEWAY_PORT" },
  control: { portFlag: "--control-port", portVariable: "HEDDLE_CONTROL_PORT" },
  console: { portFlag: "--console-port", portVariable: "HEDDLE_CONSOLE_PORT" },
} satisfies Record<Role, object>;

async function stopAll(running: Running[]): Promise<void> {
  for (const { close } of running.reverse()) await close();
}

/** Runs the child's side of core/trace-process.ts. */
async function runSupervised(options: RoleOptions): Promise<void> {
  if (!process.send) throw new UsageError("--supervised is reserved for heddle dev");
  // a terminal sends these to the child too; the parent decides
  for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  let close = (): Promise<void> => Promise.resolve();
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    // exit even if an orderly stop fails
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref();
    void close()
      .catch(() => {})
      .finally(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  onParentEnd(stop);

  const { database, tracingKey } = await new Promise<FromParent>((received) => process.once("message", received));
  const notifyParent = (message: FromChild) => new Promise<void>((sent) => process.send!(message, () => sent()));
  const starting = startRole("trace", { ...options, database, tracingKey });
  close = async () => (await starting).close();
  try {
    const { url } = await starting;
    await notifyParent({ type: "ready", url });
  } catch (error) {
    if (stopping) return;
    const { code, name, message, cause } = error as { code?: string; name: string; message: string; cause?: unknown };
    const known = code ?? (cause as { code?: string } | undefined)?.code;
    await notifyParent({ type: "failed", message, code: name === "ConfigError" ? "CONFIG" : (known ?? "") });
    process.exit(1);
  }
}

const LAST_RESORT_MS = 12_000;
