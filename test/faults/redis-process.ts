import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

import { untilListening } from "./until-listening.ts";

/** A Redis on the same port across restarts, which can be killed and frozen. Needs `redis-server` in the PATH. */
export class RedisProcess {
  readonly port: number;
  readonly #dir: string;
  #child: ChildProcess | undefined;

  constructor(port: number, dir: string) {
    this.port = port;
    this.#dir = dir;
  }

  get uri(): string {
    return `redis://127.0.0.1:${this.port}/0`;
  }

  async start(): Promise<void> {
    const options = ["--port", String(this.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    const child = spawn("redis-server", [...options, "--dir", this.#dir], { stdio: "ignore" });
    this.#child = child;
    const failed = once(child, "error").then(([error]) => {
      // it did not start, so `stop` has no exit to wait for
      this.#child = undefined;
      const how = "Install it (on Debian: apt-get install redis-server), or add it to PATH";
      throw new Error(`redis-server did not start: ${(error as Error).message}. ${how}`);
    });
    failed.catch(() => {});
    await Promise.race([failed, untilListening(this.port, 200)]);
  }

  async kill(): Promise<number[]> {
    const child = this.#child;
    if (!child) return [];
    this.#child = undefined;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    return [child.pid!];
  }

  freeze(): number[] {
    this.#child?.kill("SIGSTOP");
    return this.#child?.pid === undefined ? [] : [this.#child.pid];
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }
}
