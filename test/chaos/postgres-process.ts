import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import postgres from "postgres";

import { clusterOwner, type OsUser } from "../../server/src/base/db/cluster-owner.ts";
import { initCluster } from "../../server/src/base/db/init-cluster.ts";
import { findPostgresBinaries, type PostgresBinaries } from "../../server/src/base/db/postgres-binaries.ts";
import { stablePort } from "./stable-port.ts";
import { processes } from "../crash/server-process.ts";

const USER = "heddle";

/** Small but durable settings: a kill must lose nothing that was acknowledged. */
const SETTINGS: Record<string, string> = {
  max_connections: "150",
  shared_buffers: "64MB",
  max_wal_size: "96MB",
  min_wal_size: "32MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  io_method: "sync",
  jit: "off",
  timezone: "UTC",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  log_line_prefix: "%m [%p] ",
};

/**
 * A Postgres that the nemesis kills, freezes and whose disk it fills; a child of this process, always on the same port.
 */
export class PostgresProcess {
  readonly #dir: string;
  readonly #port: number;
  readonly #owner: OsUser | null;
  readonly #binaries: PostgresBinaries;
  #child: ChildProcess | undefined;
  #starting: Promise<void> | undefined;
  #frozen: number[] = [];

  private constructor(dir: string, port: number, owner: OsUser | null) {
    this.#dir = dir;
    this.#port = port;
    this.#owner = owner;
    this.#binaries = findPostgresBinaries(owner);
  }

  /** Creates a cluster in `dir` and starts it. */
  static async create(dir: string): Promise<PostgresProcess> {
    mkdirSync(dir, { recursive: true, mode: 0o755 });
    const owner = clusterOwner(join(dir, "data"));
    const created = new PostgresProcess(dir, await stablePort(), owner);
    await initCluster(dir, USER, created.#binaries, owner);
    try {
      await created.start();
      const sql = postgres(created.#uri(created.#port, "postgres"), { max: 1, onnotice: () => {} });
      await sql`create database heddle`;
      await sql.end();
      return created;
    } catch (error) {
      await created.stop();
      throw error;
    }
  }

  get port(): number {
    return this.#port;
  }

  /** Address through the port of a proxy; without a port, of Postgres itself. */
  uri(port = this.#port): string {
    return this.#uri(port, "heddle");
  }

  /** Resolves when it accepts connections; retries while it cannot start. */
  start(): Promise<void> {
    this.#starting ??= this.#untilReady().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  /** Returns the killed pids; none while frozen, because a restarted process would not be frozen. */
  async kill(): Promise<number[]> {
    if (this.#frozen.length > 0) return [];
    const pids = this.pids();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return [];
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    // backends exit when they notice; a frozen one has to be thawed first
    for (const pid of pids) signal(pid, "SIGKILL");
    return pids;
  }

  /** Returns the frozen pids; none when it is already frozen or not running. */
  freeze(): number[] {
    const postmaster = this.#child;
    if (this.#frozen.length > 0 || this.#starting) return [];
    if (!postmaster || postmaster.exitCode !== null || postmaster.signalCode !== null) return [];
    // before listing its children, so that it cannot fork another one
    postmaster.kill("SIGSTOP");
    this.#frozen = this.pids();
    for (const pid of this.#frozen) signal(pid, "SIGSTOP");
    return this.#frozen;
  }

  thaw(): void {
    for (const pid of this.#frozen.toReversed()) signal(pid, "SIGCONT");
    this.#frozen = [];
  }

  async stop(): Promise<void> {
    this.thaw();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGQUIT");
    await Promise.race([exited, sleep(5000)]);
    await this.kill();
  }

  /** The postmaster and its children. */
  pids(): number[] {
    const postmaster = this.#child?.pid;
    if (postmaster === undefined) return [];
    return processes().flatMap(({ pid, parent }) => (pid === postmaster || parent === postmaster ? pid : []));
  }

  #uri(port: number, database: string): string {
    const password = readFileSync(join(this.#dir, "password"), "utf8").trim();
    return `postgres://${USER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  }

  async #untilReady(): Promise<void> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const { exitCode, signalCode } = this.#child ?? { exitCode: 0, signalCode: null };
      if (exitCode !== null || signalCode !== null) this.#spawn();
      if (await this.#answers()) return;
      if (Date.now() > deadline) throw new Error(`Postgres does not start: see ${join(this.#dir, "postgres.log")}`);
      await sleep(200);
    }
  }

  async #answers(): Promise<boolean> {
    const sql = postgres(this.#uri(this.#port, "postgres"), { max: 1, connect_timeout: 2, onnotice: () => {} });
    try {
      await sql`select 1`;
      return true;
    } catch {
      return false;
    } finally {
      await sql.end({ timeout: 0 });
    }
  }

  #spawn(): void {
    const cluster = join(this.#dir, "data");
    rmSync(join(cluster, "postmaster.pid"), { force: true });
    const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const log = openSync(join(this.#dir, "postgres.log"), "a");
    this.#child = spawn(
      this.#binaries.postgres,
      ["-D", this.#owner ? "/proc/self/cwd" : cluster, "-p", String(this.#port), ...flags],
      {
        cwd: cluster,
        stdio: ["ignore", log, log],
        env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
        ...this.#owner,
      },
    );
    this.#child.on("error", () => {});
    closeSync(log);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // the process has already exited
  }
}
