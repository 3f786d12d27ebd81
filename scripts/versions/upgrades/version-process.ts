/** A process of some version of Heddle. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Where a part of the upgrades works. */
export interface Place {
  /** Checkout of the release. */
  earlier: string;
  /** Checkout of this version. */
  current: string;
  directory: string;
}

const START_MS = 120_000;
const STOP_MS = 60_000;
let logs = 0;

export class VersionProcess {
  readonly #child: ChildProcess;
  readonly #log: string;
  readonly #exited: Promise<number | NodeJS.Signals>;

  /** Spawns `heddle ARGS` of a checkout; its output goes to a file in `directory`. */
  constructor(root: string, args: string[], directory: string, env: Record<string, string> = {}) {
    this.#log = join(directory, `heddle-${logs++}.log`);
    const log = openSync(this.#log, "a");
    this.#child = spawn(process.execPath, [join(root, "cli/bin/heddle.js"), ...args], {
      cwd: directory,
      stdio: ["ignore", log, log],
      env: { ...process.env, HEDDLE_AUTH: "auto", ...env },
    });
    closeSync(log);
    this.#exited = new Promise((done) => this.#child.once("exit", (code, signal) => done(signal ?? code!)));
  }

  /** Resolves when a URL answers with 200. @throws with the process's output if it ends or takes too long */
  async until(url: string): Promise<void> {
    for (const deadline = Date.now() + START_MS; ; await sleep(50)) {
      const options = { signal: AbortSignal.timeout(2000) };
      const isOk = await fetch(url, options).then(
        async (response) => (await response.text(), response.ok),
        () => false,
      );
      if (isOk) return;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null || Date.now() > deadline) {
        await this.kill();
        throw new Error(`${url} is not answered:\n${this.printed().slice(-4000)}`);
      }
    }
  }

  /** Resolves with the code or signal with which it ends by itself. */
  async ended(limitMs: number): Promise<number | NodeJS.Signals | "runs"> {
    return Promise.race([this.#exited, sleep(limitMs, "runs" as const, { ref: false })]);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    if ((await this.ended(STOP_MS)) === "runs") {
      await this.kill();
      throw new Error(`still there ${STOP_MS / 1000} s after SIGTERM:\n${this.printed().slice(-4000)}`);
    }
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  printed(): string {
    return readFileSync(this.#log, "utf8");
  }
}
