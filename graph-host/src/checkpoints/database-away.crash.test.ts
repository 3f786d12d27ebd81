import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

import { FaultProxy } from "../../../test/faults/fault-proxy.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { DatabaseAwayError } from "./errors.ts";
import { HeddleSaver } from "./heddle-saver.ts";
import { startOwnPostgres } from "./test/own-postgres.ts";
import { echoGraph, twoStepGraph } from "./test/graphs.ts";

// A separate Postgres, because it is killed.
const own = await startOwnPostgres();
afterAll(() => own.stop());
const { uri } = own;

async function readLog(threadId: string): Promise<string[] | undefined> {
  const database = new CheckpointDatabase(uri);
  try {
    return (await echoGraph(new HeddleSaver(database)).getState(config(threadId))).values.log;
  } finally {
    await database.close();
  }
}

const config = (threadId: string) => ({ configurable: { thread_id: threadId }, durability: "sync" as const });

test("runs continue through a kill -9 of Postgres, and nothing committed is lost", async () => {
  const database = new CheckpointDatabase(uri);
  try {
    for (let round = 0; round < 3; round++) {
      const threads = Array.from({ length: 40 }, () => randomUUID());
      let ran = 0;
      const running = Promise.all(
        threads.map(async (threadId) => {
          const saver = new HeddleSaver(database);
          const graph = twoStepGraph(saver, async (node) => {
            ran += 1;
            await sleep(Math.random() * 100);
            return node;
          });
          const result = await graph.invoke({ last: "go" }, config(threadId));
          await saver.flush();
          return result.log;
        }),
      );
      await sleep(40 + Math.random() * 80);
      own.kill();
      await sleep(300);
      await own.restart();
      expect(await running).toEqual(threads.map(() => ["first first", "second second"]));
      expect(ran).toBe(threads.length * 2);
      for (const threadId of threads) expect(await readLog(threadId)).toEqual(["first first", "second second"]);
    }
  } finally {
    await database.close();
  }
}, 180_000);

test("rejects writes and reads when Postgres stays unavailable beyond the limit", async () => {
  const database = new CheckpointDatabase(uri, { awayMs: 700 });
  try {
    const saver = new HeddleSaver(database);
    await echoGraph(saver).invoke({ last: "one" }, config(randomUUID()));
    own.kill();
    const started = performance.now();
    await expect(echoGraph(new HeddleSaver(database)).invoke({ last: "two" }, config(randomUUID()))).rejects.toThrow(
      DatabaseAwayError,
    );
    const fresh = randomUUID();
    const writing = new HeddleSaver(database, { freshThread: fresh });
    await expect(echoGraph(writing).invoke({ last: "three" }, config(fresh))).rejects.toThrow(DatabaseAwayError);
    expect(performance.now() - started).toBeGreaterThan(700);
    await own.restart();
    const later = randomUUID();
    await echoGraph(new HeddleSaver(database)).invoke({ last: "four" }, config(later));
    expect(await readLog(later)).toEqual(["heard four"]);
    expect(await readLog(fresh)).toBeUndefined();
  } finally {
    await own.restart();
    await database.close();
  }
}, 180_000);

test("resends a write once when its connection goes silent, and the run continues", async () => {
  const proxy = await FaultProxy.before(uri);
  const database = new CheckpointDatabase(proxy.through(uri), { silenceMs: 500 });
  try {
    const threadId = randomUUID();
    let ran = 0;
    const graph = twoStepGraph(new HeddleSaver(database), async (node) => {
      ran += 1;
      if (node === "first") proxy.silence();
      return node;
    });
    const result = await graph.invoke({ last: "go" }, config(threadId));
    expect(result.log).toEqual(["first first", "second second"]);
    expect(ran).toBe(2);
    expect(await readLog(threadId)).toEqual(["first first", "second second"]);
  } finally {
    await database.close();
    await proxy.stop();
  }
}, 60_000);

/** Runs the two-step graph in a separate process, with fault points; returns the nodes that ran. */
function runInProcess(threadId: string, faultPoints: string): Promise<{ signal: string | null; ran: string[] }> {
  const script = fileURLToPath(new URL("test/fault-run.ts", import.meta.url));
  const env = { ...process.env, HEDDLE_FAULT_POINTS: faultPoints };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--import", "tsx", script, uri, threadId], { env }, (error, stdout) => {
      resolve({ signal: error?.signal ?? null, ran: stdout.split("\n").filter(Boolean) });
    });
  });
}

test("a process killed at a fault point has written all earlier steps, and no written step runs again", async () => {
  const before = randomUUID();
  expect(await runInProcess(before, "before-checkpoint:1")).toEqual({ signal: "SIGKILL", ran: ["first"] });
  expect(await readLog(before)).toBeUndefined();

  const after = randomUUID();
  expect(await runInProcess(after, "after-checkpoint:1")).toEqual({ signal: "SIGKILL", ran: ["first"] });
  expect(await readLog(after)).toEqual(["first first"]);
  expect(await runInProcess(after, "before-checkpoint:9")).toEqual({ signal: null, ran: ["second"] });
  expect(await readLog(after)).toEqual(["first first", "second second"]);
}, 180_000);
