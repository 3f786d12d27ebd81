import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { Installation } from "./server-process.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** `heddle serve --role trace`, on the same port across restarts. */
export class TraceProcess {
  readonly url: string;
  readonly #port: number;
  readonly #installation: Installation;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  private constructor(installation: Installation, port: number) {
    this.#installation = installation;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async create(installation: Installation): Promise<TraceProcess> {
    const probe = createServer();
    await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
    const { port } = probe.address() as { port: number };
    await new Promise((done) => probe.close(done));
    return new TraceProcess(installation, port);
  }

  /** Resolves when it answers. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    const { directory, dataDir } = this.#installation;
    const logFile = join(directory, "trace.log");
    const log = openSync(logFile, "a");
    const args = ["cli/bin/heddle.js", "serve", "--role", "trace", "--trace-port", String(this.#port)];
    const child = spawn(process.execPath, [...args, "--data-dir", dataDir], {
      cwd: repository,
      stdio: ["ignore", log, log],
      env: { ...process.env, HEDDLE_RATE_LIMITS: "off", ...settings },
    });
    closeSync(log);
    this.#child = child;
    this.#exited = new Promise((done) => child.once("exit", done));
    const deadline = Date.now() + 60_000;
    for (;;) {
      const ok = await fetch(`${this.url}/ok`).then(
        (response) => response.ok,
        () => false,
      );
      if (ok) return;
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        throw new Error(`the trace platform didn't start:\n${readFileSync(logFile, "utf8")}`);
      }
      await sleep(20);
    }
  }

  /** Freezes or thaws it. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    this.#child!.kill("SIGKILL");
    await this.#exited;
  }

  async stop(): Promise<void> {
    this.#child?.kill("SIGTERM");
    await this.#exited;
  }
}
