import { afterAll, expect, test } from "vitest";

import { testClickHouse } from "../../../test/clickhouse.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const db = await testDatabase();
await testClickHouse();
const guard = await testGuard(db);
const { a, b, unknown } = await testTenants(db);
const started: (() => Promise<void>)[] = [];
/** Registered at file level, since hooks registered inside a test do not run. Stops before the database is dropped. */
afterAll(async () => {
  for (const stop of started) await stop();
});
const platformWith = async (env: Record<string, string>) => {
  const platform = await testTracePlatform(env, { db, guard });
  started.push(platform.stop);
  return platform;
};
const limited = (env: Record<string, string> = {}) => platformWith({ HEDDLE_RATE_LIMITS: "on", ...env });
const key = (text: string) => ({ "x-api-key": text });

test("limits are off on loopback and on behind a proxy, and metrics report them", async () => {
  const { call } = await platformWith({});
  expect((await call("GET", "/nothing")).headers.has("ratelimit")).toBe(false);
  const behind = await platformWith({ HEDDLE_TRUSTED_PROXIES: "127.0.0.1" });
  const response = await behind.call("GET", "/nothing", undefined, { "X-Forwarded-For": "192.0.2.1" });
  expect(response.headers.get("ratelimit")).toBe('"public";r=99;t=60');
  const metrics = await behind.platform.deps.metrics.registry.metrics();
  expect(metrics).toContain('heddle_rate_limit_requests_total{row="public",outcome="allowed"} 1');
  expect(metrics).toContain("heddle_rate_limit_buckets 1");
});

test("rows count unknown paths before the key is verified, on every alias", async () => {
  const { call } = await limited();
  const statuses = new Map<number, number>();
  for (let n = 0; n < 103; n++) {
    const path = ["/repos", "/api/v1/repos/", "//repos/x"][n % 3]!;
    const { status } = await call("PUT", path, undefined, key(a.admin));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(Object.fromEntries(statuses)).toEqual({ 404: 100, 429: 3 });
});

test("valid keys of any kind have their own buckets, and all others share the address's", async () => {
  const { call } = await limited({ HEDDLE_RATE_LIMITS_OVERRIDES: '{"public":"3/60"}' });
  const policy = async (text: string) => {
    const response = await call("GET", "/nothing", undefined, key(text));
    return response.headers.get("ratelimit") ?? response.status;
  };
  for (const good of [a.admin, b.admin, a.viewer, a.readOnly, a.org]) {
    expect(await policy(good)).toMatch(/^"default.key";r=999;/);
  }
  const rest = [await policy(unknown), await policy(a.revoked), await policy(a.expired), await policy("nonsense")];
  expect(rest.map((header) => String(header).replace(/;t=\d+$/, ""))).toEqual([
    '"public";r=2',
    '"public";r=1',
    '"public";r=0',
    '"public";r=0',
  ]);
  expect((await call("GET", "/nothing", undefined, key("nonsense"))).status).toBe(429);
  expect((await call("GET", "/nothing", undefined, key(a.admin))).status).toBe(404);
});

test("a script of another origin can read a rejection", async () => {
  const { call } = await limited();
  const rejected = { HEDDLE_RATE_LIMITS_OVERRIDES: '{"info":"1/10"}', HEDDLE_CORS_ORIGINS: "https://a.test" };
  expect((await call("GET", "/info")).headers.get("ratelimit-policy")).toBe('"info";q=2000;w=10');
  const narrow = await limited(rejected);
  await narrow.call("GET", "/info");
  const response = await narrow.call("GET", "/info", undefined, { Origin: "https://a.test" });
  expect([response.status, Object.keys(response.json as object)]).toEqual([429, ["error"]]);
  expect(response.headers.get("access-control-allow-origin")).toBe("https://a.test");
  expect(response.headers.get("access-control-expose-headers")).toContain("retry-after");
});

test("a caller reads the table with only its own use", async () => {
  const { call } = await limited();
  for (let n = 0; n < 3; n++) await call("GET", "/nothing", undefined, key(a.admin));
  const read = async (text: string, more: Record<string, string> = {}) => {
    const { status, json } = await call("GET", "/api/v1/rate-limits", undefined, { ...key(text), ...more });
    expect(status).toBe(200);
    const rows = json["rows"] as { row: string; identity: string; count: number; used: number | null }[];
    return { mode: json["mode"], of: (name: string) => rows.find(({ row }) => row === name)! };
  };
  const first = await read(a.admin);
  expect(first.mode).toBe("on");
  // the read itself counts
  expect(first.of("default.key")).toMatchObject({ identity: "key", count: 1000, seconds: 10, used: 4 });
  expect(first.of("default.user").used).toBeNull();
  expect((await read(b.admin)).of("default.key").used).toBe(1);
  expect((await read(b.admin, { "x-user-id": "ada" })).of("default.user").used).toBe(1);
  expect((await call("GET", "/api/v1/rate-limits", undefined, key(unknown))).status).toBe(401);
});
