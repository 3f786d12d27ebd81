import { expect, test, vi } from "vitest";

import { deferred } from "./deferred.ts";
import { type Check, Health } from "./health.ts";

const quiet = { error: () => {}, warn: () => {}, debug: () => {} };

function createHealth(checks: Record<string, Check>) {
  let now = 0;
  const health = new Health({ checks, log: quiet, graceMs: 30_000, now: () => now });
  return { health, wait: (ms: number) => (now += ms) };
}

test("readiness fails at once and names each failed part, liveness only after the grace period", async () => {
  let isUp = false;
  const { health, wait } = createHealth({
    database: () =>
      isUp ? { ok: true } : Promise.reject(Object.assign(new Error("secret"), { code: "ECONNREFUSED" })),
    disk: () => ({ ok: true, free_mb: 7 }),
  });
  expect(await health.ready()).toEqual({
    ok: false,
    detail: "database: no answer (ECONNREFUSED)",
    checks: { database: { ok: false, reason: "no answer (ECONNREFUSED)" }, disk: { ok: true, free_mb: 7 } },
  });
  expect(health.alive().ok).toBe(true);
  wait(30_001);
  expect(health.alive()).toMatchObject({ ok: false, detail: "database: no answer (ECONNREFUSED)" });
  isUp = true;
  expect((await health.ready()).ok).toBe(true);
  expect(health.alive().ok).toBe(true);
});

test("a starting or optional part affects readiness, but not liveness", async () => {
  const { health, wait } = createHealth({
    hosts: () => ({ ok: false, reason: "loading", starting: true }),
    engine: () => ({ ok: false, reason: "away", partial: true }),
  });
  expect((await health.ready()).detail).toBe("hosts: loading; engine: away");
  wait(1_000_000);
  await health.ready();
  expect(health.alive().ok).toBe(true);
});

test("logs a failure that persists, unless it is reported elsewhere", async () => {
  const logged: unknown[] = [];
  const log = { ...quiet, error: (_: object, message?: string) => void logged.push(message) };
  const check: Check = () => ({ ok: false, reason: "no graph could be loaded" });
  let now = 0;
  const checks = { hosts: check, disk: check };
  const health = new Health({ checks, log, graceMs: 30_000, unlogged: ["hosts"], now: () => now });
  for (; now < 60_000; now += 2000) expect((await health.ready()).ok).toBe(false);
  expect(new Set(logged)).toEqual(new Set(["not ready: disk", "still failing: not ready: disk"]));
});

test("a draining server is alive and not ready", async () => {
  const { health } = createHealth({ database: () => ({ ok: true }) });
  health.drain();
  expect(await health.ready()).toEqual({
    ok: false,
    detail: "draining: the server is shutting down",
    checks: { draining: { ok: false, reason: "the server is shutting down" }, database: { ok: true } },
  });
  expect(health.alive().ok).toBe(true);
});

test("probes within a second share one check", async () => {
  const check = vi.fn<Check>(() => ({ ok: true }));
  const { health, wait } = createHealth({ database: check });
  await Promise.all(Array.from({ length: 50 }, () => health.ready()));
  wait(900);
  await health.ready();
  expect(check).toHaveBeenCalledTimes(1);
  wait(200);
  await health.ready();
  expect(check).toHaveBeenCalledTimes(2);
});

test("after a stall of the process, readiness is checked again: the answer that waited is from before", async () => {
  const before = deferred<{ ok: true }>();
  const answers = [before.promise, { ok: false, reason: "no answer (ETIMEDOUT)" }];
  const { health, wait } = createHealth({ database: () => answers.shift()! });
  const ready = health.ready();
  wait(12_000);
  before.resolve({ ok: true });
  expect(await ready).toMatchObject({ ok: false, detail: "database: no answer (ETIMEDOUT)" });
});

test("a check without an answer is not repeated until its connection is given up", async () => {
  const check = vi.fn<Check>(() => new Promise(() => {}));
  const { health, wait } = createHealth({ database: check });
  vi.useFakeTimers();
  const ask = async (): Promise<string | undefined> => {
    const report = health.ready();
    await vi.advanceTimersByTimeAsync(3001);
    return (await report).detail;
  };
  expect(await ask()).toBe("database: no answer within 3 s");
  wait(3000);
  await ask();
  expect(check).toHaveBeenCalledTimes(1);
  wait(9000);
  await ask();
  expect(check).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});
