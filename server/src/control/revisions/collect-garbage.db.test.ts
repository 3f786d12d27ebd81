/** Garbage collection of builds, instances, archives and log lines. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { WORKSPACE } from "../../../test/principal.ts";
import { uuid7 } from "../../base/ids.ts";
import { collectGarbage } from "./collect-garbage.ts";

const { control, sql } = await testControlPlane({ HEDDLE_KEPT_BUILDS: "2", HEDDLE_DEPLOYMENT_LOG_DAYS: "3" });
const { deps } = control;
const directoryOf = (kind: string) => join(deps.directory, kind);
const deployment = uuid7();
await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status)
  values (${deployment}, ${WORKSPACE}, 'kept', 'kept', 'internal_source', '{}', 'UNUSED')`;

let number = 0;
async function revision(status: string, archive: string | null = null, days = 0): Promise<string> {
  const id = uuid7();
  number += 1;
  const isBuilt = !/BUILD/.test(status);
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status, artifact_id,
      source_tarball_path, finished_at)
    values (${id}, ${deployment}, ${number}, 'internal_source', '{}', ${status}, ${isBuilt ? id : null},
      ${archive}, now() - make_interval(days => ${days}))`;
  mkdirSync(join(directoryOf("builds"), id), { recursive: true });
  writeFileSync(join(directoryOf("builds"), id, "complete"), "");
  return id;
}

test("keeps the newest builds, the serving one and active ones, and removes the others", async () => {
  const oldest = await revision("DEPLOYED");
  // before there are others, because the control plane also collects garbage by itself
  await sql`update deployments set active_revision_id = ${oldest} where id = ${deployment}`;
  const older = await revision("DEPLOYED");
  const failed = await revision("DEPLOY_FAILED");
  const recent = [await revision("DEPLOYED"), await revision("DEPLOYED"), await revision("DEPLOYED")];
  const building = await revision("BUILDING");
  await collectGarbage(deps);
  // in addition to the serving build, two for a rollback, and one that may just have been replaced
  expect(readdirSync(directoryOf("builds")).toSorted()).toEqual([oldest, ...recent, building].toSorted());
  expect([older, failed].filter((id) => existsSync(join(directoryOf("builds"), id)))).toEqual([]);
});

test("removes directories of ended and unknown instances, and keeps those of running ones", async () => {
  const [alive, over, unknown] = [uuid7(), uuid7(), uuid7()];
  const insert = (id: string, state: string) => sql`
    insert into instances (id, deployment_id, revision_id, replica, state, place, port, ended_at)
    select ${id}, deployment_id, id, 0, ${state}, 'elsewhere', 1, case when ${state} = 'ended' then now() end
    from revisions where deployment_id = ${deployment} order by number limit 1`;
  await insert(alive, "ready");
  await insert(over, "ended");
  for (const id of [alive, over, unknown]) mkdirSync(join(directoryOf("instances"), id), { recursive: true });
  await collectGarbage(deps);
  expect(readdirSync(directoryOf("instances"))).toEqual([alive]);
  await sql`delete from instances`;
});

test("removes archives a week after their revision except those of kept builds, and log lines after their retention", async () => {
  mkdirSync(directoryOf("uploads"), { recursive: true });
  const archive = async (name: string, usedDays: number | null) => {
    const path = `${WORKSPACE}/${deployment}/${name}`;
    writeFileSync(join(directoryOf("uploads"), name), "x");
    await sql`insert into uploads (object_path, deployment_id, expires_at, uploaded_at, used_at)
      values (${path}, ${deployment}, now() - interval '10 days', now(),
        ${usedDays === null ? null : sql`now() - make_interval(days => ${usedDays})`})`;
    return path;
  };
  await revision("DEPLOYED", await archive(uuid7(), 9), 8);
  const serving = await archive(uuid7(), 9);
  await sql`update deployments set active_revision_id = ${await revision("DEPLOYED", serving, 8)} where id = ${deployment}`;
  for (let newer = 0; newer < 3; newer++) await revision("DEPLOYED", null, 8);
  const failed = await archive(uuid7(), 9);
  await revision("BUILD_FAILED", failed, 8);
  const young = await archive(uuid7(), 3);
  await revision("DEPLOYED", young, 2);
  const latest = await archive(uuid7(), 9);
  const last = await revision("DEPLOYED", latest, 8);
  await sql`update deployments set latest_revision_id = ${last} where id = ${deployment}`;
  await archive(uuid7(), null);
  const line = (message: string, days: number) => sql`
    insert into deployment_logs (deployment_id, revision_id, kind, at, level, message)
    values (${deployment}, ${last}, 'deploy', now() - make_interval(days => ${days}), 'INFO', ${message})`;
  await line("old", 4);
  await line("new", 2);
  await collectGarbage(deps);
  const names = [serving, young, latest].map((path) => path.split("/").at(-1)!);
  expect(readdirSync(directoryOf("uploads")).toSorted()).toEqual(names.toSorted());
  expect((await sql<{ message: string }[]>`select message from deployment_logs`).map((row) => row.message)).toEqual([
    "new",
  ]);
});
