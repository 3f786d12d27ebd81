import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, expect, test } from "vitest";

import { testRedis } from "../../../test/redis.ts";
import { createLog } from "../log.ts";
import { MemoryWindows } from "./memory-windows.ts";
import { RedisWindows } from "./redis-windows.ts";
import type { Bucket } from "./windows.ts";
import { until } from "../../../test/until.ts";

const redis = await testRedis();
const open: RedisWindows[] = [];
afterEach(async () => {
  for (const windows of open.splice(0)) windows.stop();
  redis.thaw();
  await redis.kill();
  await redis.start();
});

async function server(uri = redis.uri, timeoutMs = 200): Promise<RedisWindows> {
  const windows = await RedisWindows.connect(uri, new MemoryWindows(), createLog("silent"), timeoutMs);
  open.push(windows);
  return windows;
}
const bucket = (count: number, seconds: number, name = "test", holder: string = randomUUID()): Bucket => ({
  limit: { name, count, seconds },
  holder,
});

test("three servers share exact counts with five hundred concurrent requests", async () => {
  // what counts are, not how soon they come: five hundred at once on a busy machine
  const patient = () => server(redis.uri, 10_000);
  const servers = [await patient(), await patient(), await patient()];
  const hundred = bucket(100, 60);
  const results = await Promise.all(Array.from({ length: 500 }, (_, n) => servers[n % 3]!.take([hundred])));
  expect(results.filter(({ allowed }) => allowed)).toHaveLength(100);
  expect(
    results
      .filter(({ allowed }) => allowed)
      .map(({ uses }) => uses[0]!.used)
      .toSorted((a, b) => a - b),
  ).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  expect(servers.map(({ fellBack }) => fellBack)).toEqual([0, 0, 0]);
});

test("a window lasts as long as its limit says and starts with the first request", async () => {
  const windows = await server();
  const single = bucket(1, 1);
  const first = await windows.take([single]);
  expect(first).toMatchObject({ allowed: true, uses: [{ used: 1, resetMs: 1000 }] });
  const second = await windows.take([single]);
  expect(second.allowed).toBe(false);
  expect(second.uses[0]!.resetMs).toBeGreaterThan(900);
  await sleep(second.uses[0]!.resetMs + 5);
  expect((await windows.take([single])).allowed).toBe(true);
});

test("takes from several limits together or from none, and returns and reads use", async () => {
  const windows = await server();
  const [narrow, wide] = [bucket(1, 60, "narrow"), bucket(5, 60, "wide")];
  expect((await windows.take([narrow, wide])).allowed).toBe(true);
  expect(await windows.take([narrow, wide])).toMatchObject({ allowed: false, uses: [{ used: 1 }, { used: 1 }] });
  await windows.giveBack(wide);
  await windows.giveBack(wide);
  const never = bucket(3, 60, "never");
  expect(await windows.read([narrow, wide, never])).toMatchObject([
    { used: 1 },
    { used: 0 },
    { used: 0, resetMs: 60_000 },
  ]);
});

test("a changed quota starts with an empty window", async () => {
  const windows = await server();
  expect((await windows.take([bucket(1, 60, "test", "ada")])).allowed).toBe(true);
  expect((await windows.take([bucket(1, 60, "test", "ada")])).allowed).toBe(false);
  expect((await windows.take([bucket(2, 60, "test", "ada")])).allowed).toBe(true);
});

test("counts locally without errors while Redis is killed under load, and shares again afterwards", async () => {
  // a busy machine answers late, and a killed Redis closes its connections at once
  const windows = await server(redis.uri, 10_000);
  const [much, little] = [bucket(1_000_000, 600), bucket(3, 600)];
  let running = true;
  let slowest = 0;
  let requests = 0;
  const load = Promise.all(
    Array.from({ length: 20 }, async () => {
      while (running) {
        const startedAt = performance.now();
        expect((await windows.take([much])).allowed).toBe(true);
        slowest = Math.max(slowest, performance.now() - startedAt);
        requests++;
        await sleep(1);
      }
    }),
  );
  await sleep(300);
  await redis.kill();
  await until(async () => Promise.resolve(windows.isUnavailable));
  const retryWhileUnavailable = [1, 2, 3, 4].map(() => windows.take([little]));
  expect((await Promise.all(retryWhileUnavailable)).map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  await sleep(300);
  await redis.start();
  await until(async () => Promise.resolve(!windows.isUnavailable));
  const before = windows.fellBack;
  await sleep(200);
  running = false;
  await load;
  expect(before).toBeGreaterThan(0);
  expect(windows.fellBack).toBe(before);
  expect(requests).toBeGreaterThan(100);
  expect(slowest).toBeLessThan(5_000);
  // Redis lost its windows, so the next take is the first again, and visible to other servers
  expect((await windows.take([little])).uses[0]!.used).toBe(1);
  expect((await (await server()).take([little])).uses[0]!.used).toBe(2);
});

test("a hanging Redis delays current requests up to the time limit, and later ones not at all", async () => {
  const windows = await server();
  const some = bucket(1000, 60);
  await windows.take([some]);
  redis.freeze();
  let startedAt = performance.now();
  expect((await windows.take([some])).allowed).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  const times: number[] = [];
  for (let n = 0; n < 100; n++) {
    startedAt = performance.now();
    expect((await windows.take([some])).allowed).toBe(true);
    times.push(performance.now() - startedAt);
    await sleep(5);
  }
  // most of them: a busy machine may delay a few, and the limit is 200 ms
  expect(times.toSorted((a, b) => a - b)[75]).toBeLessThan(50);
  redis.thaw();
  await until(async () => {
    await windows.take([some]);
    return !windows.isUnavailable;
  });
});

test("finds a Redis that starts later, and treats one that rejects writes as unavailable", async () => {
  await redis.kill();
  const windows = await server();
  const some = bucket(1000, 60);
  expect(windows.isUnavailable).toBe(true);
  expect((await windows.take([some])).allowed).toBe(true);
  await redis.start();
  await until(async () => {
    await windows.take([some]);
    return !windows.isUnavailable;
  });
  const { Redis } = await import("ioredis");
  const admin = new Redis(redis.uri);
  try {
    await admin.config("SET", "maxmemory", "1");
    expect((await windows.take([some])).allowed).toBe(true);
    expect(windows.isUnavailable).toBe(true);
    await admin.config("SET", "maxmemory", "0");
  } finally {
    admin.disconnect();
  }
  await until(async () => {
    await windows.take([some]);
    return !windows.isUnavailable;
  });
});

test("an invalid address is an error at once", async () => {
  await expect(server("localhost:6379")).rejects.toThrow("redis://");
});
