import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describePart } from "../core/banner.ts";
import { type RunningConsole, serveConsole } from "../core/console-server.ts";
import { explainStart } from "../core/explain-start.ts";
import { describeFlags, readFlags, type FlagSpec } from "../core/flags.ts";
import { warnOfMisspelled } from "../core/known-variables.ts";
import { launcherPath } from "../core/launcher.ts";
import { offerChdb } from "../core/offer-chdb.ts";
import { SERVER_FLAGS } from "../core/server-flags.ts";
import { onStopSignal } from "../core/stop-signals.ts";
import { type TraceOutcome, TraceProcess } from "../core/trace-process.ts";
import { readVersion } from "../core/version.ts";

const flags = {
  "control-port": SERVER_FLAGS["control-port"],
  "trace-port": SERVER_FLAGS["trace-port"],
  console: SERVER_FLAGS.console,
  "console-port": SERVER_FLAGS["console-port"],
  host: SERVER_FLAGS.host,
  "data-dir": {
    type: "text",
    placeholder: "DIR",
    env: ["HEDDLE_DATA_DIR"],
    default: ".heddle",
    description: "Data directory of deployments, traces and the embedded Postgres.",
  },
  "postgres-uri": SERVER_FLAGS["postgres-uri"],
  trace: { type: "switch", env: ["HEDDLE_TRACE"], default: true, description: "Do not start the trace platform." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Run the whole platform on this machine, to deploy projects to";

export function help(): string {
  return `Usage: heddle up [options]

Runs the control plane with its gateway, the trace platform beside it and the console. heddle deploy
in a project's directory deploys it here. Existing deployments are started again; a signal to stop
stops them too, and hands back their runs.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  // also of the console in this process and of the trace platform, which inherits the environment
  process.env["HEDDLE_BESIDE_DEPLOYMENTS"] ??= "true";
  const options = readFlags(flags, args, process.env);
  const dataDir = resolve(options["data-dir"]);
  if (options.trace) await offerChdb(dataDir);
  const key = tracingKey(dataDir);
  const { startControlServer } = await import("../../../server/src/main.ts");
  let trace: TraceProcess | undefined;
  let consoleServer: RunningConsole | undefined;
  let tracesUrl: string | null = null;
  const print = (message: string) => console.error(`heddle: ${message}`);
  let resolveTraces = (_: { url: string; key: string } | null) => {};
  const traces = new Promise<{ url: string; key: string } | null>((resolve) => (resolveTraces = resolve));
  if (!options.trace) resolveTraces(null);
  const { host, "control-port": port, "postgres-uri": databaseUri } = options;
  const starting = startControlServer({
    host,
    port,
    dataDir,
    database: databaseUri,
    launcher: launcherPath(),
    traces,
    // after the deployments, whose traces it receives, and before the database that it shares
    stopOthers: async () => trace?.stop(),
  });
  // registered first, because a start may take seconds: Ctrl-C then stops what has been started so far
  onStopSignal(async () => {
    resolveTraces(null);
    const { close } = await starting;
    await consoleServer?.close();
    await close();
  });
  const server = await starting.catch((error: unknown) => {
    const names = { portFlag: "--control-port", portVariable: "HEDDLE_CONTROL_PORT" };
    throw explainStart(error, { host, port, ...names, databaseUri });
  });
  let outcome: TraceOutcome | undefined;
  if (options.trace) {
    const processOptions = {
      launcher: launcherPath(),
      host,
      port: options["trace-port"],
      dataDir,
      database: server.database,
    };
    const onUrl = (url: string | null) => {
      tracesUrl = url;
      resolveTraces(url === null ? null : { url, key });
    };
    trace = new TraceProcess({ ...processOptions, tracingKey: key, onUrl, print });
    outcome = await trace.start();
  }
  if (options.console) {
    const at = { host, port: options["console-port"], keysNeeded: server.keysNeeded };
    consoleServer = await serveConsole(at, { control: () => server.url, trace: () => tracesUrl }, print);
  }
  process.stdout.write(banner(server, dataDir, outcome, consoleServer?.outcome));
  await warnOfMisspelled(process.env);
}

/** Returns the same key at every start, because deployments that outlived a killed control plane still use it. */
function tracingKey(dataDir: string): string {
  const file = join(dataDir, "control", "tracing.key");
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  mkdirSync(join(dataDir, "control"), { recursive: true, mode: 0o700 });
  const key = randomBytes(32).toString("base64url");
  writeFileSync(file, key, { mode: 0o600 });
  return key;
}

interface StartedControl {
  url: string;
  keysNeeded: boolean;
  access: string;
  isolation: string | null;
  firstKey: string | null;
}

function banner(
  { url, keysNeeded, access, isolation, firstKey }: StartedControl,
  dataDir: string,
  traces: TraceOutcome | undefined,
  consoleOutcome: RunningConsole["outcome"] | undefined,
): string {
  const lines = [
    "",
    `Heddle ${readVersion()}`,
    "",
    `  Control   ${url}`,
    `  Docs      ${url}/docs`,
    ...(traces ? [describePart("Traces", traces)] : []),
    ...(consoleOutcome ? [describePart("Console", consoleOutcome)] : []),
    `  Data      ${dataDir}`,
    `  Access    ${access}`,
    ...(isolation === null ? [] : [`  Isolation ${isolation}`]),
  ];
  if (firstKey !== null) {
    const need = keysNeeded ? "Send it with requests as x-api-key." : "Requests from this machine do not need it.";
    lines.push("", `  Key       ${firstKey}`, `            Shown only once. ${need}`);
  }
  lines.push("", `Deploy a project from its directory: heddle deploy${url.endsWith(":2026") ? "" : ` --url ${url}`}`);
  return [...lines, "Stop with Ctrl-C.", "", ""].join("\n");
}
