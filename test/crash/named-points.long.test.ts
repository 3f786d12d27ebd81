import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, afterEach, beforeEach, expect, test } from "vitest";

import { Ledger } from "./ledger.ts";
import { Load, stepRuns } from "./load.ts";
import { newInstallation, ServerProcess } from "./server-process.ts";
import { verify } from "./verify.ts";

const installation = newInstallation();
// one host is enough here; each additional host makes every start slower
const server = await ServerProcess.create(installation, { HEDDLE_RUN_MAX_ATTEMPTS: "1000", HEDDLE_HOSTS: "1" });
let load: Load;

beforeEach(() => {
  load = new Load(server.url, new Ledger());
});
afterEach(async () => {
  await load.stop();
  await load.client.close();
  await server.stop();
});
afterAll(() => installation.remove());

test.each(["after-claim:1", "after-claim:5", "before-final-status:1", "before-final-status:4"])(
  "a server killed at %s loses nothing",
  async (point) => {
    await server.start({ HEDDLE_FAULT_POINTS: point });
    load.start();
    expect(await Promise.race([server.exited, sleep(30_000, "alive")])).toBe("SIGKILL");
    await server.start();
    await sleep(1500);
    await load.stop();
    expect(load.ledger.runs.size).toBeGreaterThan(0);
    expect(await verify(server.url, server.databaseUri(), installation.stepLog, load.ledger)).toEqual([]);
  },
);

test.each(["before-checkpoint:3", "after-checkpoint:3"])(
  "graph hosts that each die at %s lose no completed step",
  async (point) => {
    await server.start({ HEDDLE_FAULT_POINTS: point });
    load.start([stepRuns(6, 20), stepRuns(6, 20), stepRuns(6, 20)]);
    const pids = new Set<number>();
    const deadline = Date.now() + 40_000;
    let dead = 0;
    while (dead < 4) {
      const alive = server.hosts();
      for (const pid of alive) pids.add(pid);
      dead = pids.size - alive.length;
      if (Date.now() > deadline) throw new Error(`only ${dead} graph hosts died at ${point}`);
      await sleep(50);
    }
    // without the fault the rest succeeds; the load waits for its runs, so the new server must be up first
    await server.kill();
    await server.start();
    await load.stop();
    expect(load.ledger.runs.size).toBeGreaterThan(0);
    expect(await verify(server.url, server.databaseUri(), installation.stepLog, load.ledger)).toEqual([]);
  },
);
