import { expect, test } from "vitest";

import { deferred } from "./deferred.ts";
import { FairShare, type ShareSettings } from "./fair-share.ts";

/** Creates a share with a clock that the test controls. */
function createShare(processors = 4) {
  let at = 0;
  const share = new FairShare({ processors, now: () => at });
  const pass = (ms: number) => void (at += ms);
  const start = (tenant: string, isBackground = false) => {
    const end = deferred<void>();
    let settings: ShareSettings | undefined;
    const done = share.run(
      tenant,
      (options) => {
        settings = options;
        return end.promise;
      },
      isBackground,
    );
    return { settings: settings!, end: () => (end.resolve(), done) };
  };
  /** Runs a statement of this duration. */
  const spend = async (tenant: string, ms: number, isBackground = false): Promise<ShareSettings> => {
    const { settings, end } = start(tenant, isBackground);
    pass(ms);
    await end();
    return settings;
  };
  return { share, pass, start, spend };
}

const BELOW = { priority: "1" };
const ABOVE = { priority: "2", max_threads: 2, os_thread_priority: "19" };
const UNLIMITED = { priority: "2" };

test("preempts a tenant that uses more than the mean, and halves its processors", async () => {
  const { spend } = createShare();
  await spend("light", 50);
  expect(await spend("heavy", 5000)).toEqual(UNLIMITED);
  expect(await spend("heavy", 5000)).toEqual(ABOVE);
  expect(await spend("light", 50)).toEqual(BELOW);
});

test("does not limit a tenant that is alone or whose neighbours are idle", async () => {
  const { pass, spend } = createShare();
  for (let n = 0; n < 3; n++) expect(await spend("heavy", 5000)).toEqual(UNLIMITED);
  await spend("light", 50);
  expect(await spend("heavy", 5000)).toEqual(ABOVE);
  pass(10_000);
  expect(await spend("heavy", 5000)).toEqual(UNLIMITED);
});

test("the first statement of an unknown tenant preempts no other", async () => {
  const { spend } = createShare();
  await spend("a", 50);
  expect(await spend("b", 50)).toEqual(UNLIMITED);
  expect(await spend("b", 50)).toEqual(BELOW);
});

test("charges many short statements less than a long one", async () => {
  const { share, spend } = createShare();
  await spend("long", 2000);
  for (let n = 0; n < 100; n++) await spend("short", 90);
  expect([share.isAboveShare("short"), share.isAboveShare("long")]).toEqual([false, true]);
});

test("does not charge a preempted statement, so that two heavy tenants take turns", async () => {
  const { share, start, spend, pass } = createShare();
  await spend("a", 3000);
  await spend("b", 2000);
  const preempted = start("a");
  const running = start("b");
  expect([preempted.settings.priority, running.settings.priority]).toEqual(["2", "1"]);
  pass(5000);
  expect([share.isAboveShare("a"), share.isAboveShare("b")]).toEqual([false, true]);
  expect(start("a").settings).toEqual(BELOW);
  expect(start("b").settings).toEqual(ABOVE);
});

test("charges decay", async () => {
  const { share, spend, pass } = createShare();
  await spend("a", 5000);
  await spend("b", 50);
  expect(share.isAboveShare("a")).toBe(true);
  for (let n = 0; n < 30; n++) {
    pass(5000);
    await spend("b", 50);
  }
  await spend("b", 1);
  expect(share.isAboveShare("a")).toBe(false);
});

test("charges short background statements in full", async () => {
  const { share, spend } = createShare();
  await spend("light", 50);
  for (let n = 0; n < 30; n++) await spend("exporting", 50, true);
  expect(share.isAboveShare("exporting")).toBe(true);
  expect(share.isAboveShare("light")).toBe(false);
});

test("rounds half of one processor up to one", async () => {
  const { spend } = createShare(1);
  await spend("light", 50);
  await spend("heavy", 5000);
  expect(await spend("heavy", 50)).toEqual({ priority: "2", max_threads: 1, os_thread_priority: "19" });
});

test("background work waits for preferred statements for a tenth of a second", async () => {
  const share = new FairShare({ processors: 2 });
  share.charge("heavy", 5000);
  await share.run("light", () => Promise.resolve());
  await new Promise((resolve) => setTimeout(resolve, 50));
  const timed = async (isOver = () => false) => {
    const startedAt = performance.now();
    await share.yieldToOthers(isOver);
    return performance.now() - startedAt;
  };
  expect(await timed()).toBeLessThan(20);
  const end = deferred<void>();
  const statement = share.run("light", () => end.promise);
  expect(await timed()).toBeGreaterThanOrEqual(99);
  expect(await timed(() => true)).toBeLessThan(20);
  let isDone = false;
  const waiting = timed().then(() => (isDone = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDone).toBe(false);
  end.resolve();
  await statement;
  await waiting;
});
