import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import { createLog } from "../log.ts";
import { LeasedJobs, type LeasedJobsOptions } from "./leased-jobs.ts";

const quiet = createLog("silent");

/** A queue of numbered jobs in memory. */
function queue(count: number, options: Partial<LeasedJobsOptions<number, string>> = {}) {
  const waiting = Array.from({ length: count }, (_, n) => n);
  const events: string[] = [];
  const gates = new Map<number, () => void>();
  const jobs = new LeasedJobs<number, string>({
    kind: "job",
    id: String,
    concurrency: 2,
    leaseSeconds: 1,
    renewMs: 5,
    claim: () => Promise.resolve(waiting.shift()),
    renew: () => Promise.resolve(true),
    work: (job, signal) =>
      new Promise((resolve, reject) => {
        gates.set(job, () => resolve(`result ${job}`));
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
    release: (job, result) => Promise.resolve(void events.push(`${job}: ${result}`)),
    onEnd: () => events.push("ended"),
    log: quiet,
    ...options,
  });
  return { jobs, waiting, events, finish: (job: number) => gates.get(job)!() };
}

test("claims no more jobs than it may execute at once", async () => {
  const { jobs, waiting, events, finish } = queue(3);
  await jobs.claim();
  expect([jobs.size, waiting]).toEqual([2, [2]]);
  finish(0);
  await vi.waitUntil(() => jobs.size === 1);
  expect(events).toEqual(["0: result 0", "ended"]);
  await jobs.claim();
  expect([jobs.size, waiting]).toEqual([2, []]);
  await jobs.stop();
});

test("renews a lease until the work has ended, and releases after the last renewal", async () => {
  const events: string[] = [];
  const renew = async () => {
    events.push("renewal begins");
    await sleep(10);
    events.push("renewed");
    return true;
  };
  const release = () => Promise.resolve(void events.push("released"));
  const { jobs, finish } = queue(1, { renew, release });
  await jobs.claim();
  await vi.waitUntil(() => events.filter((what) => what === "renewal begins").length >= 3);
  finish(0);
  await vi.waitUntil(() => jobs.size === 0);
  expect(events.slice(-2)).toEqual(["renewed", "released"]);
  const { length } = events;
  await sleep(30);
  expect(events).toHaveLength(length);
});

test("aborts the work of a job that belongs to another process, and releases it without a result", async () => {
  let lost = 0;
  const onLost = () => void lost++;
  for (const [state, count] of [
    [false, 0],
    ["lost", 1],
  ] as const) {
    const { jobs, events } = queue(1, { renew: () => Promise.resolve(state), onLost });
    await jobs.claim();
    await vi.waitUntil(() => jobs.size === 0);
    expect(events).toEqual(["0: undefined", "ended"]);
    expect(lost).toBe(count);
  }
});

test("gives a job up when its lease cannot be renewed for most of its duration, and not before", async () => {
  const startedAt = performance.now();
  let isUnavailable = true;
  const renew = () => (isUnavailable ? Promise.reject(new Error("no database")) : Promise.resolve(true));
  const { jobs, events } = queue(2, { leaseSeconds: 0.5, renew, concurrency: 1 });
  await jobs.claim();
  await vi.waitUntil(() => jobs.size === 0);
  expect(performance.now() - startedAt).toBeGreaterThan(290);
  expect(events).toEqual(["0: undefined", "ended"]);
  await jobs.claim();
  await sleep(100);
  isUnavailable = false;
  await sleep(400);
  expect(jobs.size).toBe(1);
  await jobs.stop();
});

test("stops by aborting all jobs, waits until they are released, and claims no other", async () => {
  const { jobs, waiting, events } = queue(3);
  await jobs.claim();
  await jobs.stop();
  expect(events.filter((event) => event.endsWith("undefined")).sort()).toEqual(["0: undefined", "1: undefined"]);
  await jobs.claim();
  expect([jobs.size, waiting]).toEqual([0, [2]]);
});
