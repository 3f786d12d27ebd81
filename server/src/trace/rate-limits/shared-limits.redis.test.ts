import { expect, test, vi } from "vitest";

import { testClickHouse } from "../../../test/clickhouse.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { testRedis } from "../../../test/redis.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const redis = await testRedis();
const db = await testDatabase();
await testClickHouse();
const guard = await testGuard(db);
const { a } = await testTenants(db);
const AT_ONCE = 4;
const replica = (uri = redis.uri) =>
  testTracePlatform({ HEDDLE_RATE_LIMITS: "on", REDIS_URI: uri, HEDDLE_LOG_LEVEL: "silent" }, { db, guard });

test("two servers share limits of keys and addresses, and without Redis count separately without errors", async () => {
  const [first, other] = [await replica(), await replica()];
  // a few at a time: both servers share this process, and Redis has 250 ms to answer; later answers count locally
  const flood = async (count: number, headers: Record<string, string> = {}) => {
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent += AT_ONCE) {
      const calls = Array.from({ length: AT_ONCE }, (_, n) =>
        (n % 2 ? first : other).call("GET", "/repos", undefined, headers),
      );
      statuses.push(...(await Promise.all(calls)).map(({ status }) => status));
    }
    return statuses.filter((status) => status !== 429).length;
  };
  const local = async (): Promise<number> => {
    const texts = await Promise.all([first, other].map(({ platform }) => platform.deps.metrics.registry.metrics()));
    return texts.reduce((sum, text) => sum + Number(/^heddle_rate_limit_local_total (\d+)/m.exec(text)?.[1] ?? 0), 0);
  };
  for (const { platform } of [first, other]) {
    const { registry } = platform.deps.metrics;
    await vi.waitUntil(async () => (await registry.metrics()).includes("heddle_rate_limit_redis_up 1"), 20_000);
  }
  const callers: Record<string, string>[] = [{ "x-api-key": a.admin }, {}];
  for (const headers of callers) {
    const before = await local();
    const passed = await flood(300, headers);
    // Redis may count a request whose answer was late, which then counts locally
    expect(Math.abs(passed - 100)).toBeLessThanOrEqual((await local()) - before);
  }
  const before = await local();
  await redis.kill();
  const passed = await flood(300, { "x-api-key": a.admin });
  expect(passed).toBeLessThanOrEqual(200);
  expect(passed).toBeGreaterThanOrEqual(200 - before);
  const metrics = await first.platform.deps.metrics.registry.metrics();
  expect(metrics).toContain("heddle_rate_limit_redis_up 0");
  expect(metrics).toMatch(/heddle_rate_limit_local_total [1-9]/);
  // before the database is dropped
  await Promise.all([first.stop(), other.stop()]);
});

test("an invalid Redis address does not prevent the start", async () => {
  const { call, platform, stop } = await replica("redis.internal:6379");
  expect((await call("GET", "/nothing")).headers.get("ratelimit")).toBe('"public";r=99;t=60');
  expect(platform.deps.rateLimits.problems).toHaveLength(1);
  await stop();
});
