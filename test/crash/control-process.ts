import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { Call } from "../../server/test/call.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** `heddle serve --role control`, or a standalone gateway, on the same port across restarts. */
export class ControlProcess {
  readonly url: string;
  readonly #role: "control" | "gateway";
  readonly #port: number;
  readonly #directory: string;
  readonly #database: string;
  #child: ChildProcess | undefined;
  #exited: Promise<NodeJS.Signals | number | null> = Promise.resolve(null);

  private constructor(directory: string, database: string, port: number, role: "control" | "gateway") {
    this.#role = role;
    this.#directory = directory;
    this.#database = database;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Allocates a port. Without `database`, the embedded one in the directory is used. */
  static async create(
    directory: string,
    database: string,
    role: "control" | "gateway" = "control",
  ): Promise<ControlProcess> {
    const probe = createServer();
    await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
    const { port } = probe.address() as { port: number };
    await new Promise((done) => probe.close(done));
    return new ControlProcess(directory, database, port, role);
  }

  /** Resolves when it answers. */
  async start(env: Record<string, string> = {}): Promise<void> {
    const logFile = join(this.#directory, "control.log");
    const log = openSync(logFile, "a");
    const args = ["cli/bin/heddle.js", "serve", "--role", this.#role, `--${this.#role}-port`, String(this.#port)];
    const child = spawn(process.execPath, [...args, "--data-dir", this.#directory], {
      cwd: repository,
      stdio: ["ignore", log, log],
      env: {
        ...process.env,
        ...(this.#database !== "" && { DATABASE_URI: this.#database }),
        HEDDLE_AUTH: "auto",
        HEDDLE_MIN_HEALTHY_MS: "100",
        HEDDLE_REVISION_LEASE_SECONDS: "5",
        HEDDLE_DRAIN_SECONDS: "2",
        ...env,
      },
    });
    closeSync(log);
    this.#child = child;
    this.#exited = new Promise((done) => child.once("exit", (code, signal) => done(signal ?? code)));
    for (const deadline = Date.now() + 60_000; ; await sleep(50)) {
      const ok = await fetch(`${this.url}/ok`).then(
        (response) => response.ok,
        () => false,
      );
      if (ok) return;
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        throw new Error(`the ${this.#role} did not start:\n${readFileSync(logFile, "utf8").slice(-4000)}`);
      }
    }
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Resolves with the signal or code the process exited with. */
  ended(): Promise<NodeJS.Signals | number | null> {
    return this.#exited;
  }

  signal(name: NodeJS.Signals): void {
    this.#child!.kill(name);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    await this.#exited;
  }

  readonly call: Call = async (method, path, body, headers = {}) => {
    const isText = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      ...(body !== undefined && { body: (isText ? body : JSON.stringify(body)) as string }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text.startsWith("{") ? JSON.parse(text) : undefined,
    };
  };
}

/** Returns processes whose environment names the given directory, except control planes: everything started there. */
export function findProcesses(directory: string, word: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, "utf8");
        // the sandbox's own command line contains its command's too
        return !line.startsWith("bwrap\0") && line.includes(directory) && line.includes(word) ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
}
