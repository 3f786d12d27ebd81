/**
 * The servers under attack, as users start them, with 512 MB of heap and keys required: `heddle dev` with the graphs of
 * the conformance suite, and `heddle up` with the control plane, its gateway, the trace platform and the console.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import postgres from "postgres";

import type { Sql } from "../../server/src/base/db/connect.ts";
import { testDataDirectory } from "../../server/test/control-plane.ts";
import { findListener } from "../security/flood.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const START_MS = 240_000;
const STOP_MS = 40_000;

export const HEAP_MB = 512;
export const MAX_GROWTH_MIB = 256;
export const COMMANDS = ["dev", "up", "app", "python"] as const;
export type CommandName = (typeof COMMANDS)[number];
export const ALL_SERVERS = ["agent", "trace", "control", "console", "app", "python"] as const;
export type ServerName = (typeof ALL_SERVERS)[number];

/** Those that can run here: a project's app in Python needs the interpreter of `HEDDLE_PYTHON`. */
export const SERVERS: readonly ServerName[] = ALL_SERVERS.filter(
  (name) => name !== "python" || process.env["HEDDLE_PYTHON"] !== undefined,
);

/** The command that starts a server, and the option that sets its port. */
const STARTED_BY: Record<ServerName, { command: CommandName; port: string }> = {
  agent: { command: "dev", port: "--port" },
  trace: { command: "up", port: "--trace-port" },
  control: { command: "up", port: "--control-port" },
  console: { command: "up", port: "--console-port" },
  // agent servers of projects with an HTTP app
  app: { command: "app", port: "--port" },
  python: { command: "python", port: "--port" },
};

/** Projects of the commands that serve one. */
const PROJECTS: Partial<Record<CommandName, string>> = {
  dev: "conformance/project",
  app: "test/hostile/project",
  python: "test/hostile/project-python",
};

export const commandOf = (server: ServerName): CommandName => STARTED_BY[server].command;

/** A running `heddle` command with its data, on the same ports across restarts. */
export class Command {
  readonly name: CommandName;
  readonly ports: Partial<Record<ServerName, number>> = {};
  /** OTLP over gRPC of the trace platform. */
  grpcPort = 0;
  /** The key of the first start, which may do everything in the first workspace. */
  key = "";
  sql!: Sql;
  readonly #directory: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;

  constructor(name: CommandName, directory: string, env: Record<string, string>) {
    this.name = name;
    this.#directory = join(directory, name);
    this.#env = env;
    mkdirSync(this.#directory);
    chmodSync(this.#directory, 0o755);
  }

  get dataDir(): string {
    return join(this.#directory, "data");
  }

  /** Everything that the command has logged, in all its starts. */
  log(): string {
    const file = join(this.#directory, "errors");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** Starts it, or starts it again. */
  async start(): Promise<void> {
    const servers = ALL_SERVERS.filter((server) => commandOf(server) === this.name);
    for (const server of servers) this.ports[server] ??= await freePort();
    if (this.name === "up") this.grpcPort ||= await freePort();
    const project = PROJECTS[this.name];
    const args =
      project === undefined
        ? [this.name]
        : ["dev", "--config", `${project}/langgraph.json`, "--no-reload", "--no-console", "--no-trace"];
    for (const server of servers) args.push(STARTED_BY[server].port, String(this.ports[server]));
    const output = join(this.#directory, "output");
    const [out, err] = [openSync(output, "w"), openSync(join(this.#directory, "errors"), "a")];
    const child = spawn(process.execPath, ["cli/bin/heddle.js", ...args, "--data-dir", this.dataDir], {
      cwd: root,
      env: { ...process.env, ...ENVIRONMENT, HEDDLE_OTLP_GRPC_PORT: String(this.grpcPort), ...this.#env },
      stdio: ["ignore", out, err],
    });
    this.#child = child;
    closeSync(out);
    closeSync(err);
    for (const deadline = Date.now() + START_MS; ; await sleep(100)) {
      const banner = readFileSync(output, "utf8");
      if (banner.includes("Stop with Ctrl-C") && (await this.#areAllReady())) {
        this.key ||= /Key\s+(lsv2_\S+)/.exec(banner)?.[1] ?? "";
        break;
      }
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`heddle ${this.name} did not start:\n${this.log().slice(-4000)}`);
      }
    }
    if (!this.sql) this.sql = this.#connect();
  }

  async restart(): Promise<void> {
    await this.#end();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.sql?.end({ timeout: 5 });
    await this.#end();
  }

  /** The pids of the server processes, the launcher's among them. */
  pids(): Record<string, number> {
    const listeners = Object.entries(this.ports).map(([server, port]) => [server, findListener(port)] as const);
    return { launcher: this.#child!.pid!, ...Object.fromEntries(listeners) };
  }

  async #areAllReady(): Promise<boolean> {
    const answers = Object.entries(this.ports).map(([server, port]) =>
      fetch(`http://127.0.0.1:${port}${server === "console" ? "/livez" : "/readyz"}`).then(
        async (response) => (await response.arrayBuffer(), response.ok),
        () => false,
      ),
    );
    return (await Promise.all(answers)).every(Boolean);
  }

  #connect(): Sql {
    const directory = join(this.dataDir, "postgres");
    const [port, password] = ["port", "password"].map((file) => readFileSync(join(directory, file), "utf8").trim());
    return postgres(`postgres://heddle:${password}@127.0.0.1:${port}/heddle`, { max: 2, onnotice: () => {} });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const descendants = listDescendants(child.pid!);
    child.kill("SIGTERM");
    const timer = setTimeout(() => {
      for (const pid of [child.pid!, ...descendants]) end(pid);
    }, STOP_MS);
    await ended;
    clearTimeout(timer);
  }
}

/** Pids of all processes below one, at this moment. */
export function listDescendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const parent = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // it has exited
    }
  }
  const found = [...(children.get(pid) ?? [])];
  for (let n = 0; n < found.length; n++) found.push(...(children.get(found[n]!) ?? []));
  return found;
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has exited
  }
}

const ENVIRONMENT = {
  NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  HEDDLE_AUTH: "required",
  HEDDLE_RATE_LIMITS: "off",
  HEDDLE_LOG_LEVEL: "info",
  HEDDLE_HOSTS: "2",
  // a run that waits for an answer would never end
  HEDDLE_RUN_TIMEOUT_SECS: "5",
  HEDDLE_GIT_SECONDS: "5",
  HEDDLE_OUTBOUND_ALLOW: "127.0.0.1",
  HEDDLE_CONSOLE: "true",
};

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => void probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A directory for the data of all commands, in which deployments find the packages of the repository. */
export function makeDirectory(): { path: string; remove(): void } {
  const path = testDataDirectory();
  // Postgres does not run as root, and its user must reach its data
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
