import { createHash } from "node:crypto";

import { beforeEach, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testTenants } from "../../../test/identity.ts";
import { PASSWORD, testSignIn } from "../../../test/sign-in.ts";

const db = await testDatabase();
const { a } = await testTenants(db);
const { call, addPerson } = await testSignIn(db, { HEDDLE_TRUSTED_PROXIES: "127.0.0.1" });
const EMAIL = "anna@a.example";
await addPerson(EMAIL, a);
const ATTACKER = "203.0.113.66";

beforeEach(async () => {
  await db.sql`delete from sign_in_attempts`;
  await db.sql`delete from known_visitors`;
});

/** Signs in as a client behind the trusted proxy. */
const attempt = (ip: string, password = PASSWORD, more: { email?: string; cookie?: string } = {}) =>
  call(
    "POST",
    "/login",
    { email: more.email ?? EMAIL, password, ...(more.cookie !== undefined && { cookie: true }) },
    { "x-forwarded-for": ip, "x-heddle-csrf": "1", ...(more.cookie && { cookie: more.cookie }) },
  );

async function attack(ip: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  const next = async (): Promise<void> => {
    while (statuses.length < count) statuses.push((await attempt(ip, "wrong password")).status);
  };
  await Promise.all(Array.from({ length: 4 }, next));
  return statuses;
}

/** Puts the account under attack from many networks. */
async function setAttacked(): Promise<void> {
  const bucket = createHash("sha256").update(`account\0${EMAIL}`).digest();
  await db.sql`
    insert into sign_in_attempts values (${bucket}, 100, now() + interval '1 hour')
    on conflict (bucket) do update set attempts = 100`;
}

const timed = async (ip: string, password?: string) => {
  const started = performance.now();
  const { status } = await attempt(ip, password);
  return { status, isSlow: performance.now() - started > 1000 };
};

test("1,000 wrong passwords from one address do not keep the account's owner out at another", async () => {
  const rejected = await attack(ATTACKER, 1000);
  expect(rejected.filter((status) => status === 401)).toHaveLength(10);
  expect((await attempt(ATTACKER)).status).toBe(429);
  expect(await timed("198.51.100.7")).toEqual({ status: 200, isSlow: false });
});

test("rejected attempts of one network do not count for others", async () => {
  await attack(ATTACKER, 120);
  const rows = await db.sql<{ attempts: number }[]>`select attempts from sign_in_attempts order by attempts`;
  // counters of the account, of the account from this network, and of the network
  expect(rows.map(({ attempts }) => Math.min(attempts, 101))).toEqual([10, 100, 101]);
});

test("during an attack on an account from many networks, unknown networks are slowed and known ones are not", async () => {
  expect((await attempt("198.51.100.7")).status).toBe(200);
  await setAttacked();
  expect(await timed("198.51.100.7")).toEqual({ status: 200, isSlow: false });
  expect(await timed("192.0.2.1")).toEqual({ status: 200, isSlow: true });
  // now that network is known too
  expect(await timed("192.0.2.1")).toEqual({ status: 200, isSlow: false });
  const guesses = [];
  for (let n = 0; n < 4; n++) guesses.push((await timed("192.0.2.99", "wrong password")).status);
  expect(guesses).toEqual([401, 401, 401, 429]);
});

test("limits attempts per second from unknown networks at an attacked account", async () => {
  await setAttacked();
  const answers = await Promise.all(Array.from({ length: 80 }, (_, n) => attempt(`192.0.${n}.1`, "wrong password")));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(50);
  const rejected = answers.find(({ status }) => status === 429)!;
  expect(rejected.headers.get("retry-after")).toBe("2");
});

test("a whole /48 uses one place among those of unknown networks", async () => {
  await setAttacked();
  const flood = Array.from({ length: 100 }, (_, n) => attempt(`2001:db8:9:${n}::1`, "wrong password"));
  expect((await attempt("198.51.100.23")).status).toBe(200);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(1);
});

test("addresses of one IPv6 /64 are one network", async () => {
  for (let n = 0; n < 10; n++) expect((await attempt(`2001:db8:1:1::${n}`, "wrong password")).status).toBe(401);
  expect((await attempt("2001:db8:1:1:ffff::1")).status).toBe(429);
  expect((await attempt("2001:db8:1:2::1")).status).toBe(200);
});

test("a browser with a previous sign-in passes the limits of its network", async () => {
  const first = await attempt(ATTACKER, PASSWORD, { cookie: "" });
  const cookies = first.headers.getSetCookie();
  const device = cookies.find((text) => text.startsWith("heddle_device="))!;
  expect(device).toMatch(/^heddle_device=[0-9a-f]{64}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/);
  const cookie = device.split(";")[0]!;
  await attack(ATTACKER, 120);
  expect((await attempt(ATTACKER)).status).toBe(429);
  expect((await attempt(ATTACKER, PASSWORD, { cookie })).status).toBe(200);
  // a cookie of one account is useless at another, and guesses with it are counted
  await addPerson("ben@a.example", a);
  expect((await attempt(ATTACKER, PASSWORD, { cookie, email: "ben@a.example" })).status).toBe(429);
  for (let n = 0; n < 10; n++) expect((await attempt(ATTACKER, "wrong password", { cookie })).status).toBe(401);
  expect((await attempt(ATTACKER, "wrong password", { cookie })).status).toBe(429);
});

test("successful sign-ins do not count against their network", async () => {
  await attempt("198.51.100.7");
  const network = createHash("sha256").update("network\x00198.51.100.7").digest();
  await db.sql`update sign_in_attempts set attempts = 99 where bucket = ${network}`;
  for (let n = 0; n < 3; n++) expect((await attempt("198.51.100.7")).status).toBe(200);
});

test("a flood of attempts from one network does not block checks of other passwords", async () => {
  const flood = Promise.all(
    Array.from({ length: 60 }, (_, n) => attempt(ATTACKER, "wrong password", { email: `nobody${n}@a.example` })),
  );
  const owner = await attempt("198.51.100.7");
  expect(owner.status).toBe(200);
  const statuses = (await flood).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(30);
  expect(statuses).toContain(503);
});

test("known visitors expire", async () => {
  const { sweepSignIns } = await import("./sql.ts");
  await attempt("198.51.100.7");
  await db.sql`update known_visitors set expires_at = now() - interval '1 second'`;
  await setAttacked();
  expect(await timed("198.51.100.7")).toEqual({ status: 200, isSlow: true });
  await db.sql`update known_visitors set expires_at = now() - interval '1 second'`;
  await sweepSignIns(db.sql, 100);
  expect(await db.sql`select 1 from known_visitors`).toHaveLength(0);
});
