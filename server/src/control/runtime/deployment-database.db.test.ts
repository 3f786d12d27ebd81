/** Postgres roles of deployments, and the limits of a hostile deployment that uses the address in its environment. */
import { randomUUID } from "node:crypto";

import { pino } from "pino";
import postgres from "postgres";
import { afterAll, afterEach, expect, test } from "vitest";

import { type TestDatabase, testDatabase } from "../../../test/db.ts";
import { testWorkspace } from "../../../test/identity.ts";
import { openSecrets } from "../../base/secrets/secrets.ts";
import { generateKey } from "../../base/secrets/keyring.ts";
import { connectionNeed } from "./connection-need.ts";
import { warnOfConnections } from "./connection-room.ts";
import { DeploymentDatabases } from "./deployment-database.ts";

const db = await testDatabase();
const { workspaceId } = await testWorkspace(db, "a");
const lines: string[] = [];
const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
const settings = { secretsKeys: generateKey(), secretsKeyFile: undefined };
/** Connections of a deployment's own code. */
const OWN = 3;
const opened: DeploymentDatabases[] = [];
const createdDatabases: string[] = [];

async function open(address: { uri: string; socket: string | null }, platform: TestDatabase = db) {
  const secrets = await openSecrets({ sql: platform.sql, log, dataDir: "/nonexistent", settings });
  const databases = new DeploymentDatabases({
    sql: platform.sql,
    secrets,
    address,
    keysNeeded: false,
    ownConnections: OWN,
    log,
  });
  opened.push(databases);
  return databases;
}

const address = { uri: db.uri, socket: db.options.host ?? null };
const databaseName = (id: string) => `heddle_d_${id.replaceAll("-", "")}`;

async function deployment(databases: DeploymentDatabases): Promise<{ id: string; uri: string; name: string }> {
  const id = randomUUID();
  const uri = databases.uri(id, await databases.ensure(id, workspaceId));
  createdDatabases.push(databaseName(id));
  return { id, uri, name: databaseName(id) };
}

/** Connects as the address's user to any database of the server. Returns "entered", or the reason for the failure. */
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

const REJECTED = "42501";
const TOO_MANY = "53300";

const connectionLimit = async (name: string): Promise<number> =>
  (await db.sql<{ limit: number }[]>`select rolconnlimit as limit from pg_roles where rolname = ${name}`)[0]!.limit;

/** Opens connections until one is rejected, at most `most`. @returns their number, and the reason of the rejection */
async function fill(
  uri: string,
  max: number,
): Promise<{ entered: number; rejected: string | null; end(): Promise<void> }> {
  const inside: postgres.Sql[] = [];
  const end = async () => void (await Promise.all(inside.map((sql) => sql.end({ timeout: 1 }))));
  while (inside.length < max) {
    const sql = postgres(uri, { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      await sql`select 1`;
      inside.push(sql);
    } catch (error) {
      await sql.end({ timeout: 1 });
      return { entered: inside.length, rejected: (error as { code?: string }).code ?? String(error), end };
    }
  }
  return { entered: inside.length, rejected: null, end };
}

afterEach(() => {
  lines.length = 0;
});
afterAll(async () => {
  for (const databases of opened) await databases.close();
  for (const name of createdDatabases) {
    await db.sql.unsafe(`drop database if exists "${name}" with (force)`);
    await db.sql.unsafe(`drop role if exists "${name}"`);
  }
});

test("a deployment's role connects to its own database and no other", async () => {
  const databases = await open(address);
  await databases.secure();
  const [first, second] = [await deployment(databases), await deployment(databases)];
  const platform = new URL(db.uri).pathname.slice(1);
  expect(await enter(first.uri, first.name)).toBe("entered");
  for (const other of [second.name, platform, "postgres", "template1"]) {
    expect([other, await enter(first.uri, other)]).toEqual([other, REJECTED]);
  }
});

test("a start closes databases that an older installation left open, and ends their connections", async () => {
  const databases = await open(address);
  const [first, second] = [await deployment(databases), await deployment(databases)];
  const platform = new URL(db.uri).pathname.slice(1);
  for (const name of [second.name, platform, "template1"]) {
    await db.sql.unsafe(`grant connect on database "${name}" to public`);
  }
  const reader = `heddle_reader_${process.pid}`;
  await db.sql.unsafe(`create role "${reader}" login password 'x'`);
  await db.sql.unsafe(`grant select on workspaces to "${reader}"`);
  try {
    const inside = postgres(first.uri, { database: platform, max: 1, onnotice: () => {} });
    // the lock that migrations take
    await inside`select pg_advisory_lock(7236518)`;
    await databases.secure();
    await expect(inside`select 1`).rejects.toThrow();
    await inside.end({ timeout: 1 });
    for (const other of [second.name, platform, "template1"]) {
      expect([other, await enter(first.uri, other)]).toEqual([other, REJECTED]);
    }
    expect(await enter(first.uri, first.name)).toBe("entered");
    // a role of the operator that reads here keeps its access
    const url = new URL(db.uri);
    Object.assign(url, { username: reader, password: "x" });
    expect(await enter(url.href, platform)).toBe("entered");
  } finally {
    await db.sql.unsafe(`drop owned by "${reader}"`);
    await db.sql.unsafe(`drop role "${reader}"`);
  }
});

test("an advisory lock held by a deployment blocks no other database", async () => {
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

test("a half-created database is closed before anyone can connect", async () => {
  const databases = await open(address);
  const id = randomUUID();
  createdDatabases.push(databaseName(id));
  // as after a kill between two of its steps
  await db.sql.unsafe(`create role "${databaseName(id)}" login password 'x'`);
  await db.sql.unsafe(`create database "${databaseName(id)}" owner "${databaseName(id)}" allow_connections false`);
  await db.sql.unsafe(`drop database "${databaseName(id)}"`);
  const uri = databases.uri(id, await databases.ensure(id, workspaceId));
  expect(await enter(uri, databaseName(id))).toBe("entered");
  await db.sql.unsafe(`grant connect on database "${databaseName(id)}" to public`);
  await db.sql.unsafe(`alter database "${databaseName(id)}" allow_connections false`);
  await databases.ensure(id, workspaceId);
  expect(await enter(uri, databaseName(id))).toBe("entered");
  expect(await enter((await deployment(databases)).uri, databaseName(id))).toBe(REJECTED);
});

test("rejects a role that opens too many connections, without affecting the platform or other roles", async () => {
  const databases = await open(address);
  await databases.secure();
  const [greedy, neighbour] = [await deployment(databases), await deployment(databases)];
  const limit = await connectionLimit(greedy.name);
  expect(limit).toBe(connectionNeed(1, OWN));
  const { entered, rejected, end } = await fill(greedy.uri, limit + 5);
  expect([entered, rejected]).toEqual([limit, TOO_MANY]);
  expect(await enter(neighbour.uri, neighbour.name)).toBe("entered");
  expect(await enter(db.uri, new URL(db.uri).pathname.slice(1))).toBe("entered");
  // more agent servers of it, and fewer again: open sessions stay
  await databases.limitConnections(greedy.id, limit + 2);
  const more = await fill(greedy.uri, 5);
  expect([more.entered, more.rejected]).toEqual([2, TOO_MANY]);
  await databases.limitConnections(greedy.id, 1);
  expect(await connectionLimit(greedy.name)).toBe(limit);
  const own = postgres(greedy.uri, { max: 1, onnotice: () => {} });
  await expect(own.unsafe(`alter role "${greedy.name}" connection limit -1`)).rejects.toThrow();
  await Promise.all([end(), more.end(), own.end({ timeout: 1 })]);
});

test("a start limits the roles of an older installation, and no foreign role", async () => {
  const databases = await open(address);
  const [own, foreign] = [await deployment(databases), await deployment(databases)];
  await db.sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status)
    values (${own.id}, ${workspaceId}, 'one', 'one', 'internal_source', '{}', 'READY')`;
  for (const { name } of [own, foreign]) await db.sql.unsafe(`alter role "${name}" connection limit -1`);
  await databases.secure();
  expect(await connectionLimit(own.name)).toBe(connectionNeed(1, OWN));
  expect(await connectionLimit(foreign.name)).toBe(-1);
  await db.sql`delete from deployments where id = ${own.id}`;
});

test("a start warns where deployments could take the platform's connections, and not where some are reserved", async () => {
  const databases = await open(address);
  const { name } = await deployment(databases);
  await db.sql.unsafe(`alter role "${name}" connection limit 100000`);
  const role = `heddle_plain_${process.pid}`;
  await db.sql.unsafe(`create role "${role}" login password 'x'`);
  const url = new URL(db.uri);
  await db.sql.unsafe(`grant connect on database "${url.pathname.slice(1)}" to "${role}"`);
  Object.assign(url, { username: role, password: "x" });
  const plain = postgres(url.href, { max: 1, onnotice: () => {} });
  try {
    // the embedded Postgres reserves connections for superusers
    await warnOfConnections(db.sql, log, [name]);
    expect(lines).toEqual([]);
    await warnOfConnections(plain as never, log, []);
    expect(lines).toEqual([]);
    await warnOfConnections(plain as never, log, [name]);
    expect(lines).toHaveLength(1);
    for (const part of ["100000 of the", "max_connections", role, "pg_use_reserved_connections"]) {
      expect(lines[0]).toContain(part);
    }
  } finally {
    await plain.end({ timeout: 1 });
    await db.sql.unsafe(`drop owned by "${role}"`);
    await db.sql.unsafe(`drop role "${role}"`);
  }
});

test("a platform whose role may not close a database reports it in one line", async () => {
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
    // and yet its deployments have separate databases
    const { uri, name: own } = await deployment(databases);
    expect(await enter(uri, own)).toBe("entered");
    expect(await enter((await deployment(databases)).uri, own)).toBe(REJECTED);
  } finally {
    for (const databases of opened) await databases.close();
    for (const each of createdDatabases) {
      await db.sql.unsafe(`drop database if exists "${each}" with (force)`);
      await db.sql.unsafe(`drop role if exists "${each}"`);
    }
    await owned.sql.unsafe(`drop role "${role}"`);
  }
});
