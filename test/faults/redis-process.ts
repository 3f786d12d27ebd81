import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

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
    await Promise.race([failed, answers(this.port)]);
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

async function answers(port: number): Promise<void> {
  for (let left = 200; left > 0; left--) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await sleep(50);
    } finally {
      socket.destroy();
    }
  }
  throw new Error("redis-server does not answer");
}
