import { rm } from "node:fs/promises";

import { isUuid } from "../../base/ids.ts";
import type { Sql } from "../../base/db/connect.ts";
import { deleteOldLogs } from "../logs/sql.ts";
import type { WorkDeps } from "./work-deps.ts";
import { uploadFile } from "../uploads/receive-upload.ts";
import { deleteOldArchives, expireUploads } from "../uploads/sql.ts";
import { deleteOldInstances } from "../runtime/sql.ts";

/**
 * Selects builds that serve, may be rolled back to, or are in progress: the newest deployed ones of each deployment.
 */
const keptBuilds = (sql: Sql, each: number) => sql<{ id: string }[]>`
  select artifact_id as id from (
    select artifact_id, row_number() over (partition by deployment_id order by max(number) desc) as place
    from revisions where artifact_id is not null and status = 'DEPLOYED' group by deployment_id, artifact_id) built
  where place <= ${each}
  union
  select coalesce(artifact_id, id) from revisions
  where status in ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'INTERRUPTED', 'UNKNOWN')
  union
  select r.artifact_id from deployments d join revisions r on r.id = d.active_revision_id`;

/** Age at which pushed images are deleted that are neither tagged nor the source of a kept build. */
const PUSHED_AGE_MS = 24 * 3600 * 1000;

async function collectImages({ driver, images, sql }: WorkDeps): Promise<void> {
  for (const deployment of await images.deployments()) {
    const [known] = isUuid(deployment) ? await sql`select 1 from deployments where id = ${deployment}` : [];
    if (known) await images.collect(deployment, (await driver.imageDigests?.(deployment)) ?? [], PUSHED_AGE_MS);
    else await images.remove(deployment);
  }
}

/** Deletes unreferenced builds, archives and images, old log lines, and instances that ended long ago. */
export async function collectGarbage(deps: WorkDeps): Promise<void> {
  const { sql, driver, settings, directory, log } = deps;
  // list builds before reading references, so that new ones are not touched
  const builds = await driver.listBuilds();
  const keptIds = new Set((await keptBuilds(sql, settings.keptBuilds + 1)).map((row) => row.id));
  for (const build of builds) {
    if (!isUuid(build) || keptIds.has(build)) continue;
    log.info({ build }, "removing an old build");
    await driver.deleteBuild(build);
  }
  const instances = await driver.listInstances();
  const alive = new Set(
    (await sql<{ id: string }[]>`select id from instances where state <> 'ended'`).map(({ id }) => id),
  );
  // left behind by a crash after their end
  for (const id of instances) if (isUuid(id) && !alive.has(id)) await driver.discard(id);
  for (const id of (await driver.listDeployments?.()) ?? []) {
    const [known] = isUuid(id) ? await sql`select 1 from deployments where id = ${id}` : [];
    if (!known) await driver.forget?.(id);
  }
  await collectImages(deps);
  const paths = [...(await expireUploads(sql, 1000)), ...(await deleteOldArchives(sql))];
  for (const path of paths) await rm(uploadFile(directory, path), { force: true });
  while ((await deleteOldLogs(sql, settings.logDays, 5000)) === 5000);
  await deleteOldInstances(sql);
}
