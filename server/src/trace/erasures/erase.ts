/**
 * Erasures: deletions of traces, projects and whole workspaces, followed until nothing is left on disk. First all of it
 * becomes unreadable (`erase`); then, a minute later because pieces may be on their way, the tables are rewritten
 * without it (`rewriteErased`); at last the engine removes the files from before (`findGone`), which it keeps for eight
 * minutes because it does not sync merges.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { deleteDatasets } from "../datasets/delete-datasets.ts";
import { eraseExamplesForGood } from "../examples/write-examples.ts";
import { refuseHeldProjects, refuseHeldWorkspace } from "../legal-holds/check-holds.ts";
import { deleteProjectRows } from "../project-records/sql.ts";
import {
  applyDeletions,
  type DeletionTarget,
  findRunsIn,
  partsBefore,
  removeReplacedParts,
} from "../runs/delete-clickhouse.ts";
import { deleteRunsOfProjects, deleteRunsOfTenant, deleteTraces } from "../runs/delete-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import { refuseHeldTraces } from "./refuse-held-traces.ts";
import * as rows from "./sql.ts";

export type EraseDeps = Pick<TraceDeps, "sql" | "clickhouse" | "blobs" | "writer" | "projects" | "log">;

export interface ErasureRequest {
  scope: rows.Erasure["scope"];
  projects?: string[] | undefined;
  traces?: string[] | undefined;
  datasetCopies: boolean;
  requestedBy: string;
}

/** Records an erasure. `atOnce`: the disk is given back without waiting for the next sweep. */
export function recordErasure(
  sql: Sql,
  tenantId: string,
  request: ErasureRequest,
  atOnce: boolean,
): Promise<rows.Erasure> {
  return rows.insertErasure(sql, {
    id: uuid7(),
    tenant_id: tenantId,
    scope: request.scope,
    project_ids: request.projects ?? null,
    trace_ids: request.traces ?? null,
    dataset_copies: request.datasetCopies,
    at_once: atOnce,
    requested_by: request.requestedBy,
  });
}

export const toJob = (tenantId: string, id: string, request: ErasureRequest): rows.ErasureJob => ({
  id,
  tenant_id: tenantId,
  scope: request.scope,
  project_ids: request.projects ?? null,
  trace_ids: request.traces ?? null,
  dataset_copies: request.datasetCopies,
});

/** @throws 409 while something that would be erased is under legal hold */
export async function refuseHeld(deps: Pick<EraseDeps, "sql" | "clickhouse">, job: rows.ErasureJob): Promise<void> {
  const { sql } = deps;
  if (job.scope === "workspace") await refuseHeldWorkspace(sql, job.tenant_id, true);
  if (job.project_ids) await refuseHeldProjects(sql, job.tenant_id, job.project_ids);
  if (job.trace_ids) await refuseHeldTraces(deps, job.tenant_id, job.trace_ids);
}

/** Deletes what an erasure names. When this resolves none of it can be read. An interrupted call can be repeated. */
export async function erase(deps: EraseDeps, job: rows.ErasureJob): Promise<void> {
  const { sql } = deps;
  await refuseHeld(deps, job);
  if (job.scope === "workspace") await eraseWorkspace(deps, job);
  else {
    const target = targetOf(job);
    if (job.dataset_copies) await eraseCopies(deps, job.tenant_id, target);
    if (job.project_ids && job.scope === "project") {
      await deleteProjectRows(sql, job.tenant_id, job.project_ids);
      deps.projects.forget();
    }
    await deleteRuns(deps, job);
    if (job.trace_ids) await rows.deleteWaitingOfTraces(sql, job.tenant_id, job.trace_ids);
  }
  await rows.markErased(sql, job.id);
}

const targetOf = ({ project_ids, trace_ids }: rows.ErasureJob): DeletionTarget => ({
  ...(project_ids && { projects: project_ids }),
  ...(trace_ids && { traces: trace_ids }),
});

async function deleteRuns(deps: EraseDeps, job: rows.ErasureJob): Promise<void> {
  const scope = RunScope.ofTenant(job.tenant_id);
  if (job.scope === "workspace") await deleteRunsOfTenant(deps, scope, job.project_ids ?? []);
  else if (job.trace_ids) await deleteTraces(deps, scope, job.trace_ids, job.project_ids ?? undefined);
  else await deleteRunsOfProjects(deps, scope, job.project_ids ?? []);
}

async function eraseWorkspace(deps: EraseDeps, job: rows.ErasureJob): Promise<void> {
  const { sql, projects } = deps;
  const tenantId = job.tenant_id;
  if (job.dataset_copies) {
    const datasets = await rows.listDatasetIds(sql, tenantId);
    if (datasets.length > 0) await deleteDatasets(deps, tenantId, datasets);
  }
  const ids = await rows.listProjectIds(sql, tenantId);
  if (ids.length > 0) await deleteProjectRows(sql, tenantId, ids);
  projects.forget();
  await deleteRuns(deps, { ...job, project_ids: ids });
  await rows.deleteWorkspaceRows(sql, tenantId);
}

const BATCH = 5000;
const NIL = "00000000-0000-0000-0000-000000000000";

/** Deletes the examples that were made of runs of the target, in all versions and with their files. */
async function eraseCopies(deps: EraseDeps, tenantId: string, target: DeletionTarget): Promise<void> {
  const { sql, clickhouse, blobs } = deps;
  let after = NIL;
  for (;;) {
    const sources = await rows.listSources(sql, tenantId, after, BATCH);
    if (sources.length === 0) return;
    after = sources.at(-1)!;
    const gone = await findRunsIn(clickhouse, RunScope.ofTenant(tenantId), target, sources);
    if (gone.length === 0) continue;
    const examples = await rows.examplesOfSources(sql, tenantId, gone);
    const erased = await eraseExamplesForGood(sql, tenantId, examples);
    await blobs.delete(erased.blobs);
  }
}

/**
 * Rewrites the tables without what was erased, `all` or only what is to leave the disk at once. Deletes once more
 * before, for pieces that another replica stored in the meantime.
 */
export async function rewriteErased(
  deps: EraseDeps,
  { graceSeconds, all }: { graceSeconds: number; all: boolean },
): Promise<void> {
  const { sql, clickhouse } = deps;
  const jobs = await rows.listDeleted(sql, graceSeconds, all);
  if (jobs.length === 0) return;
  for (const job of jobs) await deleteRuns(deps, job);
  await applyDeletions(clickhouse);
  await rows.vacuumTables(sql, true);
  const [row] = await clickhouse.rows<{ at: string }>({ name: "erasures.now", query: "select toString(now()) as at" });
  await rows.markRewritten(
    sql,
    jobs.map((job) => job.id),
    new Date(`${row!.at.replace(" ", "T")}Z`),
  );
}

/** Marks erasures as done whose files from before the rewrite have left the disk. */
export async function findGone({ sql, clickhouse }: { sql: Sql; clickhouse: ClickHouse }): Promise<void> {
  const rewrites = await rows.listRewrites(sql);
  if (rewrites.length > 0) await removeReplacedParts(clickhouse);
  for (const at of rewrites) {
    if ((await partsBefore(clickhouse, at)) === 0) await rows.markDone(sql, at);
  }
}
