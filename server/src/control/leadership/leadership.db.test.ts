import { expect, test, vi } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { testDatabase } from "../../../test/db.ts";
import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { createLog } from "../../base/log.ts";
import { claimRevision } from "../revisions/queue-sql.ts";
import { insertInstance } from "../runtime/sql.ts";
import { Leadership } from "./leadership.ts";

const db = await testDatabase();
const { sql } = db;

function openLeadership(uri = db.uri, onLead = () => Promise.resolve()) {
  const calls: string[] = [];
  const leadership = new Leadership({
    database: { uri, socket: null },
    log: createLog("silent"),
    leaseMs: 600,
    directory: "d",
  });
  const start = () =>
    leadership.start({
      start: async () => {
        await onLead();
        calls.push("lead");
      },
      release: async () => void calls.push("lost"),
    });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= leadership.stop());
  atEnd(stop);
  return { leadership, calls, start, stop };
}

test("one control plane leads, and its successor begins a new term when it stops", async () => {
  const [first, second] = [openLeadership(), openLeadership()];
  await first.start();
  await second.start();
  expect([first.leadership.leads, second.leadership.leads]).toEqual([true, false]);
  expect(await second.leadership.confirm()).toBe(false);
  const term = BigInt(first.leadership.term!);
  await first.stop();
  await vi.waitUntil(() => second.calls.includes("lead"), { timeout: 20_000 });
  expect(BigInt(second.leadership.term!)).toBe(term + 1n);
  await second.stop();
});

test("a leader without the database does not act, and loses its term to another", async () => {
  const proxy = await FaultProxy.before(db.uri);
  atEnd(() => proxy.stop());
  const [leader, other] = [openLeadership(proxy.through(db.uri)), openLeadership()];
  await leader.start();
  await other.start();
  const old = leader.leadership.term!;
  const up = proxy.refuse();
  await vi.waitUntil(() => other.calls.includes("lead"), { timeout: 20_000 });
  expect(leader.leadership.leads).toBe(false);
  // statements of the old term change nothing
  const [id, revision] = [crypto.randomUUID(), crypto.randomUUID()];
  await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status)
    values (${id}, ${crypto.randomUUID()}, 'a', 'a', 'internal_source', '{}', 'READY')`;
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status)
    values (${revision}, ${id}, 1, 'internal_source', '{}', 'QUEUED')`;
  const instance = { id: crypto.randomUUID(), deploymentId: id, revisionId: revision, replica: 0, place: "p", port: 1 };
  const holder = JSON.stringify({ pid: 1, started: "" });
  expect(await claimRevision(sql, { term: old, holder, leaseSeconds: 20 })).toBeUndefined();
  expect(await insertInstance(sql, old, instance)).toBeUndefined();
  const { term } = other.leadership;
  expect(await claimRevision(sql, { term, holder, leaseSeconds: 20 })).toMatchObject({ id: revision });
  expect(await insertInstance(sql, term, instance)).toMatchObject({ id: instance.id });
  up();
  await vi.waitUntil(() => leader.calls.includes("lost"), { timeout: 20_000 });
  expect(await leader.leadership.confirm()).toBe(false);
  await other.stop();
  await leader.stop();
});

test("a leader without rivals keeps its term when the database is unavailable for longer than the lease", async () => {
  const proxy = await FaultProxy.before(db.uri);
  atEnd(() => proxy.stop());
  const { leadership, calls, start, stop } = openLeadership(proxy.through(db.uri));
  await start();
  const { term } = leadership;
  const up = proxy.refuse();
  await vi.waitUntil(() => !leadership.leads, { timeout: 20_000 });
  up();
  await vi.waitUntil(() => leadership.leads, { timeout: 20_000 });
  expect(leadership.term).toBe(term);
  expect(calls).toEqual(["lead"]);
  await stop();
});
