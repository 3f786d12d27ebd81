import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { Language } from "./language.ts";
import { now } from "./now.ts";
import { stablePort } from "./stable-port.ts";
import { processes } from "../crash/server-process.ts";
import type { HealthSample } from "./check/world.ts";
import type { FaultProxy } from "../faults/fault-proxy.ts";

/** Part of the launcher's message when it cannot reach the database. */
const NO_DATABASE = "rejected the connection";

/** Time a server must stay ready without a break before it counts as stable until the next fault. */
const STEADY_MS = 3000;
/** Longest wait for that, and for a start on a busy machine. */
const UNSTEADY_MS = 300_000;

const repository = fileURLToPath(new URL("../..", import.meta.url));

export const FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/** Whether servers' clocks can be set, which needs Debian's package libfaketime. */
export const hasFaketime = (): boolean => existsSync(FAKETIME);

export interface FleetServerOptions {
  name: string;
  role: "agent" | "worker";
  jobs: number;
  /** The fleet's directory. It contains this server's logs, clock and data directory. */
  directory: string;
  /** Language of the graphs. */
  language: Language;
  flow: boolean;
  ledger: string;
  databaseUri: string;
  redisUri: string;
  postgresProxy: FaultProxy;
  redisProxy: FaultProxy;
  env: Record<string, string>;
  /** Called when the server exits without having been killed by the harness. */
  onExit(server: FleetServer, how: string): void;
}

/** A Heddle server with its graph hosts. Port and clock stay the same across restarts. */
export class FleetServer {
  readonly name: string;
  readonly dataDir: string;
  readonly postgresProxy: FaultProxy;
  readonly redisProxy: FaultProxy;
  readonly #o: FleetServerOptions;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #killed = false;
  /** Whether it has been ready since it was last spawned. */
  #hasServed = false;
  #stopped = false;
  #starting: Promise<void> | undefined;
  #frozen: number[] = [];

  private constructor(options: FleetServerOptions, port: number) {
    this.#o = options;
    this.#port = port;
    this.name = options.name;
    this.dataDir = join(options.directory, options.name);
    this.postgresProxy = options.postgresProxy;
    this.redisProxy = options.redisProxy;
    mkdirSync(this.dataDir, { recursive: true });
    this.setClock(0);
  }

  static async create(options: FleetServerOptions): Promise<FleetServer> {
    return new FleetServer(options, await stablePort());
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Sets the clock of the server and its hosts to the machine's plus `seconds`. Takes effect within a second. */
  setClock(seconds: number): void {
    const file = this.#clockFile();
    writeFileSync(`${file}.new`, `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`);
    renameSync(`${file}.new`, file);
  }

  /** Starts the server unless it is running. Resolves when it answers and has a graph host. */
  start(): Promise<void> {
    this.#starting ??= this.#untilReady().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  /**
   * Starts the server unless it is running. Resolves once it has stayed ready: effects of the last fault can show late.
   */
  async untilSteady(): Promise<void> {
    const deadline = now() + UNSTEADY_MS;
    for (let since = now(); now() - since < STEADY_MS; await sleep(150)) {
      if (now() > deadline)
        throw new Error(`${this.name} was not ready for ${STEADY_MS / 1000} s on end:\n${this.log()}`);
      if (this.#pids().length > 0 && (await this.#isReady())) continue;
      await this.start();
      since = now();
    }
  }

  /** Kills the server, its hosts, or both. Returns their pids. */
  async kill(which: "server" | "hosts" | "both"): Promise<number[]> {
    const hosts = which === "server" ? [] : this.hosts();
    const server = which === "hosts" ? [] : this.#pids();
    if (server.length > 0) this.#killed = true;
    for (const pid of [...server, ...hosts]) signal(pid, "SIGKILL");
    const child = this.#child;
    if (server.length > 0 && child && child.exitCode === null && child.signalCode === null) await once(child, "exit");
    return [...server, ...hosts];
  }

  freeze(which: "server" | "hosts" | "both"): number[] {
    const hosts = which === "server" ? [] : this.hosts();
    const server = which === "hosts" ? [] : this.#pids();
    // processes that another fault froze remain with that fault
    const pids = [...server, ...hosts].filter((pid) => !this.#frozen.includes(pid));
    this.#frozen.push(...pids);
    for (const pid of pids) signal(pid, "SIGSTOP");
    return pids;
  }

  /** Thaws these processes, hosts before their server. */
  thaw(pids: number[] = this.#frozen): void {
    for (const pid of pids.toReversed()) signal(pid, "SIGCONT");
    this.#frozen = this.#frozen.filter((pid) => !pids.includes(pid));
  }

  hosts(): number[] {
    const parent = this.#child?.pid;
    return processes().flatMap((entry) =>
      entry.parent === parent && /graph-host|heddle_host/.test(entry.command) ? entry.pid : [],
    );
  }

  /** Requests a path directly, not through a proxy; status 0 when there is no answer within `ms`. */
  async probe(path: string, ms = 5000): Promise<Pick<HealthSample, "status" | "detail">> {
    try {
      const response = await fetch(this.url + path, { signal: AbortSignal.timeout(ms) });
      const text = await response.text();
      return { status: response.status, ...(response.status !== 200 && { detail: text.slice(0, 300) }) };
    } catch (error) {
      return { status: 0, detail: (error as Error).message };
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.thaw();
    await this.kill("both");
  }

  log(): string {
    const file = this.#logFile();
    return existsSync(file) ? readFileSync(file, "utf8").slice(-4000) : "";
  }

  #pids(): number[] {
    const { pid, exitCode, signalCode } = this.#child ?? {};
    return pid === undefined || exitCode !== null || signalCode !== null ? [] : [pid];
  }

  #clockFile = (): string => join(this.#o.directory, `${this.name}.clock`);
  #logFile = (): string => join(this.#o.directory, `${this.name}.log`);

  async #untilReady(): Promise<void> {
    const deadline = Date.now() + UNSTEADY_MS;
    for (;;) {
      if (this.#stopped) throw new Error(`${this.name} was stopped while it started`);
      if (this.#pids().length === 0) this.#spawn();
      if (await this.#isReady()) return;
      if (Date.now() > deadline) throw new Error(`${this.name} does not get ready:\n${this.log()}`);
      await sleep(150);
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/ready`, { signal: AbortSignal.timeout(3000) });
      await response.text();
      this.#hasServed ||= response.ok;
      return response.ok;
    } catch {
      return false;
    }
  }

  #spawn(): void {
    const { role, jobs, language, flow, ledger, databaseUri, redisUri, env } = this.#o;
    const log = openSync(this.#logFile(), "a");
    const config = `test/chaos/${language === "python" ? "project-python" : "project"}/langgraph${flow ? ".flow" : ""}.json`;
    const args = ["cli/bin/heddle.js", "serve", "--role", role, "--config", config, "--port", String(this.#port)];
    const child = spawn(process.execPath, [...args, "--data-dir", this.dataDir], {
      cwd: repository,
      stdio: ["ignore", log, log],
      env: {
        ...process.env,
        ...env,
        DATABASE_URI: databaseUri,
        REDIS_URI: redisUri,
        N_JOBS_PER_WORKER: String(jobs),
        CHAOS_LEDGER: ledger,
        ...(hasFaketime() && {
          LD_PRELOAD: FAKETIME,
          FAKETIME_TIMESTAMP_FILE: this.#clockFile(),
          FAKETIME_CACHE_DURATION: "1",
          FAKETIME_DONT_FAKE_MONOTONIC: "1",
          FAKETIME_DISABLE_SHM: "1",
          NO_FAKE_STAT: "1",
        }),
      },
    });
    closeSync(log);
    this.#child = child;
    this.#killed = false;
    this.#hasServed = false;
    child.once("exit", (code, how) => {
      // a start without a database exits with the reason; an orchestrator would restart it
      const rejected = !this.#hasServed && code === 1 && this.log().slice(-600).includes(NO_DATABASE);
      if (rejected) void sleep(500).then(() => this.start().catch(() => {}));
      else if (!this.#killed) this.#o.onExit(this, String(how ?? code));
    });
    child.once("error", () => {});
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // the process has already exited
  }
}
