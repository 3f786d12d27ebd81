import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startPostgresUser, USER_SCRIPT } from "../../../test/postgres-user.ts";
import { EmbeddedPostgres, stopAbandonedPostgres, type PostgresAddress } from "./embedded-postgres.ts";
import { findOrphans } from "./postmaster.ts";
import { identifyProcess, isProcessAlive, type ProcessIdentity } from "./process-identity.ts";

let createdDir: string;
let dataDir: string;
let children: ChildProcess[];
let opened: EmbeddedPostgres[];

beforeAll(async () => {
  createdDir = mkdtempSync(join(tmpdir(), "heddle-pg-"));
  const embedded = new EmbeddedPostgres({ dataDir: createdDir });
  await embedded.start();
  await embedded.stop();
});

afterAll(() => rmSync(createdDir, { recursive: true }));

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "heddle-pg-"));
  children = [];
  opened = [];
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(opened.map((embedded) => embedded.stop()));
  await sleep(20);
  if (existsSync(join(dataDir, "postgres", "users"))) await stopAbandonedPostgres(dataDir);
  const left = existsSync(cluster()) ? findOrphans(cluster()) : [];
  rmSync(dataDir, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`processes of Postgres that are left: ${left.map(({ pid }) => pid).join(", ")}`);
});

/** Copies a cluster for the tests that begin with one, because creating it takes a second. */
const withCluster = () => execFileSync("cp", ["-a", `${createdDir}/.`, dataDir]);
const cluster = () => join(dataDir, "postgres", "data");
const postmasterPid = () => Number(readFileSync(join(cluster(), "postmaster.pid"), "utf8").split("\n")[0]);

function embed(settings: Record<string, string> = {}, dir = dataDir): EmbeddedPostgres {
  const embedded = new EmbeddedPostgres({ dataDir: dir, settings });
  opened.push(embedded);
  return embedded;
}

/** Starts another process that uses the data directory, as the given user. */
async function useElsewhere(uid?: number): Promise<{ child: ChildProcess; address: PostgresAddress }> {
  const spawned = uid !== undefined && { uid, gid: uid, env: { PATH: process.env["PATH"] }, cwd: "/" };
  const { child, connected } = startPostgresUser(dataDir, { ...(spawned && { spawned }) });
  children.push(child);
  return { child, address: await connected };
}

async function query<T>(address: PostgresAddress, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(address.uri, { ...(address.socket && { host: address.socket }), max: 2, onnotice: () => {} });
  return work(sql).finally(() => sql.end({ timeout: 1 }));
}

async function gone(identity: ProcessIdentity | null): Promise<boolean> {
  for (let i = 0; i < 500 && identity && isProcessAlive(identity); i++) await sleep(20);
  return !identity || !isProcessAlive(identity);
}

test("data survives a stop and a start, at the same address", async () => {
  withCluster();
  const embedded = embed();
  const first = await embedded.start();
  await query(first, (sql) => sql`create table notes as select 'kept' as text`);
  const postmaster = identifyProcess(postmasterPid());
  await embedded.stop();
  expect(await gone(postmaster)).toBe(true);

  const second = await embedded.start();
  expect(second).toEqual(first);
  expect(await query(second, (sql) => sql`select text from notes`)).toEqual([{ text: "kept" }]);
});

test("acknowledged commits are on disk: fsync and synchronous_commit are on", async () => {
  withCluster();
  const address = await embed().start();
  const [row] = await query(
    address,
    (sql) => sql`select current_setting('fsync') f, current_setting('synchronous_commit') s`,
  );
  expect(row).toEqual({ f: "on", s: "on" });
});

test("Postgres survives a killed server, and the next start adopts it", async () => {
  withCluster();
  const { child } = await useElsewhere();
  const pid = postmasterPid();
  child.kill("SIGKILL");
  await once(child, "exit");
  const embedded = embed();
  await embedded.start();
  expect(postmasterPid()).toBe(pid);
  await embedded.stop();
  expect(existsSync(join(cluster(), "postmaster.pid"))).toBe(false);
});

/** Kills the postmaster. Resolves when its process is gone, which takes a while on a busy machine. */
async function killPostmaster(): Promise<void> {
  const identity = identifyProcess(postmasterPid())!;
  process.kill(identity.pid, "SIGKILL");
  expect(await gone(identity)).toBe(true);
}

test("restarts a killed Postgres without waiting for a busy backend", async () => {
  withCluster();
  const embedded = embed();
  const address = await embedded.start();
  await query(address, (sql) => sql`create table kept as select generate_series(1, 100000) as n`);
  const busy = postgres(address.uri, { max: 1, onnotice: () => {} });
  // A CPU-bound query, whose backend does not notice that its postmaster is gone.
  const computing = busy`select count(*) from generate_series(1, 10000000000)`.catch((error: Error) => error);
  await sleep(200);
  await killPostmaster();

  const startedAt = performance.now();
  expect(await embedded.ensureRunning()).toEqual(address);
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  expect(await query(address, (sql) => sql`select count(*)::int from kept`)).toEqual([{ count: 100_000 }]);
  expect(await computing).toBeInstanceOf(Error);
  await busy.end({ timeout: 1 });
});

test("a start waits for a recovery begun by another start", async () => {
  withCluster();
  const { child, address } = await useElsewhere();
  await query(
    address,
    (sql) => sql`create table big as select n, repeat('x', 500) t from generate_series(1, 100000) n`,
  );
  child.kill("SIGKILL");
  await killPostmaster();
  const [first, other] = await Promise.all([embed().start(), embed().start()]);
  expect(first).toEqual(other);
  expect(await query(first, (sql) => sql`select count(*)::int from big`)).toEqual([{ count: 100_000 }]);
});

test("two servers started at once on an empty directory share one Postgres, and the last one stops it", async () => {
  const [first, other] = await Promise.all([useElsewhere(), useElsewhere()]);
  expect(first.address).toEqual(other.address);
  const postmaster = identifyProcess(postmasterPid());
  first.child.kill("SIGTERM");
  await once(first.child, "exit");
  expect(await query(other.address, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  other.child.kill("SIGTERM");
  await once(other.child, "exit");
  expect(await gone(postmaster)).toBe(true);
});

test("a killed server does not count as a user of Postgres", async () => {
  withCluster();
  const { child } = await useElsewhere();
  const embedded = embed();
  await embedded.start();
  child.kill("SIGKILL");
  await once(child, "exit");
  const postmaster = identifyProcess(postmasterPid());
  await embedded.stop();
  expect(await gone(postmaster)).toBe(true);
});

test("a pid file whose pid now belongs to another process does not prevent a start", async () => {
  withCluster();
  const embedded = embed();
  await embedded.start();
  const pidFile = readFileSync(join(cluster(), "postmaster.pid"), "utf8");
  await embedded.stop();
  const stranger = spawn("sleep", ["60"]);
  children.push(stranger);
  writeFileSync(join(cluster(), "postmaster.pid"), pidFile.replace(/^\d+/, String(stranger.pid)));
  await query(await embedded.start(), (sql) => sql`select 1`);
  expect(stranger.exitCode).toBe(null);
});

test("takes over the lock of a dead process", async () => {
  withCluster();
  const dead = spawnSync("true").pid;
  writeFileSync(join(dataDir, "postgres", "lock"), JSON.stringify({ pid: dead, started: "long ago", token: "x" }));
  const address = await embed().start();
  expect(await query(address, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

/** Process groups of the setups that this process runs. */
const setupGroups = (): string[] =>
  execFileSync("ps", ["-A", "-ww", "-o", "ppid=,pgid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([parent, , program]) => Number(parent) === process.pid && program!.endsWith("/initdb"))
    .map(([, group]) => group!);

test("repeats an interrupted setup from the beginning, in a group that a terminal's Ctrl-C does not reach", async () => {
  mkdirSync(join(dataDir, "postgres", "new-1"), { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, "postgres", "new-1", "PG_VERSION"), "18\n");
  const starting = embed().start();
  const own = execFileSync("ps", ["-o", "pgid=", "-p", String(process.pid)], { encoding: "utf8" }).trim();
  let groups: string[] = [];
  await expect.poll(() => (groups = setupGroups()), { interval: 20 }).toHaveLength(1);
  expect(groups).not.toContain(own);
  await starting;
  expect(existsSync(join(dataDir, "postgres", "new-1"))).toBe(false);
});

test("rejects connections without the password, which only its owner can read", async () => {
  withCluster();
  const { uri, socket } = await embed().start();
  const address = new URL(uri);
  address.password = "guess";
  for (const options of [{}, { host: socket! }]) {
    const guess = postgres(address.href, { ...options, max: 1 });
    await expect(guess`select 1`).rejects.toMatchObject({ code: "28P01" });
    await guess.end();
  }
  const { mode } = statSync(join(dataDir, "postgres", "password"));
  expect(mode & 0o777).toBe(0o600);
});

test("reserves connections for the servers, which connect as superuser", async () => {
  withCluster();
  const address = await embed({ max_connections: "45" }).start();
  const other = new URL(address.uri);
  Object.assign(other, { username: "greedy", password: "x" });
  await query(address, (sql) => sql.unsafe("drop role if exists greedy; create role greedy login password 'x'"));
  const inside: postgres.Sql[] = [];
  const open = async () => {
    inside.push(postgres(other.href, { max: 1, onnotice: () => {} }));
    await inside.at(-1)!`select 1`;
  };
  await expect(Promise.all(Array.from({ length: 6 }, open))).rejects.toMatchObject({ code: "53300" });
  expect(await query(address, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  await Promise.all(inside.map((sql) => sql.end({ timeout: 1 })));
});

test("moves Postgres to another port when its own is taken", async () => {
  withCluster();
  const embedded = embed();
  const first = await embedded.start();
  await embedded.stop();
  const squatter = createServer().listen(Number(new URL(first.uri).port), "127.0.0.1");
  await once(squatter, "listening");
  const second = await embedded.start();
  expect(new URL(second.uri).port).not.toBe(new URL(first.uri).port);
  await query({ ...second, socket: null }, (sql) => sql`select 1`);
  squatter.close();
});

test("uses TCP when the path is too long for a Unix socket", async () => {
  const long = join(dataDir, "d".repeat(120));
  const address = await embed({}, long).start();
  expect(address.socket).toBe(null);
  await query(address, (sql) => sql`select 1`);
});

test("rejects a cluster of another major version and names both versions", async () => {
  mkdirSync(cluster(), { recursive: true, mode: 0o700 });
  writeFileSync(join(cluster(), "PG_VERSION"), "12\n");
  await expect(embed().start()).rejects.toThrow(
    /created by Postgres 12, but the embedded Postgres is version 18.*DATABASE_URI/,
  );
});

test("reports why Postgres does not start", async () => {
  withCluster();
  await expect(embed({ shared_buffers: "nonsense" }).start()).rejects.toThrow(
    /invalid value for parameter "shared_buffers"/,
  );
});

test("leaves no process when the data directory is removed", async () => {
  withCluster();
  const embedded = embed();
  await embedded.start();
  const postmaster = identifyProcess(postmasterPid());
  rmSync(dataDir, { recursive: true, force: true });
  await embedded.stop();
  expect(await gone(postmaster)).toBe(true);
});

/** Unprivileged user where these tests run as root and that user can read them; otherwise the current user. */
const NOBODY_UID = 65_534;
const canRunAsNobody =
  process.getuid?.() === 0 &&
  spawnSync("/bin/sh", ["-c", 'test -r "$0" && test -x "$1"', USER_SCRIPT, process.execPath], {
    uid: NOBODY_UID,
    gid: NOBODY_UID,
    cwd: "/",
  }).status === 0;

test("an ordinary user runs Postgres as itself, and the next start adopts and restarts it", async () => {
  if (canRunAsNobody) chownSync(dataDir, NOBODY_UID, NOBODY_UID);
  const owner =
    process.getuid?.() === 0 && !canRunAsNobody ? "postgres" : String(canRunAsNobody ? NOBODY_UID : process.getuid?.());
  const ownerNow = () =>
    execFileSync("ps", ["-o", owner === "postgres" ? "user=" : "uid=", "-p", String(postmasterPid())]);
  const { child, address } = await useElsewhere(canRunAsNobody ? NOBODY_UID : undefined);
  await query(address, (sql) => sql`create table notes as select 'kept' as text`);
  expect(ownerNow().toString().trim()).toBe(owner);
  child.kill("SIGKILL");
  await once(child, "exit");

  const embedded = embed();
  await embedded.start();
  await embedded.stop();
  const again = await embedded.start();
  expect(await query(again, (sql) => sql`select text from notes`)).toEqual([{ text: "kept" }]);
  expect(ownerNow().toString().trim()).toBe(owner);
});
