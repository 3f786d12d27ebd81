import { pino } from "pino";
import { expect, test } from "vitest";

import { deferred } from "../deferred.ts";
import { Poller } from "./poller.ts";

const HOUR_MS = 3_600_000;
const logged: { level: number; msg: string }[] = [];
const log = pino({ level: "debug" }, { write: (line: string) => void logged.push(JSON.parse(line)) });

test("runs one pass at a time, and exactly one more after wake-ups during it", async () => {
  const gates = [deferred<void>(), deferred<void>()];
  let begun = 0;
  const passes = new Poller({
    pass: () => gates[begun++]?.promise ?? Promise.resolve(),
    everyMs: HOUR_MS,
    log,
    failing: "",
  });
  passes.start();
  expect(begun).toBe(1);
  for (let i = 0; i < 3; i++) passes.wake();
  expect(begun).toBe(1);
  gates[0]!.resolve();
  await expect.poll(() => begun).toBe(2);
  gates[1]!.resolve();
  await passes.stop();
  passes.wake();
  expect(begun).toBe(2);
});

test("loses no wake-up, at any time", async () => {
  let [begun, wakes] = [0, 0];
  const passes = new Poller({ pass: () => Promise.resolve(void begun++), everyMs: HOUR_MS, log, failing: "" });
  // at each turn of the microtask queue around the end of a pass
  for (let turns = 0; turns < 12; turns++) {
    passes.wake();
    for (let i = 0; i < turns; i++) await Promise.resolve();
    const before = begun;
    passes.wake();
    wakes += 1;
    await new Promise((done) => setImmediate(done));
    expect(begun).toBeGreaterThan(before);
  }
  expect(wakes).toBe(12);
  await passes.stop();
});

test("logs a failing pass once, and retries it", async () => {
  let left = 3;
  const pass = () => (left-- > 0 ? Promise.reject(new Error("broken")) : Promise.resolve());
  const passes = new Poller({ pass, everyMs: 5, log, failing: "it fails" });
  passes.start();
  await expect.poll(() => left, { timeout: 30_000 }).toBeLessThan(0);
  await passes.stop();
  expect(logged.filter((line) => line.msg === "it fails").map((line) => line.level)).toEqual([50, 20, 20]);
});

test("follows the pause that a pass returns, and an earlier wake-up", async () => {
  const begun: number[] = [];
  const pauses = [30, HOUR_MS];
  const passes = new Poller({
    pass: () => Promise.resolve(begun.push(performance.now()) && pauses[begun.length - 1]),
    everyMs: HOUR_MS,
    log,
    failing: "",
  });
  passes.start(20);
  const startedAt = performance.now();
  await expect.poll(() => begun.length).toBe(2);
  expect(begun[0]! - startedAt).toBeGreaterThan(15);
  expect(begun[1]! - begun[0]!).toBeGreaterThan(25);
  passes.wake(HOUR_MS / 2);
  passes.wake(40);
  passes.wake(HOUR_MS / 3);
  await expect.poll(() => begun.length).toBe(3);
  expect(begun[2]! - begun[1]!).toBeGreaterThan(35);
  await passes.stop();
  passes.wake(1);
  await new Promise((done) => setTimeout(done, 20));
  expect(begun.length).toBe(3);
});

test("retries a failed pass after its own pause", async () => {
  let begun = 0;
  const pass = () => (++begun < 3 ? Promise.reject(new Error("broken")) : Promise.resolve());
  const passes = new Poller({ pass, everyMs: HOUR_MS, retryMs: 5, log, failing: "" });
  passes.start();
  await expect.poll(() => begun).toBe(3);
  await new Promise((done) => setTimeout(done, 30));
  expect(begun).toBe(3);
  await passes.stop();
});

test("waits for the running pass at the end", async () => {
  const gate = deferred<void>();
  let ended = false;
  const passes = new Poller({
    pass: () => gate.promise.then(() => void (ended = true)),
    everyMs: HOUR_MS,
    log,
    failing: "",
  });
  passes.start();
  const stopping = passes.stop();
  setImmediate(() => gate.resolve());
  await stopping;
  expect(ended).toBe(true);
});

test("starts again after a stop, with the failures of before forgotten", async () => {
  let [begun, fails] = [0, true];
  const pass = () => (begun++, fails ? Promise.reject(new Error("broken")) : Promise.resolve());
  const passes = new Poller({ pass, everyMs: HOUR_MS, log, failing: "" });
  passes.start();
  await expect.poll(() => passes.failure.count).toBe(1);
  await passes.stop();
  passes.wake();
  expect([begun, passes.isStarted]).toEqual([1, false]);
  fails = false;
  passes.start();
  expect([begun, passes.isStarted, passes.failure.count]).toEqual([2, true, 0]);
  await passes.stop();
});

test("starts again during the last pass of before", async () => {
  const gate = deferred<void>();
  let begun = 0;
  const pass = () => (begun++ === 0 ? gate.promise : Promise.resolve());
  const passes = new Poller({ pass, everyMs: HOUR_MS, log, failing: "" });
  passes.start();
  const stopping = passes.stop();
  passes.start();
  expect(begun).toBe(1);
  gate.resolve();
  await stopping;
  expect(begun).toBe(2);
  await passes.stop();
});
