import type { TraceDeps } from "../deps.ts";
import { deleteFeedbackOfProjects, deleteFeedbackOfTraces } from "../feedback/purge-sql.ts";
import { deleteInsightsOfTraces } from "../insights/purge-sql.ts";
import { findProjectIds } from "../projects/sql.ts";
import { deleteDecisionsOfProjects, deleteDecisionsOfTraces } from "../rule-candidates/purge-sql.ts";
import { markHours } from "../run-facts/sql.ts";
import { deleteOfProjects, deleteOfTraces } from "../run-rows/provisional-roots-sql.ts";
import { deleteTraceShares } from "./share-sql.ts";
import {
  deleteAttachmentRows,
  deleteFeedbackRows,
  deleteRunRows,
  type DeletionTarget,
  findBlobs,
  findHours,
  findMarkedTraces,
  markDeleted,
} from "./delete-clickhouse.ts";
import type { RunScope } from "./run-scope.ts";

export type DeleteDeps = Pick<TraceDeps, "sql" | "clickhouse" | "blobs" | "writer">;

const BATCH = 10_000;

/**
 * Deletes traces with all their data, in any project or in these. When this resolves none of it can be read. To be
 * called in a batch of legal-holds/deletions.ts, as all of this file.
 */
export async function deleteTraces(
  deps: DeleteDeps,
  scope: RunScope,
  traces: readonly string[],
  projects?: readonly string[],
): Promise<void> {
  for (let i = 0; i < traces.length; i += BATCH) {
    const batch = traces.slice(i, i + BATCH);
    await deleteTraceShares(deps.sql, scope.tenantId, batch, projects);
    await deleteInsightsOfTraces(deps.sql, scope.tenantId, batch, projects);
    await deleteTarget(deps, scope, { traces: batch, ...(projects && { projects }) });
    await deleteOfTraces(deps.sql, scope.tenantId, batch, projects);
    await deleteFeedbackOfTraces(deps.sql, scope.tenantId, batch, projects);
    await deleteDecisionsOfTraces(deps.sql, scope.tenantId, batch, projects);
  }
}

/**
 * Deletes all traces of deleted projects. Of a project that was created again under the same id, only those that were
 * marked as deleted before: the others belong to the new project.
 */
export async function deleteRunsOfProjects(
  deps: DeleteDeps,
  scope: RunScope,
  projects: readonly string[],
): Promise<void> {
  const createdAgain = await findProjectIds(deps.sql, scope.tenantId, projects);
  const gone = projects.filter((id) => !createdAgain.includes(id));
  if (gone.length > 0) {
    await deleteTarget(deps, scope, { projects: gone });
    await deleteOfProjects(deps.sql, scope.tenantId, gone);
    await deleteFeedbackOfProjects(deps.sql, scope.tenantId, gone);
    await deleteDecisionsOfProjects(deps.sql, scope.tenantId, gone);
  }
  for (const project of createdAgain) {
    for (;;) {
      const traces = await findMarkedTraces(deps.clickhouse, scope, project, BATCH);
      if (traces.length > 0) await deleteTraces(deps, scope, traces, [project]);
      if (traces.length < BATCH) break;
    }
  }
}

/** Deletes in an order that lets a repetition finish an interrupted deletion. */
async function deleteTarget(
  { sql, clickhouse, blobs, writer }: DeleteDeps,
  scope: RunScope,
  target: DeletionTarget,
): Promise<void> {
  await markDeleted(clickhouse, scope, target);
  await writer.forget(target);
  const hours = await findHours(clickhouse, scope, target);
  const marked = hours.map((hour) => ({ tenant_id: scope.tenantId, ...hour }));
  await markHours(sql, marked);
  const files = await findBlobs(clickhouse, scope, target);
  await blobs.delete(files.map((file) => file.blob));
  for (let i = 0; i < files.length; i += BATCH) {
    const runs = files.slice(i, i + BATCH).map((file) => file.run_id);
    await deleteAttachmentRows(clickhouse, scope, [...new Set(runs)]);
  }
  await deleteRunRows(clickhouse, scope, target);
  // a copy that began before the rows were deleted does not become the current one
  await markHours(sql, marked);
  await deleteFeedbackRows(clickhouse, scope, target);
}
