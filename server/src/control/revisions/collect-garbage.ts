import { rm } from "node:fs/promises";

import { isUuid } from "../../base/ids.ts";
import { deploymentExists } from "../deployments/sql.ts";
import { deleteOldLogs } from "../logs/sql.ts";
import { deleteGoneGateways } from "../gateway/sql.ts";
import type { WorkDeps } from "./work-deps.ts";
import { uploadFile } from "../uploads/receive-upload.ts";
import { deleteOldArchives, expireUploads } from "../uploads/sql.ts";
import { deleteOldInstances, liveInstanceIds } from "../runtime/sql.ts";
import { keptBuilds } from "./sql.ts";

/** Age at which pushed images are deleted that are neither tagged nor the source of a kept build. */
const PUSHED_AGE_MS = 24 * 3600 * 1000;

async function collectImages({ driver, images, sql }: WorkDeps): Promise<void> {
  for (const deployment of await images.deployments()) {
    const known = isUuid(deployment) && (await deploymentExists(sql, deployment));
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
  const alive = new Set((await liveInstanceIds(sql)).map(({ id }) => id));
  // left behind by a crash after their end
  for (const id of instances) if (isUuid(id) && !alive.has(id)) await driver.discard(id);
  for (const id of (await driver.listDeployments?.()) ?? []) {
    const known = isUuid(id) && (await deploymentExists(sql, id));
    if (!known) await driver.forget?.(id);
  }
  await collectImages(deps);
  const paths = [...(await expireUploads(sql, 1000)), ...(await deleteOldArchives(sql, [...keptIds]))];
  for (const path of paths) await rm(uploadFile(directory, path), { force: true });
  while ((await deleteOldLogs(sql, settings.logDays, 5000)) === 5000);
  await deleteOldInstances(sql);
  await deleteGoneGateways(sql);
}
