import { beforeAll, expect, test } from "vitest";

import { testDatabase } from "../../test/db.ts";
import { testGuard, type TestTenants, testTenants } from "../../test/identity.ts";
import { connect, type Sql } from "../base/db/connect.ts";
import type { Authenticator } from "../base/auth/principal.ts";
import { createLog } from "../base/log.ts";
import { createAuthenticator } from "./authenticate.ts";
import { createKey } from "./api-keys/create-key.ts";
import { newKey } from "./api-keys/key-text.ts";
import { LastUsed } from "./api-keys/last-used.ts";
import { databaseSource, IdentityCache } from "./identity-cache.ts";
import { BUILT_IN_ROLES } from "./roles/built-in.ts";

const db = await testDatabase();
let tenants: TestTenants;

beforeAll(async () => {
  tenants = await testTenants(db);
});

const statusFor = async (server: Authenticator, key: string): Promise<number> => {
  try {
    const headers = new Headers({ "x-api-key": key });
    await server.authenticate({ headers, method: "GET", ip: "::1" });
    return 200;
  } catch (error) {
    return (error as { status: number }).status;
  }
};

async function createTestKey(description: string): Promise<{ id: string; key: string }> {
  const { organizationId, workspaceId } = tenants.a;
  return createKey(db.sql, {
    organizationId,
    kind: "service",
    userId: null,
    description,
    readOnly: false,
    expiresAt: null,
    workspaceIds: [workspaceId],
    defaultWorkspaceId: null,
    roleId: BUILT_IN_ROLES.WORKSPACE_ADMIN,
    organizationRoleId: null,
  });
}

const revoke = (id: string) => db.sql`update api_keys set revoked_at = now() where id = ${id}`;

/** An authenticator whose cache gets no announcements, on a connection that counts statements. */
function deafServer(): { server: Authenticator; statements: () => number; sql: Sql } {
  const inner = connect({ uri: db.uri, socket: db.options.host ?? null }, { max: 2 });
  let count = 0;
  const sql = new Proxy(inner, {
    apply(target, self, args: unknown[]) {
      if (Array.isArray(args[0]) && "raw" in args[0]) count += 1;
      return Reflect.apply(target as never, self, args) as unknown;
    },
  });
  const log = createLog("error");
  const cache = new IdentityCache(databaseSource(sql), log, () => {});
  const server = createAuthenticator({
    sql,
    cache,
    lastUsed: new LastUsed(sql, log),
    sessions: { readBrowserSession: () => undefined, rejectForgery: () => {}, find: () => Promise.resolve(undefined) },
    local: () => null,
    onlyWorkspace: null,
  });
  return { server, statements: () => count, sql: inner };
}

/**
 * Repeats a request, as under load, until the response is `status`. Resolves with the start time of the last request
 * that got another response, in milliseconds; the duration of requests does not matter, so that a busy machine breaks
 * no promise.
 */
async function lastOther(server: Authenticator, key: string, status: number): Promise<number> {
  let last = 0;
  for (const startedAt = performance.now(); last < 5000;) {
    const requestedMs = performance.now() - startedAt;
    if ((await statusFor(server, key)) === status) return last;
    last = requestedMs;
    await new Promise((done) => setTimeout(done, 5));
  }
  throw new Error(`not ${status} after five seconds`);
}

test("a key revoked on one server is rejected within a second on every server", async () => {
  const servers = [(await testGuard(db)).authenticator, (await testGuard(db)).authenticator];
  const { id, key } = await createTestKey("shared");
  for (const server of servers) expect(await statusFor(server, key)).toBe(200);
  await revoke(id);
  const times = await Promise.all(servers.map((server) => lastOther(server, key, 401)));
  expect(Math.max(...times)).toBeLessThan(1000);
  for (const server of servers) expect(await statusFor(server, key)).toBe(401);
});

test("a revocation also reaches a server without notifications, when busy and after idling", async () => {
  const { server, sql } = deafServer();
  const busy = await createTestKey("busy");
  const idle = await createTestKey("idle");
  expect(await statusFor(server, busy.key)).toBe(200);
  expect(await statusFor(server, idle.key)).toBe(200);
  await revoke(busy.id);
  expect(await lastOther(server, busy.key, 401)).toBeLessThan(1000);

  expect(await statusFor(server, idle.key)).toBe(200);
  await revoke(idle.id);
  await new Promise((done) => setTimeout(done, 1000));
  // the very first request after it
  expect(await statusFor(server, idle.key)).toBe(401);
  await sql.end();
});

test("changes of expiry and workspaces reach a server without notifications", async () => {
  const { server, sql } = deafServer();
  const { id, key } = await createTestKey("changing");
  const until = (status: number) => lastOther(server, key, status);
  expect(await until(200)).toBeLessThan(1000);
  await db.sql`update api_keys set expires_at = now() - interval '1 s' where id = ${id}`;
  expect(await until(403)).toBeLessThan(1000);
  await db.sql`update api_keys set expires_at = null where id = ${id}`;
  expect(await until(200)).toBeLessThan(1000);
  await db.sql`delete from api_key_workspaces where key_id = ${id}`;
  expect(await until(403)).toBeLessThan(1000);
  await sql.end();
});

test("a cached key needs no statement, and unknown keys are batched and cached", async () => {
  const { server, statements, sql } = deafServer();
  const { key } = await createTestKey("often");
  await statusFor(server, key);
  let before = statements();
  const startedAt = performance.now();
  for (let n = 0; n < 2000; n++) await statusFor(server, key);
  const elapsed = performance.now() - startedAt;
  // the version is refreshed at intervals
  expect(statements() - before).toBeLessThanOrEqual(1 + elapsed / 350);

  // text that cannot be one of our keys is rejected without a query
  before = statements();
  const garbage = Array.from(
    { length: 500 },
    (_, n) => `lsv2_sk_${"0".repeat(60)}${String(n).padStart(4, "0")}_0123456789`,
  );
  expect(new Set(await Promise.all(garbage.map((key) => statusFor(server, key))))).toEqual(new Set([401]));
  expect(statements()).toBe(before);

  // forged with correct check digits: few statements for many keys, and none for the second time
  const forged = Array.from({ length: 1000 }, () => newKey("service"));
  const all = () => Promise.all(forged.map((key) => statusFor(server, key)));
  expect(new Set(await all())).toEqual(new Set([401]));
  const statementsOfFirst = statements() - before;
  expect(statementsOfFirst).toBeLessThanOrEqual(6);
  await all();
  expect(statements() - before - statementsOfFirst).toBeLessThanOrEqual(2);
  // and the known key was not evicted
  before = statements();
  expect(await statusFor(server, key)).toBe(200);
  expect(statements() - before).toBeLessThanOrEqual(1);
  await sql.end();
});

test("without a database a cached key is trusted for at most a second", async () => {
  const { server, sql } = deafServer();
  const { key } = await createTestKey("cut off");
  expect(await statusFor(server, key)).toBe(200);
  await sql.end();
  expect(await statusFor(server, key)).toBe(200);
  await new Promise((done) => setTimeout(done, 900));
  await expect(
    server.authenticate({ headers: new Headers({ "x-api-key": key }), method: "GET", ip: "::1" }),
  ).rejects.toMatchObject({
    code: "CONNECTION_ENDED",
  });
});

test("a check of a known key takes less than half as long as the shortest query", async () => {
  const { authenticator } = await testGuard(db);
  const { key } = await createTestKey("fast");
  await statusFor(authenticator, key);
  const check = () =>
    authenticator.authenticate({ headers: new Headers({ "x-api-key": key }), method: "GET", ip: "::1" });
  const query = () => db.sql`select 1`;
  const checks: number[] = [];
  const queries: number[] = [];
  // alternating, so that both run under the same load
  for (let n = 0; n < 2000; n++) {
    for (const [act, times] of [
      [check, checks],
      [query, queries],
    ] as const) {
      const startedAt = performance.now();
      await act();
      times.push(performance.now() - startedAt);
    }
  }
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[1000]!;
  expect(median(checks)).toBeLessThan(median(queries) / 2);
});
