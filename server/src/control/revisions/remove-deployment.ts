import { rm } from "node:fs/promises";

import type { Sql } from "../../base/db/connect.ts";
import { deleteDeploymentRow, type PendingDeployment } from "../deployments/sql.ts";
import type { WorkDeps } from "./work-deps.ts";
import { TARGET_SECRET, targetSecretId } from "../kubernetes/cluster-work.ts";
import { countPlaces, listClusters } from "../kubernetes/targets-sql.ts";
import { deleteTracingProject } from "../runtime/traces.ts";
import { uploadFile } from "../uploads/receive-upload.ts";

interface Leftovers {
  held: number;
  alive: number;
  /** Instances on the control plane's machine. */
  here: number;
  revisions: string[];
  instances: string[];
  uploads: string[];
}

async function countLeftovers(sql: Sql, id: string): Promise<Leftovers> {
  const [row] = await sql<Leftovers[]>`
    select (select count(*)::int from revisions where deployment_id = ${id} and holder is not null) as held,
      (select count(*)::int from instances where deployment_id = ${id} and state <> 'ended') as alive,
      (select count(*)::int from instances where deployment_id = ${id} and state <> 'ended' and pod is null) as here,
      (select coalesce(array_agg(id::text), '{}') from revisions where deployment_id = ${id}) as revisions,
      (select coalesce(array_agg(id::text), '{}') from instances where deployment_id = ${id}) as instances,
      (select coalesce(array_agg(object_path), '{}') from uploads where deployment_id = ${id}) as uploads`;
  return row!;
}

/**
 * Removes a deployment as far as possible; called again while instances run or revisions are being processed. Its row
 * is deleted last, so that unfinished removals are retried. A forced deletion leaves behind what cannot be removed, and
 * logs it.
 */
export async function removeDeployment(deps: WorkDeps, going: PendingDeployment): Promise<boolean> {
  const { sql, secrets, driver, databases, directory, images, log } = deps;
  const { id, tenant_id: workspaceId, force_delete: isForced } = going;
  const left = await countLeftovers(sql, id);
  /** Clusters that may still have its objects. */
  const places = await countPlaces(sql, id);
  // the supervisor stops running instances, and the worker's attempts end by themselves
  const isLeft = left.held > 0 || left.alive > 0 || places > 0;
  if (isLeft && !isForced) return false;
  // a forced deletion does not wait for clusters, which may no longer exist
  if (left.held > 0 || left.here > 0) return false;
  if (places > 0) log.warn({ deployment: id }, "a deployment is deleted by force; its objects remain in its cluster");
  const remove = async (description: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isForced) throw error;
      log.warn(
        { err: error, deployment: id },
        `${description} of a deployment that is deleted by force could not be removed`,
      );
    }
  };
  if (going.delete_tracing_project) {
    const traces = await deps.traces;
    // only once no instance is left to send traces, which would recreate the project
    if (traces) await remove("traces", () => deleteTracingProject(traces, workspaceId, going.name));
  }
  await remove("the database and its user", () => databases.drop(id, workspaceId));
  for (const revision of left.revisions) {
    await remove("builds", () => driver.deleteBuild(revision));
    await secrets.delete({ purpose: "revision-env", id: revision });
  }
  for (const instance of left.instances) await remove("instances", () => driver.discard(instance));
  await remove("the system user and the package cache", async () => driver.forget?.(id));
  for (const upload of left.uploads) await remove("archives", () => rm(uploadFile(directory, upload), { force: true }));
  await remove("images", () => images.remove(id));
  await secrets.delete({ purpose: "deployment-env", id });
  for (const cluster of await listClusters(sql, id)) {
    await secrets.delete({ purpose: TARGET_SECRET, id: targetSecretId(id, cluster) });
  }
  await deleteDeploymentRow(sql, id);
  await deps.table.refresh();
  return true;
}
