import type { TraceDeps } from "../deps.ts";
import { deleteFeedbackOfProjects, deleteFeedbackOfTraces } from "../feedback/purge-sql.ts";
import { deleteOfProjects, deleteOfTraces } from "../run-rows/provisional-roots-sql.ts";
import { deleteTraceShares } from "./share-sql.ts";
import {
  deleteAttachmentRows,
  deleteFeedbackRows,
  deleteRunRows,
  type DeletionTarget,
  findBlobs,
  markDeleted,
} from "./delete-clickhouse.ts";
import type { RunScope } from "./run-scope.ts";

export type DeleteDeps = Pick<TraceDeps, "sql" | "clickhouse" | "blobs" | "writer">;

const BATCH = 10_000;

/** Deletes traces with all their data. When this resolves none of it can be read. */
export async function deleteTraces(
  deps: DeleteDeps,
  scope: RunScope,
  traces: readonly string[],
  projects?: readonly string[],
): Promise<void> {
  for (let i = 0; i < traces.length; i += BATCH) {
    const batch = traces.slice(i, i + BATCH);
    await deleteTraceShares(deps.sql, scope.tenantId, batch);
    await deleteTarget(deps, scope, { traces: batch, ...(projects && { projects }) });
    await deleteOfTraces(deps.sql, scope.tenantId, batch, projects);
    await deleteFeedbackOfTraces(deps.sql, scope.tenantId, batch);
  }
}

/** Deletes all traces of projects, which themselves are already deleted. */
export async function deleteRunsOfProjects(deps: DeleteDeps, scope: RunScope, projects: string[]): Promise<void> {
  await deleteTarget(deps, scope, { projects });
  await deleteOfProjects(deps.sql, scope.tenantId, projects);
  await deleteFeedbackOfProjects(deps.sql, scope.tenantId, projects);
}

/** Deletes all runs of a tenant. `projects`: those that it had. */
export async function deleteRunsOfTenant(deps: DeleteDeps, scope: RunScope, projects: string[]): Promise<void> {
  await deleteTarget(deps, scope, {}, { projects });
  await deleteOfProjects(deps.sql, scope.tenantId);
}

/** Deletes in an order that lets a repetition finish an interrupted deletion. */
async function deleteTarget(
  { clickhouse, blobs, writer }: DeleteDeps,
  scope: RunScope,
  target: DeletionTarget,
  forgotten = target,
): Promise<void> {
  await markDeleted(clickhouse, scope, target);
  await writer.forget(forgotten);
  const files = await findBlobs(clickhouse, scope, target);
  await blobs.delete(files.map((file) => file.blob));
  for (let i = 0; i < files.length; i += BATCH) {
    const runs = files.slice(i, i + BATCH).map((file) => file.run_id);
    await deleteAttachmentRows(clickhouse, scope, [...new Set(runs)]);
  }
  await deleteRunRows(clickhouse, scope, target);
  await deleteFeedbackRows(clickhouse, scope, target);
}
