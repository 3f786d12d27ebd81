import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, expect, test } from "vitest";

import { kill, randomFrom, shuffled, type Victim } from "./kills.ts";
import { Ledger } from "./ledger.ts";
import { Load } from "./load.ts";
import { newInstallation, ServerProcess } from "./server-process.ts";
import { verify } from "./verify.ts";

/** Kills of one round. HEDDLE_CRASH_ROUNDS is 1 by default, and 2 in `.ci/run --all`. */
const ROUND: Record<Victim, number> = { host: 12, server: 4, postmaster: 5, backend: 4 };
const rounds = Number(process.env["HEDDLE_CRASH_ROUNDS"] ?? 1);
const TOTAL = rounds * Object.values(ROUND).reduce((sum, count) => sum + count);

const installation = newInstallation();
// a run that is hit many times by chance must not exhaust its attempts
const server = await ServerProcess.create(installation, { HEDDLE_RUN_MAX_ATTEMPTS: "1000" });

afterAll(async () => {
  await server.stop();
  installation.remove();
});

test("kills at random moments under a mixed load lose nothing that was acknowledged", async () => {
  const seed = Number(process.env["HEDDLE_CRASH_SEED"] ?? Date.now() % 1_000_000);
  console.log(`seed ${seed} (HEDDLE_CRASH_SEED repeats the order of the kills)`);
  const random = randomFrom(seed);
  await server.start();
  const load = new Load(server.url, new Ledger());
  load.start();
  const plan = Object.entries(ROUND).flatMap(([victim, count]) => Array<Victim>(count * rounds).fill(victim as Victim));
  const kills = { host: 0, server: 0, postmaster: 0, backend: 0 };
  for (const victim of shuffled(plan, random)) {
    const before = load.ledger.runs.size;
    await sleep(300 + random() * 2200);
    // a busy machine may have accepted nothing since the last kill: then this one would have nothing to lose
    while (load.ledger.runs.size === before) await sleep(50);
    while (!(await kill(victim, server, random))) await sleep(100);
    kills[victim]++;
  }
  await load.stop();
  await load.client.close();
  const { threads, runs, failedRequests } = load.ledger;
  console.log(
    "kills",
    kills,
    "threads",
    threads.size,
    "runs",
    runs.size,
    "failed requests",
    Object.fromEntries(failedRequests),
  );
  expect(Object.values(kills).reduce((sum, count) => sum + count)).toBe(TOTAL);
  expect(await verify(server.url, server.databaseUri(), installation.stepLog, load.ledger)).toEqual([]);
  expect(runs.size).toBeGreaterThanOrEqual(TOTAL);
}, 900_000);
