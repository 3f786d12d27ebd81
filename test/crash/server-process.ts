import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, closeSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../server/src/base/free-port.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

export interface Installation {
  directory: string;
  dataDir: string;
  stepLog: string;
  remove(): void;
}

/** Creates a place for a server's data, its log and its graphs' step log; HEDDLE_CRASH_KEEP=1 keeps it. */
export function newInstallation(): Installation {
  const directory = mkdtempSync(join(tmpdir(), "heddle-crash-"));
  // Postgres does not run as root, and its user needs access to its data
  chmodSync(directory, 0o755);
  return {
    directory,
    dataDir: join(directory, "data"),
    stepLog: join(directory, "steps.jsonl"),
    remove() {
      if (process.env["HEDDLE_CRASH_KEEP"]) console.log(`kept for a look: ${directory}`);
      else rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * `heddle dev` on the crash project, on the same port across restarts. Its processes are found by process ids alone:
 * the server, its graph hosts (its children), and the Postgres of its data directory.
 */
export class ServerProcess {
  readonly url: string;
  readonly #installation: Installation;
  readonly #port: number;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  #exited: Promise<NodeJS.Signals | number | null> = Promise.resolve(null);
  /** Spawn time of the current process, in the clock of the step log. */
  spawnedAt = 0;

  private constructor(installation: Installation, port: number, env: Record<string, string>) {
    this.#installation = installation;
    this.#port = port;
    this.#env = env;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async create(installation: Installation, env: Record<string, string> = {}): Promise<ServerProcess> {
    return new ServerProcess(installation, await freePort(), env);
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Resolves with the signal or code the process exited with. */
  get exited(): Promise<NodeJS.Signals | number | null> {
    return this.#exited;
  }

  /** Spawns the server; `env` applies to this process only. */
  spawn(env: Record<string, string> = {}): void {
    const { directory, dataDir, stepLog } = this.#installation;
    const log = openSync(join(directory, `server-${this.#port}.log`), "a");
    const config = "test/crash/project/langgraph.json";
    const args = ["cli/bin/heddle.js", "dev", "--config", config, "--port", String(this.#port), "--data-dir", dataDir];
    this.spawnedAt = Date.now();
    const child = spawn(process.execPath, [...args, "--no-reload", "--no-trace"], {
      cwd: repository,
      stdio: ["ignore", log, log],
      env: { ...process.env, STEP_LOG: stepLog, ...this.#env, ...env },
    });
    closeSync(log);
    this.#child = child;
    this.#exited = new Promise((done) => {
      child.once("error", () => done(null));
      child.once("exit", (code, signal) => done(signal ?? code));
    });
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    this.spawn(env);
    await this.untilOk();
  }

  async untilOk(limitMs = 60_000): Promise<void> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const ok = await fetch(`${this.url}/ok`, { signal: AbortSignal.timeout(2000) }).then(
        async (response) => (await response.text(), response.ok),
        () => false,
      );
      if (ok) return;
      if (this.#child!.exitCode !== null || this.#child!.signalCode !== null) {
        throw new Error(`the server ended (${this.#child!.exitCode ?? this.#child!.signalCode}):\n${this.log()}`);
      }
      if (Date.now() > deadline) throw new Error(`the server did not answer /ok within ${limitMs} ms:\n${this.log()}`);
      await sleep(10);
    }
  }

  /** Throws, with the end of the log, when the server exited without having been killed. */
  assertAlive(): void {
    const { exitCode, signalCode } = this.#child!;
    if (exitCode !== null || signalCode !== null) {
      throw new Error(`the server ended by itself (${exitCode ?? signalCode}):\n${this.log()}`);
    }
  }

  async kill(): Promise<void> {
    this.#child!.kill("SIGKILL");
    await this.#exited;
  }

  async stop(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGTERM");
    const ended = await Promise.race([this.#exited.then(() => true), sleep(20_000, false, { ref: false })]);
    if (ended) return;
    await this.kill();
    throw new Error(`the server was still there 20 s after SIGTERM:\n${this.log()}`);
  }

  log(): string {
    const file = join(this.#installation.directory, `server-${this.#port}.log`);
    return existsSync(file) ? readFileSync(file, "utf8").slice(-6000) : "";
  }

  /** Process ids of its graph hosts. */
  hosts(): number[] {
    return processes()
      .filter(({ parent, command }) => parent === this.#child?.pid && command.includes("graph-host"))
      .map(({ pid }) => pid);
  }

  /** The postmaster of the data directory; undefined while there is none. */
  postmaster(): number | undefined {
    const file = join(this.#installation.dataDir, "postgres/data/postmaster.pid");
    const pid = existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : Number.NaN;
    return processes().some((entry) => entry.pid === pid && entry.command.includes("postgres")) ? pid : undefined;
  }

  /** Postgres backends that serve a client. */
  backends(): number[] {
    const postmaster = this.postmaster();
    return processes()
      .filter(({ parent, command }) => parent === postmaster && command.startsWith("postgres: heddle"))
      .map(({ pid }) => pid);
  }

  /** Address of the server's database, for direct access. */
  databaseUri(): string {
    return embeddedUri(this.#installation.dataDir);
  }
}

/** Address of the embedded Postgres of a data directory. */
export function embeddedUri(dataDir: string): string {
  const file = (name: string) => readFileSync(join(dataDir, "postgres", name), "utf8").trim();
  return `postgres://heddle:${encodeURIComponent(file("password"))}@127.0.0.1:${file("port")}/heddle`;
}

export function processes(): { pid: number; parent: number; command: string }[] {
  const text = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8", maxBuffer: 1 << 26 });
  return text
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map((match) => ({ pid: Number(match[1]), parent: Number(match[2]), command: match[3]! }));
}
