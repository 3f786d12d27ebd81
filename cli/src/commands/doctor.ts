import { resolve } from "node:path";

import type { Finding } from "../../../server/src/admin/doctor/finding.ts";
import { describeFlags, readArguments, type FlagSpec } from "../core/flags.ts";
import { DATA_FLAGS } from "../core/data-location.ts";
import { COMMAND_VARIABLES } from "../core/known-variables.ts";
import { SERVER_FLAGS } from "../core/server-flags.ts";
import { readRoles } from "./serve.ts";

const flags = {
  ...DATA_FLAGS,
  role: {
    type: "text",
    placeholder: "ROLE[,ROLE]",
    env: ["HEDDLE_ROLE"],
    defaultNote: "those that have run on the data directory",
    description: "Roles of this installation, whose ports are needed: as for heddle serve.",
  },
  host: SERVER_FLAGS.host,
  port: SERVER_FLAGS.port,
  "trace-port": SERVER_FLAGS["trace-port"],
  "control-port": SERVER_FLAGS["control-port"],
  "gateway-port": SERVER_FLAGS["gateway-port"],
  "console-port": SERVER_FLAGS["console-port"],
  json: { type: "switch", default: false, description: "Print the findings as one JSON document." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Examine an installation and say what to do";

export function help(): string {
  return `Usage: heddle doctor [options]

Examines an installation, running or not, with the environment and flags that its servers
get: versions, settings, data directory and disk, encryption keys, ports, Postgres
(reachability, durability, latency, clock, schema), the trace store, attachments, Redis,
access and outbound rules. It changes nothing; an embedded Postgres that does not run is
started for the examination.

Exit code: 0 without errors, 1 with errors, 2 for wrong usage. Warnings are no errors.

Options:
${describeFlags(flags)}
`;
}

const MARKS = { ok: "ok      ", warning: "WARNING ", error: "ERROR   ", skipped: "-       " };

/** Reads the command line. @throws UsageError */
export const readOptions = (args: string[], env: NodeJS.ProcessEnv) => readArguments(flags, args, env, 0);

/** What the command finds with these options and this environment. */
export async function* examine(
  { options, given }: ReturnType<typeof readOptions>,
  env: NodeJS.ProcessEnv,
): AsyncGenerator<Finding> {
  const { diagnose } = await import("../../../server/src/admin/doctor/diagnose.ts");
  const roles = options.role === undefined ? [] : readRoles(options.role);
  const target = {
    dataDir: resolve(options["data-dir"]),
    databaseUri: options["postgres-uri"],
    env,
    host: options.host,
    ports: {
      agent: options.port,
      trace: options["trace-port"],
      control: options["control-port"],
      gateway: options["gateway-port"],
      console: options["console-port"],
    },
    wanted: new Set([...roles.map((role) => (role === "worker" ? "agent" : role)), ...givenPorts(given, env)]),
    hasAllRoles: roles.length > 0,
    variables: COMMAND_VARIABLES,
  };
  yield* diagnose(target);
}

export async function run(args: string[]): Promise<void> {
  const read = readOptions(args, process.env);
  const { json } = read.options;
  const findings: Finding[] = [];
  for await (const finding of examine(read, process.env)) {
    findings.push(finding);
    if (json) continue;
    process.stdout.write(`${MARKS[finding.status]}${finding.check}: ${finding.message}\n`);
    if (finding.advice) process.stdout.write(`        ${finding.advice}\n`);
  }
  const count = (status: string) => findings.filter((finding) => finding.status === status).length;
  const [errors, warnings] = [count("error"), count("warning")];
  if (json) process.stdout.write(`${JSON.stringify({ ok: errors === 0, errors, warnings, findings }, null, 2)}\n`);
  else process.stdout.write(`\n${errors} errors, ${warnings} warnings, ${count("ok")} checks passed.\n`);
  process.exitCode = errors > 0 ? 1 : 0;
}

const PORT_FLAGS = {
  agent: "port",
  trace: "trace-port",
  control: "control-port",
  gateway: "gateway-port",
} as const;

/** Returns the servers whose ports are set, other than the console, without which the others run. */
function givenPorts(given: string[], env: NodeJS.ProcessEnv): (keyof typeof PORT_FLAGS)[] {
  const isGiven = (flag: (typeof PORT_FLAGS)[keyof typeof PORT_FLAGS]) =>
    given.includes(flag) || SERVER_FLAGS[flag].env.some((variable) => Boolean(env[variable]));
  return (Object.keys(PORT_FLAGS) as (keyof typeof PORT_FLAGS)[]).filter((name) => isGiven(PORT_FLAGS[name]));
}
