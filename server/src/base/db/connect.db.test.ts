/** Connections that are cut, become silent, or are lost within a transaction. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { startTlsFront } from "../../../test/tls-front.ts";
import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { deferred } from "../deferred.ts";
import { alone } from "./alone.ts";
import { connect, ownConnection } from "./connect.ts";
import { isDatabaseUnavailable, isUnsent } from "./retry.ts";

const db = await testDatabase();
const proxy = await FaultProxy.before(db.uri);
const front = await startTlsFront(db.uri);
afterAll(() => (front.stop(), proxy.stop()));
const pool = (max: number, silenceMs?: number) =>
  connect({ uri: proxy.through(db.uri), socket: null }, { max, ...(silenceMs && { silenceMs }) });
await db.sql`create table marks (mark text)`;

const activity = async (pid: number) =>
  (await db.sql<{ query: string }[]>`select query from pg_stat_activity where pid = ${pid}`)[0];

const marks = async () => (await db.sql<{ mark: string }[]>`select mark from marks`).map(({ mark }) => mark);

test("a statement on a silent connection fails as lost, and the pool continues", async () => {
  const sql = pool(1, 400);
  await sql`select 1`;
  proxy.silence();
  const error: unknown = await sql`select 2`.catch((thrown: unknown) => thrown);
  expect(isDatabaseUnavailable(error)).toBe(true);
  expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
  await sql.end({ timeout: 1 });
});

test("a session that is not established in time is tried again, with twice the time", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const uri = Object.assign(new URL(db.uri), { port: String(port) }).href;
  const sql = connect({ uri, socket: null }, { max: 1, startMs: 150 });
  const times: number[] = [];
  for (let n = 0; n < 3; n++) {
    const startedAt = performance.now();
    const error: unknown = await sql`select 1`.catch((thrown: unknown) => thrown);
    times.push(performance.now() - startedAt);
    expect(error).toMatchObject({ code: "CONNECT_TIMEOUT" });
    expect(isUnsent(error)).toBe(true);
  }
  expect(times[0]).toBeLessThan(5000);
  expect(times[2]! - times[1]!).toBeGreaterThan(100);
  await sql.end({ timeout: 0 });
  silent.close();
});

describe.each(["", "?sslmode=require"])("sessions that Postgres ends, with %j", (mode) => {
  const uri = `${mode === "" ? db.uri : front.uri}${mode}`;

  // as when Postgres is stopped or fails over: each connection of a pool has the error of its end as its last message
  test.each([
    { when: "idle", statement: "select 1", isLost: false },
    { when: "busy", statement: "select pg_sleep(60)", isLost: true },
  ])("a statement is executed after the session ended while it was $when", async ({ statement, isLost }) => {
    const closed = deferred<void>();
    const sql = connect({ uri, socket: null }, { max: 1, onClose: () => closed.resolve() });
    const [{ pid }] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
    const before = sql.unsafe(statement).catch((error: unknown) => error);
    await expect.poll(() => activity(pid)).toMatchObject({ query: statement });
    await db.sql`select pg_terminate_backend(${pid})`;
    await closed.promise;
    expect(isDatabaseUnavailable(await before)).toBe(isLost);
    expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
    await sql.end({ timeout: 1 });
  });

  // the failure of one connection's statement leads to a statement on the next connection, just before that is closed too
  test("statements while all connections of a pool are closed delay no later one", async () => {
    const sql = connect({ uri, socket: null }, { max: 6, name: `closed-${mode}` });
    await Promise.all(Array.from({ length: 6 }, () => sql`select pg_sleep(0.1)`));
    const retry = async (n: number) => {
      await sql`select pg_sleep(60)`.catch(() => {});
      return sql`select ${n}::int as n`.catch((error: unknown) => error);
    };
    const retried = [1, 2, 3].map(retry);
    await sql`select 1`;
    await db.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${`closed-${mode}`}`;
    await Promise.all(retried);
    const startedAt = performance.now();
    const numbers = [1, 2, 3, 4, 5, 6];
    const answers = await Promise.all(numbers.map((n) => sql`select ${n}::int as n`));
    expect(answers).toEqual(numbers.map((n) => [{ n }]));
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await sql.end({ timeout: 1 });
  });
});

test("a pool within TLS verifies the certificate, and applies its settings", async () => {
  const verified = connect({ uri: `${front.uri}?sslmode=verify-full`, socket: null }, { max: 1 });
  for (const attempt of [1, 2]) {
    await expect(verified`select ${attempt}::int`).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  }
  await verified.end({ timeout: 1 });
  const sql = connect({ uri: `${front.uri}?sslmode=require`, socket: null }, { max: 1, pinned: true });
  expect(await sql`show enable_seqscan`).toEqual([{ enable_seqscan: "off" }]);
  await sql.end({ timeout: 1 });
});

test("a database without TLS is used where the URI prefers TLS, and not where it requires it", async () => {
  const preferring = connect({ uri: `${db.uri}?sslmode=prefer`, socket: null }, { max: 1 });
  const requiring = connect({ uri: `${db.uri}?sslmode=require`, socket: null }, { max: 1 });
  expect(await preferring`select 1 as n`).toEqual([{ n: 1 }]);
  await expect(requiring`select 1`).rejects.toThrow(
    "The database has no TLS, and sslmode=require of its URI requires it",
  );
  await preferring.end({ timeout: 1 });
  await requiring.end({ timeout: 1 });
});

test("a connection idle for longer than the limit stays open", async () => {
  const sql = pool(1, 200);
  const pid = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;
  const first = await pid();
  await sleep(700);
  expect(await pid()).toBe(first);
  await sql.end({ timeout: 1 });
});

test("a transaction that lost its connection sends no further statements", async () => {
  const sql = pool(1);
  const work = sql.begin(async (tx) => {
    await tx`insert into marks values ('before')`;
    await sleep(300);
    await tx`insert into marks values ('after')`;
  });
  const rejected = work.catch((error: unknown) => error);
  await sleep(100);
  proxy.cut();
  expect(await rejected).toMatchObject({ code: "CONNECTION_CLOSED" });
  await sql`insert into marks values ('next')`;
  await sleep(400);
  expect(await marks()).toEqual(["next"]);
  await sql.end({ timeout: 1 });
});

test.each(["fails", "ends"])(
  "a transaction whose work %s after its connection was lost sends no further statements",
  async (how) => {
    const sql = pool(1);
    const work = sql.begin(async (tx) => {
      await tx`insert into marks values (${how})`;
      await sleep(300);
      if (how === "fails") throw new Error("of the work itself");
    });
    const rejected = work.catch((error: unknown) => error);
    await sleep(100);
    proxy.cut();
    expect(await rejected).toMatchObject({ code: "CONNECTION_CLOSED" });
    // an error thrown by a timer would fail the file
    await sleep(400);
    expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
    expect(await marks()).not.toContain(how);
    await sql.end({ timeout: 1 });
  },
);

test("the pool recovers when a connection is cut during a transaction's statement", async () => {
  const sql = pool(1);
  const first = sql.begin((tx) => tx`select pg_sleep(1)`).catch(() => {});
  await sleep(100);
  proxy.cut();
  const second = await sql.begin(async (tx) => {
    await tx`delete from marks`;
    await sleep(50);
    return tx`select 1 as n`;
  });
  expect(second).toEqual([{ n: 1 }]);
  await first;
  await expect(sql.begin(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
  expect(await sql`select 4 as n`).toEqual([{ n: 4 }]);
  await sql.end({ timeout: 1 });
});

test("a statement fails while connections are refused, and succeeds once they are accepted again", async () => {
  const sql = pool(1);
  await sql`select 1`;
  const up = proxy.refuse();
  await sleep(50);
  const error: unknown = await sql`select 2`.catch((thrown: unknown) => thrown);
  expect(isDatabaseUnavailable(error)).toBe(true);
  up();
  await expect.poll(() => sql`select 5 as n`.catch(() => [])).toEqual([{ n: 5 }]);
  await sql.end({ timeout: 1 });
});

test("a statement that fails after its first rows leaves no gap in the next result of its connection", async () => {
  const single = pool(1);
  try {
    const failing = single`select n, 1 / (4 - n) from generate_series(1, 10) n`;
    const next = single`select n from generate_series(1, 5) n`;
    await expect(failing).rejects.toThrow("division by zero");
    expect([...(await next)]).toEqual([1, 2, 3, 4, 5].map((n) => ({ n })));
    await expect(single`select 1 / (4 - n) from generate_series(1, 10) n`).rejects.toThrow("division by zero");
    const [inTransaction] = await single.begin((tx) => tx`select 7 as n`);
    expect(inTransaction).toEqual({ n: 7 });
  } finally {
    await single.end();
  }
});

test("work that lost the connection of its lock ends, and another server may have the lock", async () => {
  const sql = pool(1);
  let hasEnded = false;
  const begun = deferred<void>();
  const failed = alone(sql, 71, async () => {
    begun.resolve();
    await sleep(300);
    hasEnded = true;
  }).catch((error: unknown) => error);
  await begun.promise;
  expect(await alone(db.sql, 71, () => Promise.reject(new Error("both have the lock")))).toBe(false);
  proxy.cut();
  expect(await failed).toMatchObject({ code: "CONNECTION_CLOSED" });
  expect(hasEnded).toBe(true);
  // an error thrown by a timer would fail the file
  await sleep(50);
  expect(await alone(sql, 71, async () => {})).toBe(true);
  await sql.end({ timeout: 1 });
});

test("while work runs under a lock, vacuum may remove rows that it deletes", async () => {
  await alone(db.sql, 72, async () => {
    const [holder] = await db.sql<{ state: string; backend_xmin: string | null }[]>`
      select state, backend_xmin from pg_stat_activity where pid in (
        select pid from pg_locks where locktype = 'advisory' and objid = 72)`;
    expect(holder).toEqual({ state: "idle in transaction", backend_xmin: null });
  });
});

test("the locks of a transaction that is left idle are released after the time that its pool allows", async () => {
  const idle = connect({ uri: db.uri, socket: null }, { max: 1, idleTransactionMs: 300 });
  const [locked, thawed] = [deferred<void>(), deferred<void>()];
  const frozen = idle
    .begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(73)`;
      locked.resolve();
      await thawed.promise;
      await tx`select 1`;
    })
    .catch((error: unknown) => error);
  await locked.promise;
  expect((await db.sql`select pg_try_advisory_xact_lock(73) as taken`)[0]).toEqual({ taken: false });
  await expect
    .poll(async () => (await db.sql`select pg_try_advisory_xact_lock(73) as taken`)[0])
    .toEqual({ taken: true });
  // its own statements fail, so that it changes nothing afterwards
  thawed.resolve();
  expect(await frozen).toMatchObject({ code: expect.stringMatching(/CONNECTION_CLOSED|25P03/) });
  expect(await idle`select 1 as n`).toEqual([{ n: 1 }]);
  await idle.end({ timeout: 1 });
});

test("a pool's own connection keeps a session's settings, and replaces a lost session", async () => {
  const sql = pool(1);
  const own = ownConnection(sql);
  await own`set lock_timeout = '2s'`;
  expect(await own`show lock_timeout`).toEqual([{ lock_timeout: "2s" }]);
  expect(await sql`show lock_timeout`).toEqual([{ lock_timeout: "0" }]);
  proxy.cut();
  await expect.poll(() => own`select 1 as n`.catch(() => [])).toEqual([{ n: 1 }]);
  await own.end({ timeout: 1 });
  await sql.end({ timeout: 1 });
});
