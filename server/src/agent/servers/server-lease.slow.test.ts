/** Lease expiry, which compares heartbeats but no clocks. Real rows, no graph hosts. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect, test } from "vitest";

import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { queueRows } from "../../../test/queue-rows.ts";
import { connect, type Sql } from "../../base/db/connect.ts";
import { EmbeddedPostgres } from "../../base/db/embedded-postgres.ts";
import { migrate } from "../../base/db/migrate.ts";
import { createLog } from "../../base/log.ts";
import { ServerLease } from "./server-lease.ts";
import { ownProcess } from "./server-watch.ts";

const { sql, assistantId, newThread, create, status } = await queueRows();
// the server that owns the rows sends no heartbeats
await sql`delete from servers`;

const started: ServerLease[] = [];
afterEach(async () => {
  for (const lease of started.splice(0)) await lease.stop();
  await sql`delete from runs`;
  await sql`delete from servers`;
});

async function lease(pool: Sql, leaseMs: number) {
  const events = { lost: 0, released: 0, older: [] as boolean[], serverId: randomUUID() };
  const serverLease = new ServerLease({
    sql: pool,
    leaseSql: pool,
    log: createLog("silent"),
    serverId: events.serverId,
    leaseMs,
    maxFailures: 3,
    internalUrl: "http://127.0.0.1:1",
    instanceId: undefined,
    slots: 100,
    graphs: () => ["echo"],
    onLost: () => (events.lost += 1),
    onReleased: () => (events.released += 1),
    onBeat: () => {},
    onOlderServers: (present) => events.older.push(present),
    onLostTrace: () => {},
  });
  started.push(serverLease);
  await serverLease.start();
  return events;
}

const serverIds = async () =>
  (await sql<{ server_id: string }[]>`select server_id from servers`).map((row) => row.server_id);

const insertServer = async (server: { id: string; host?: string; process?: string; beat?: string }) =>
  sql`insert into servers (server_id, host_name, process, heartbeat_at)
    values (${server.id}, ${server.host ?? "elsewhere"}, ${server.process ?? "null"}, now() + ${server.beat ?? "0"}::interval)`;

test("removes a server that sends no heartbeat for a lease period, and returns its runs to the queue", async () => {
  const other = randomUUID();
  await insertServer({ id: other });
  const run = await create(await newThread(), { claim: true, serverId: other });
  const me = await lease(sql, 1000);
  await sleep(500);
  expect(await serverIds()).toContain(other);
  await expect.poll(() => status(run.runId), { timeout: 3000 }).toBe("pending");
  expect(await serverIds()).toEqual([me.serverId]);
  expect(me.released).toBe(1);
});

test("keeps a server whose clock is hours off, as long as its heartbeats change", async () => {
  const [slow, fast] = [randomUUID(), randomUUID()];
  await insertServer({ id: slow, beat: "-3 hours" });
  await insertServer({ id: fast, beat: "3 hours" });
  await lease(sql, 1000);
  const until = performance.now() + 2500;
  while (performance.now() < until) {
    await sql`update servers set heartbeat_at = heartbeat_at - interval '1 ms' where server_id in (${slow}, ${fast})`;
    await sleep(200);
  }
  expect((await serverIds()).toSorted()).toEqual(expect.arrayContaining([slow, fast]));
});

test("does not treat a process from another boot of a machine with the same name as dead", async () => {
  const other = randomUUID();
  const process = JSON.stringify({ pid: 1, started: `${randomUUID()}/1` });
  await insertServer({ id: other, host: hostname(), process });
  // the same heartbeat judges both
  const dead = randomUUID();
  const gone = { ...(JSON.parse(ownProcess()) as { started: string }), pid: 4_194_303 };
  await insertServer({ id: dead, host: hostname(), process: JSON.stringify(gone) });
  const me = await lease(sql, 60_000);
  await expect.poll(() => serverIds(), { timeout: 10_000 }).not.toContain(dead);
  expect((await serverIds()).toSorted()).toEqual([other, me.serverId].toSorted());
});

test("a server that lost its lease releases its runs before it registers again", async () => {
  const me = await lease(sql, 5000);
  const run = await create(await newThread(), { claim: true, serverId: me.serverId });
  await sql`delete from servers`;
  await expect.poll(() => serverIds(), { timeout: 3000 }).toEqual([me.serverId]);
  expect(me.lost).toBe(1);
  expect(await status(run.runId)).toBe("pending");
});

const dataDir = mkdtempSync(join(tmpdir(), "heddle-lease-"));
const own = new EmbeddedPostgres({ dataDir, log: () => {} });
const address = await own.start();
afterAll(async () => {
  await own.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Pids of the postmaster and all its processes. */
function postgresPids(postmaster: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === postmaster;
      } catch {
        return false;
      }
    })
    .map(Number);
  return [postmaster, ...children];
}

test("reports servers that cannot read lists stored as changes, until they are gone", async () => {
  const [older, newer] = [randomUUID(), randomUUID()];
  await sql`insert into servers (server_id, host_name, process, reads_changes) values (${newer}, 'elsewhere', 'null', true)`;
  const { older: reports } = await lease(sql, 60_000);
  await insertServer({ id: older });
  await expect.poll(() => reports).toEqual([true]);
  await sql`delete from servers where server_id = ${older}`;
  await expect.poll(() => reports).toEqual([true, false]);
});

test("no lease expires while Postgres is frozen for longer than the lease period", async () => {
  // the second server's heartbeats arrive shortly after the thaw
  const proxy = await FaultProxy.before(address.uri);
  const slow = { uri: proxy.through(address.uri), socket: null };
  const pools = [address, slow].map((target) => connect(target, { max: 2, silenceMs: 1250 }));
  const [mine] = pools as [Sql, Sql];
  await migrate(mine);
  const servers = await Promise.all(pools.map((pool) => lease(pool, 2500)));
  for (const { serverId } of servers) {
    const [threadId, runId] = [randomUUID(), randomUUID()];
    await mine`insert into threads (thread_id, running_run_id) values (${threadId}, ${runId})`;
    await mine`insert into runs (run_id, thread_id, assistant_id, status, attempt, server_id)
      values (${runId}, ${threadId}, ${assistantId}, 'running', 1, ${serverId})`;
  }
  const postmaster = Number(readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n")[0]);
  const pids = postgresPids(postmaster);
  const endDelay = proxy.delay(10_000);
  await sleep(100);
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await sleep(4000);
  for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT");
  await sleep(700);
  endDelay();
  await sleep(3000);
  expect(servers.map(({ lost }) => lost)).toEqual([0, 0]);
  expect(await mine`select distinct status, attempt from runs`).toEqual([{ status: "running", attempt: 1 }]);
  for (const serverLease of started.splice(0)) await serverLease.stop();
  await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })));
  await proxy.stop();
});
