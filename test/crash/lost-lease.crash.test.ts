import { setTimeout as sleep } from "node:timers/promises";

import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";

import { readLog, violations } from "./check-log.ts";
import { Ledger } from "./ledger.ts";
import { LoadClient } from "./load-client.ts";
import { newInstallation, ServerProcess } from "./server-process.ts";

/** Two servers on one database; one is frozen beyond its lease, like a machine that swaps or sleeps. */
const LEASE_MS = 5000;
const STEPS = 16;

const installation = newInstallation();
const env = { HEDDLE_LEASE_MS: String(LEASE_MS), HEDDLE_RUN_MAX_ATTEMPTS: "1000" };
const first = await ServerProcess.create(installation, env);
const second = await ServerProcess.create(installation, env);
const client = new LoadClient(first.url, new Ledger());
const other = new LoadClient(second.url, new Ledger());
let sql: postgres.Sql;

beforeAll(async () => {
  await first.start();
  await second.start();
  sql = postgres(first.databaseUri(), { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql?.end({ timeout: 2 });
  await client.close();
  await other.close();
  await second.stop();
  await first.stop();
  installation.remove();
});

/** Starts a run of STEPS steps on the first server; returns once it has begun. */
async function runOnFirst(): Promise<{ threadId: string; runId: string }> {
  const { thread_id: threadId } = await client.request<{ thread_id: string }>("POST", "/threads", {});
  const body = { assistant_id: "steps", input: { steps: STEPS, pause: 400 } };
  const { run_id: runId } = await client.request<{ run_id: string }>("POST", `/threads/${threadId}/runs`, body);
  while (!(await readLog(installation.stepLog)).some((line) => line.run === runId && line.step === 2)) await sleep(20);
  return { threadId, runId };
}

/** Returns everything in the tables that a worker of this run could have written. */
async function written(threadId: string, runId: string) {
  const [run] = await sql`select status, attempt, error, ended_at from runs where run_id = ${runId}`;
  const [thread] = await sql`select status, values, state_updated_at from threads where thread_id = ${threadId}`;
  const checkpoints =
    await sql`select checkpoint_id, parent_checkpoint_id from checkpoints where thread_id = ${threadId} order by 1`;
  const writes =
    await sql`select checkpoint_id, task_id, idx from checkpoint_writes where thread_id = ${threadId} order by 1, 2, 3`;
  const blobs =
    await sql`select channel, version, md5(blob) as hash from checkpoint_blobs where thread_id = ${threadId} order by 1, 2`;
  return {
    run: { ...run },
    thread: { ...thread },
    checkpoints: [...checkpoints],
    writes: [...writes],
    blobs: [...blobs],
  };
}

async function freeze(withHosts: boolean): Promise<() => void> {
  const pids = [first.pid, ...(withHosts ? first.hosts() : [])];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  return () => {
    for (const pid of pids.toReversed()) {
      try {
        process.kill(pid, "SIGCONT");
      } catch {}
    }
  };
}

async function takenOver(threadId: string, runId: string): Promise<void> {
  const started = Date.now();
  expect(await other.untilFinal(threadId, runId, 40_000)).toBe("success");
  const { values } = await other.request<{ values: { done: number[] } }>("GET", `/threads/${threadId}`);
  expect(values.done).toEqual(Array.from({ length: STEPS }, (_, index) => index + 1));
  console.log(`the second server had finished the run ${Date.now() - started} ms after the first one was frozen`);
}

test("a server and its hosts that were frozen beyond the lease write nothing when they continue", async () => {
  const { threadId, runId } = await runOnFirst();
  const thaw = await freeze(true);
  try {
    await takenOver(threadId, runId);
    const before = await written(threadId, runId);
    expect(before.run["attempt"]).toBeGreaterThan(1);
    thaw();
    await sleep(3000);
    expect(await written(threadId, runId)).toEqual(before);
  } finally {
    thaw();
  }
});

test("a frozen server's hosts stop before another server takes over their runs", async () => {
  await first.untilOk();
  while (first.hosts().length < 1) await sleep(100);
  const { threadId, runId } = await runOnFirst();
  const thaw = await freeze(false);
  try {
    await takenOver(threadId, runId);
    const before = await written(threadId, runId);
    thaw();
    await sleep(3000);
    expect(await written(threadId, runId)).toEqual(before);
    const lines = (await readLog(installation.stepLog)).filter((line) => line.run === runId);
    expect(violations(lines)).toEqual([]);
  } finally {
    thaw();
  }
});

test("a server that was frozen serves again", async () => {
  await first.untilOk();
  const { thread_id: threadId } = await client.patiently<{ thread_id: string }>("POST", "/threads", {});
  const body = { assistant_id: "echo", input: { n: 1 } };
  const values = await client.patiently<{ echoed: number }>("POST", `/threads/${threadId}/runs/wait`, body);
  expect(values.echoed).toBe(1);
});
