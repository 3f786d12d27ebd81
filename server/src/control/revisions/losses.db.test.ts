/** Revisions whose process is lost: which losses count, and when they end the revision. */
import { beforeAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { claimRevision, leasedRevisions, takeFromLost, transition } from "./queue-sql.ts";
import type { Event, Status } from "./status.ts";

const { sql } = await testDatabase();
let term: string;
beforeAll(async () => {
  const [leader] = await sql<{ term: string }[]>`select term from control_leader`;
  term = leader!.term;
});

async function insertRevision(status: Status, holder: string | null = null): Promise<string> {
  const [id, revision] = [crypto.randomUUID(), crypto.randomUUID()];
  await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status)
    values (${id}, ${crypto.randomUUID()}, ${id}, ${id}, 'internal_source', '{}', 'READY')`;
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status, holder)
    values (${revision}, ${id}, 1, 'internal_source', '{}', ${status}, ${holder})`;
  return revision;
}

const claim = async () => (await claimRevision(sql, { term, holder: "a process", leaseSeconds: 20 }))!;

const leaseOf = async (id: string) => (await leasedRevisions(sql)).find((lease) => lease.id === id)!;

const select = async (id: string) => {
  const [row] = await sql<
    { status: Status; losses: number; status_message: string | null; finished_at: Date | null }[]
  >`
    select status, losses, status_message, finished_at from revisions where id = ${id}`;
  return row!;
};

test.each<[Status, [Status, Event][]]>([
  [
    "BUILD_FAILED",
    [
      ["QUEUED", "build_wanted"],
      ["AWAITING_BUILD", "build_started"],
    ],
  ],
  ["DEPLOY_FAILED", [["AWAITING_DEPLOY", "deploy_started"]]],
])("a revision is %s when its process was lost three times in that step", async (failed, path) => {
  const id = await insertRevision(path[0]![0]);
  if (failed === "DEPLOY_FAILED") await sql`update revisions set artifact_id = id where id = ${id}`;
  for (let attempt = 1; attempt <= 3; attempt++) {
    const claimed = await claim();
    expect([claimed.id, claimed.status]).toEqual([id, path[0]![0]]);
    for (const [from, event] of path) await transition(sql, claimed, from, event);
    expect(await select(id)).toMatchObject({ losses: attempt - 1, finished_at: null });
    await takeFromLost(sql, await leaseOf(id));
  }
  const message = expect.stringContaining("lost 3 times");
  expect(await select(id)).toMatchObject({ status: failed, status_message: message, finished_at: expect.any(Date) });
  expect(await claim()).toBeUndefined();
  const events = await sql<{ status: Status }[]>`
    select status from revision_events where revision_id = ${id} order by id desc limit 1`;
  expect(events).toEqual([{ status: failed }]);
});

test("a completed build forgets the losses of earlier steps", async () => {
  const id = await insertRevision("BUILDING");
  await sql`update revisions set losses = 2 where id = ${id}`;
  const claimed = await claim();
  await transition(sql, claimed, "QUEUED", "build_wanted");
  await transition(sql, claimed, "AWAITING_BUILD", "build_started");
  expect(await select(id)).toMatchObject({ losses: 2 });
  await transition(sql, claimed, "BUILDING", "built", { artifactId: id });
  expect(await select(id)).toMatchObject({ losses: 0 });
  await sql`update revisions set status = 'DEPLOYED', holder = null where id = ${id}`;
});

test.each<Status>(["AWAITING_BUILD", "AWAITING_DEPLOY", "UNKNOWN"])(
  "losses of a revision that only waits as %s do not count",
  async (status) => {
    const id = await insertRevision(status, "a process");
    for (let n = 0; n < 4; n++) {
      await sql`update revisions set status = ${status}, holder = 'a process' where id = ${id}`;
      await takeFromLost(sql, await leaseOf(id));
      expect(await select(id)).toMatchObject({ status: "INTERRUPTED", losses: 0 });
    }
    await sql`update revisions set status = 'SKIPPED' where id = ${id}`;
  },
);

test("a revision that has moved on since its holder was seen is not taken", async () => {
  const id = await insertRevision("DEPLOYING", "a process");
  const lease = await leaseOf(id);
  await transition(sql, lease, "DEPLOYING", "healthy");
  expect(await takeFromLost(sql, lease)).toBeUndefined();
  expect(await select(id)).toMatchObject({ status: "DEPLOYED" });
});
