import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../src/base/free-port.ts";
import { atEnd } from "./at-end.ts";

/** A separate Redis, which a test may stop, freeze and restart. Needs `redis-server` in the PATH. */
export interface TestRedis {
  uri: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Accepts connections and commands without answering. */
  freeze(): void;
  thaw(): void;
}

export async function testRedis(): Promise<TestRedis> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), "heddle-redis-"));
  let child: ChildProcess | undefined;
  const redis: TestRedis = {
    uri: `redis://127.0.0.1:${port}/0`,
    async start() {
      const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
      const started = spawn("redis-server", [...options, "--dir", directory], { stdio: "ignore" });
      child = started;
      const failed = once(started, "error").then(([error]) => {
        throw error as Error;
      });
      await Promise.race([failed, answers(port)]);
      failed.catch(() => {});
    },
    async kill() {
      if (!child) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      child = undefined;
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
  };
  await redis.start();
  atEnd(async () => {
    await redis.kill();
    rmSync(directory, { recursive: true, force: true });
  });
  return redis;
}

async function answers(port: number): Promise<void> {
  for (let left = 100; left > 0; left--) {
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
