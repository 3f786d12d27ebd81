/** Route tables of several processes on one database. */
import { hostname } from "node:os";

import { expect, test, vi } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { testDatabase } from "../../../test/db.ts";
import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { connect } from "../../base/db/connect.ts";
import { createLog } from "../../base/log.ts";
import { ControlChanges } from "../changes/control-changes.ts";
import { RouteFollower } from "./route-follower.ts";
import { RouteTable } from "./route-table.ts";

const db = await testDatabase();
const { sql } = db;
const log = createLog("silent");
const [deployment, revision, instance] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status, active_revision_id)
  values (${deployment}, ${crypto.randomUUID()}, 'a', 'a', 'internal_source', '{}', 'UNUSED', ${revision})`;
await sql`insert into revisions (id, deployment_id, number, source, source_config, status)
  values (${revision}, ${deployment}, 1, 'internal_source', '{}', 'DEPLOYED')`;
await sql`insert into instances (id, deployment_id, revision_id, replica, state, place, port)
  values (${instance}, ${deployment}, ${revision}, 0, 'ready', ${`${hostname()}:/somewhere`}, 1000)`;

async function openFollower(uri = db.uri, host = hostname()) {
  const pool = connect({ uri, socket: null }, { max: 2, startMs: 500 });
  const table = new RouteTable(pool, host);
  const changes = new ControlChanges({ uri, socket: null }, log);
  await changes.start();
  const follower = new RouteFollower({ sql: pool, changes, log, table, host });
  await follower.start();
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await follower.stop();
    await changes.stop();
    await pool.end({ timeout: 1 });
  };
  atEnd(stop);
  const ports = () => table.find("a")?.instances.map(({ port }) => port);
  return { table, follower, ports, stop };
}
const setPort = (port: number) => sql`update instances set port = ${port} where id = ${instance}`;

test("a change arrives with its notification, and without one at the next resync", async () => {
  const { ports } = await openFollower();
  expect(ports()).toEqual([1000]);
  await setPort(1001);
  await vi.waitUntil(() => ports()?.[0] === 1001, { timeout: 20_000, interval: 5 });
  await sql`alter table instances disable trigger instances_changes`;
  await setPort(1002);
  await vi.waitUntil(() => ports()?.[0] === 1002, { timeout: 20_000, interval: 5 });
  await sql`alter table instances enable trigger instances_changes`;
});

test("a gateway keeps its routes while the database is unavailable, and reloads them afterwards", async () => {
  const proxy = await FaultProxy.before(db.uri);
  atEnd(() => proxy.stop());
  const { ports } = await openFollower(proxy.through(db.uri));
  const [before] = ports()!;
  const up = proxy.refuse();
  await setPort(1003);
  await vi.waitUntil(() => proxy.count === 0, { timeout: 10_000 });
  expect(ports()).toEqual([before]);
  up();
  await vi.waitUntil(() => ports()?.[0] === 1003, { timeout: 20_000, interval: 5 });
});

test("a gateway has routes to the instances of its own machine only", async () => {
  const { table } = await openFollower(db.uri, "elsewhere");
  expect(table.find("a")).toMatchObject({ hasServed: true, instances: [] });
});

test("an instance counts as used until every gateway has left it", async () => {
  const [leader, gateway] = [await openFollower(), await openFollower()];
  expect(await leader.follower.countOthers()).toBeGreaterThan(0);
  const leave = gateway.table.enter(instance);
  await sql`update instances set state = 'draining' where id = ${instance}`;
  const isUsed = await leader.follower.watchUse(instance);
  expect(await isUsed()).toBe(true);
  await vi.waitUntil(() => gateway.ports()?.length === 0, { timeout: 20_000 });
  // it has the new table, and a request that began before
  await leader.follower.settle();
  expect(await isUsed()).toBe(true);
  leave();
  await vi.waitUntil(async () => !(await isUsed()), { timeout: 20_000 });
});
