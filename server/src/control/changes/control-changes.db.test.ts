import { expect, test } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { testDatabase } from "../../../test/db.ts";
import { FaultProxy } from "../../../../test/faults/fault-proxy.ts";
import { createLog } from "../../base/log.ts";
import { ControlChanges, type ControlTable } from "./control-changes.ts";

const TABLES: ControlTable[] = ["instances", "deployments", "revisions", "cluster_targets"];
const db = await testDatabase();
const { sql } = db;
const never = new AbortController().signal;
const [deployment, revision, instance] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];

async function openChanges(uri = db.uri) {
  const changes = new ControlChanges({ uri, socket: null }, createLog("silent"));
  await changes.start();
  atEnd(() => changes.stop());
  const seen: string[] = [];
  for (const table of TABLES) changes.follow([table], () => seen.push(table));
  return { changes, seen };
}

test("announces changes that matter, and neither renewed leases nor statements without effect", async () => {
  const { seen } = await openChanges();
  await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status)
    values (${deployment}, ${crypto.randomUUID()}, 'a', 'a', 'internal_source', '{}', 'UNUSED')`;
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status)
    values (${revision}, ${deployment}, 1, 'internal_source', '{}', 'DEPLOYED')`;
  await sql`insert into instances (id, deployment_id, revision_id, replica, state, place, port)
    values (${instance}, ${deployment}, ${revision}, 0, 'starting', 'p', 1000)`;
  await sql`insert into cluster_targets (deployment_id, cluster, generation, fingerprint)
    values (${deployment}, 'own', 1, 'f')`;
  await sql`update revisions set lease_until = now() where id = ${revision}`;
  await sql`update revisions set status = 'SKIPPED' where status = 'QUEUED'`;
  await sql`update cluster_targets set seen_at = now(), state = state`;
  await sql`update instances set state = state, log_offset = 5`;
  await sql`update deployments set status = 'READY' where false`;
  await sql`update instances set state = 'ready'`;
  await sql`update cluster_targets set state = 'ready'`;
  await sql`update revisions set holder = 'h'`;
  await sql`update deployments set scale = 2`;
  const wanted = ["deployments", "revisions", "instances", "cluster_targets"];
  await expect.poll(() => seen).toEqual([...wanted, "instances", "cluster_targets", "revisions", "deployments"]);
});

test("a change between two looks ends the next wait at once", async () => {
  const { changes } = await openChanges();
  const looks = await changes.watch(["revisions"], async (next) => {
    const startedAt = performance.now();
    changes.announce("revisions");
    // without the announcement, each wait would last for seconds
    await next(never);
    queueMicrotask(() => changes.announce("revisions"));
    await next(never);
    return performance.now() - startedAt;
  });
  expect(looks).toBeLessThan(1_000);
});

test("a wait ends without an announcement, and when it is aborted", async () => {
  const { changes } = await openChanges();
  await changes.watch(["revisions"], (next) => next(never));
  const stopping = new AbortController();
  const waiting = changes.watch(["revisions"], (next) => next(stopping.signal));
  stopping.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});

test("everything counts as changed after a gap in the connection", async () => {
  const proxy = await FaultProxy.before(db.uri);
  atEnd(() => proxy.stop());
  const { seen } = await openChanges(proxy.through(db.uri));
  proxy.cut();
  await expect.poll(() => new Set(seen)).toEqual(new Set(TABLES));
});
