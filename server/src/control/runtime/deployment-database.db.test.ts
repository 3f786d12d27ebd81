/** Postgres roles of deployments, with what a hostile deployment can do with the address in its environment. */
import { randomUUID } from "node:crypto";

import { pino } from "pino";
import postgres from "postgres";
import { afterAll, afterEach, expect, test } from "vitest";

import { type TestDatabase, testDatabase } from "../../../test/db.ts";
import { testWorkspace } from "../../../test/identity.ts";
import { openSecrets } from "../../base/secrets/secrets.ts";
import { generateKey } from "../../base/secrets/keyring.ts";
import { DeploymentDatabases } from "./deployment-database.ts";

const db = await testDatabase();
const { workspaceId } = await testWorkspace(db, "a");
const lines: string[] = [];
const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
const settings = { secretsKeys: generateKey(), secretsKeyFile: undefined };
const opened: DeploymentDatabases[] = [];
const made: string[] = [];

async function open(address: { uri: string; socket: string | null }, platform: TestDatabase = db) {
  const secrets = await openSecrets({ sql: platform.sql, log, dataDir: "/nonexistent", settings });
  const databases = new DeploymentDatabases({ sql: platform.sql, secrets, address, keysNeeded: false, log });
  opened.push(databases);
  return databases;
}

const address = { uri: db.uri, socket: db.options.host ?? null };
const nameOf = (id: string) => `heddle_d_${id.replaceAll("-", "")}`;

async function deployment(databases: DeploymentDatabases): Promise<{ id: string; uri: string; name: string }> {
  const id = randomUUID();
  const uri = databases.uri(id, await databases.ensure(id, workspaceId));
  made.push(nameOf(id));
  return { id, uri, name: nameOf(id) };
}

/** Connects as the address's user, to any database of the server. "entered", or why not. */
async function enter(uri: string, database: string): Promise<string> {
  const sql = postgres(uri, { database, max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    await sql`select 1`;
    return "entered";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const REFUSED = "42501";

afterEach(() => {
  lines.length = 0;
});
afterAll(async () => {
  for (const databases of opened) await databases.close();
  for (const name of made) {
    await db.sql.unsafe(`drop database if exists "${name}" with (force)`);
    await db.sql.unsafe(`drop role if exists "${name}"`);
  }
});

test("a deployment's role enters its own database and no other", async () => {
  const databases = await open(address);
  await databases.secure();
  const [one, two] = [await deployment(databases), await deployment(databases)];
  const platform = new URL(db.uri).pathname.slice(1);
  expect(await enter(one.uri, one.name)).toBe("entered");
  for (const other of [two.name, platform, "postgres", "template1"]) {
    expect([other, await enter(one.uri, other)]).toEqual([other, REFUSED]);
  }
});

test("a start closes the databases of an installation that left them open, and ends who is inside", async () => {
  const databases = await open(address);
  const [one, two] = [await deployment(databases), await deployment(databases)];
  const platform = new URL(db.uri).pathname.slice(1);
  for (const name of [two.name, platform, "template1"]) {
    await db.sql.unsafe(`grant connect on database "${name}" to public`);
  }
  const reader = `heddle_reader_${process.pid}`;
  await db.sql.unsafe(`create role "${reader}" login password 'x'`);
  await db.sql.unsafe(`grant select on workspaces to "${reader}"`);
  try {
    const inside = postgres(one.uri, { database: platform, max: 1, onnotice: () => {} });
    // the lock that migrations take
    await inside`select pg_advisory_lock(7236518)`;
    await databases.secure();
    await expect(inside`select 1`).rejects.toThrow();
    await inside.end({ timeout: 1 });
    for (const other of [two.name, platform, "template1"]) {
      expect([other, await enter(one.uri, other)]).toEqual([other, REFUSED]);
    }
    expect(await enter(one.uri, one.name)).toBe("entered");
    // a role of the operator's that reads here keeps its way in
    const url = new URL(db.uri);
    Object.assign(url, { username: reader, password: "x" });
    expect(await enter(url.href, platform)).toBe("entered");
  } finally {
    await db.sql.unsafe(`drop owned by "${reader}"`);
    await db.sql.unsafe(`drop role "${reader}"`);
  }
});

test("an advisory lock of a deployment holds up nobody else", async () => {
  const databases = await open(address);
  await databases.secure();
  const { uri } = await deployment(databases);
  const hostile = postgres(uri, { max: 1, onnotice: () => {} });
  await hostile`select pg_advisory_lock(7236518), pg_advisory_lock(7236519)`;
  const [row] = await db.sql<{ got: boolean }[]>`
    select pg_try_advisory_xact_lock(7236518) and pg_try_advisory_xact_lock(7236519) as got`;
  expect(row!.got).toBe(true);
  await hostile.end({ timeout: 1 });
});

test("a database whose making was cut off is closed before anybody can connect", async () => {
  const databases = await open(address);
  const id = randomUUID();
  made.push(nameOf(id));
  // as after a kill between two of its steps
  await db.sql.unsafe(`create role "${nameOf(id)}" login password 'x'`);
  await db.sql.unsafe(`create database "${nameOf(id)}" owner "${nameOf(id)}" allow_connections false`);
  await db.sql.unsafe(`drop database "${nameOf(id)}"`);
  const uri = databases.uri(id, await databases.ensure(id, workspaceId));
  expect(await enter(uri, nameOf(id))).toBe("entered");
  await db.sql.unsafe(`grant connect on database "${nameOf(id)}" to public`);
  await db.sql.unsafe(`alter database "${nameOf(id)}" allow_connections false`);
  await databases.ensure(id, workspaceId);
  expect(await enter(uri, nameOf(id))).toBe("entered");
  expect(await enter((await deployment(databases)).uri, nameOf(id))).toBe(REFUSED);
});

test("a platform whose role may not close a database says so in one line", async () => {
  const owned = await testDatabase();
  const name = new URL(owned.uri).pathname.slice(1);
  const role = `heddle_managed_${process.pid}`;
  await owned.sql.unsafe(`create role "${role}" login createdb createrole password 'x'`);
  try {
    const url = new URL(owned.uri);
    Object.assign(url, { username: role, password: "x" });
    const databases = await open({ uri: url.href, socket: null });
    await databases.secure();
    expect(lines).toHaveLength(1);
    for (const part of [name, role, "CONNECT", "PUBLIC"]) expect(lines[0]).toContain(part);
    // and yet its deployments have databases of their own
    const { uri, name: own } = await deployment(databases);
    expect(await enter(uri, own)).toBe("entered");
    expect(await enter((await deployment(databases)).uri, own)).toBe(REFUSED);
  } finally {
    for (const databases of opened) await databases.close();
    for (const each of made) {
      await db.sql.unsafe(`drop database if exists "${each}" with (force)`);
      await db.sql.unsafe(`drop role if exists "${each}"`);
    }
    await owned.sql.unsafe(`drop role "${role}"`);
  }
});
