/**
 * Erasures: deletions of traces, projects and whole workspaces, followed until nothing is left on disk. First all of it
 * becomes unreadable (`erase`); then, a minute later because pieces may be on their way, the tables are rewritten
 * without it (`rewriteErased`); at last the engine removes the files from before (`findGone`), which it keeps for eight
 * minutes because it does not sync merges.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { eraseExamplesForGood } from "../examples/write-examples.ts";
import { HeldError, rejectHeldProjects, rejectHeldWorkspace } from "../legal-holds/check-holds.ts";
import {
  applyDeletions,
  deleteFeedbackCopies,
  type DeletionTarget,
  findExistingTraces,
  findProjectsWithRuns,
  findRunsIn,
  markDeleted,
  partsBefore,
  removeReplacedParts,
} from "../runs/delete-clickhouse.ts";
import { deleteRunsOfProjects, deleteTraces } from "../runs/delete-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import { rejectHeldTraces } from "./reject-held-traces.ts";
import * as rows from "./sql.ts";

export type EraseDeps = Pick<TraceDeps, "sql" | "clickhouse" | "blobs" | "writer" | "projects" | "log" | "deletions">;

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
    ...toJob(tenantId, uuid7(), request),
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
  begun: false,
  projects_deleted: 0,
});

/** @throws HeldError while something that would be erased is under legal hold */
export async function rejectHeld(
  sql: Sql | Transaction,
  { clickhouse }: Pick<EraseDeps, "clickhouse">,
  job: rows.ErasureJob,
): Promise<void> {
  if (job.scope === "workspace") await rejectHeldWorkspace(sql, job.tenant_id, true);
  if (job.project_ids) await rejectHeldProjects(sql, job.tenant_id, job.project_ids);
  if (job.trace_ids) await rejectHeldTraces({ sql, clickhouse }, job.tenant_id, job.trace_ids);
}

/**
 * Deletes what an erasure names, as it is when the erasure begins: traces that exist then, and projects with everything
 * in them. When this resolves none of it can be read. An interrupted call can be repeated, and takes nothing more.
 *
 * @throws HeldError when a legal hold stops it; of several batches the earlier ones stay deleted
 */
export async function erase(deps: EraseDeps, job: rows.ErasureJob): Promise<void> {
  if (job.scope === "traces") await eraseTraces(deps, job);
  else await eraseProjects(deps, job.scope === "project" || job.begun ? job : await beginWorkspace(deps, job));
  await rows.markErased(deps.sql, job.id);
}

const targetOf = ({ project_ids, trace_ids }: rows.ErasureJob): DeletionTarget =>
  trace_ids ? { traces: trace_ids, ...(project_ids && { projects: project_ids }) } : { projects: project_ids ?? [] };

async function eraseTraces(deps: EraseDeps, job: rows.ErasureJob): Promise<void> {
  const { sql, clickhouse, deletions } = deps;
  const scope = RunScope.ofTenant(job.tenant_id);
  if (job.dataset_copies && !job.begun) await eraseCopies(deps, job.tenant_id, targetOf(job));
  await deletions.batch(
    job.tenant_id,
    (tx) => rejectHeld(tx, deps, job),
    async () => {
      let traces = job.trace_ids!;
      if (!job.begun) {
        traces = await findExistingTraces(clickhouse, scope, targetOf(job));
        await rows.beginTraces(sql, job, traces);
      }
      await deleteTraces(deps, scope, traces, job.project_ids ?? undefined);
    },
  );
}

/** Projects per batch. A hold waits for the batch in progress. */
const PROJECTS = 50;

async function eraseProjects(deps: EraseDeps, job: rows.ErasureJob): Promise<void> {
  const { sql, clickhouse, projects, deletions } = deps;
  const tenantId = job.tenant_id;
  const scope = RunScope.ofTenant(tenantId);
  const ids = job.project_ids ?? [];
  if (job.dataset_copies && job.scope === "project" && job.projects_deleted === 0) {
    await eraseCopies(deps, tenantId, { projects: ids });
  }
  for (let at = 0; at < ids.length; at += PROJECTS) {
    const group = ids.slice(at, at + PROJECTS);
    const end = at + group.length;
    // after it another one was begun
    if (job.projects_deleted > end) continue;
    await deletions.batch(
      tenantId,
      (tx) => rejectHeldProjects(tx, tenantId, group),
      async () => {
        if (job.projects_deleted < end) {
          // before the rows: after a crash, runs are distinguished by their marks from those of a new project of this id
          await markDeleted(clickhouse, scope, { projects: group });
          await rows.deleteProjects(sql, job, group, end);
          projects.forget();
          await deletions.faultPoint("projects-deleted");
        }
        await deleteRunsOfProjects(deps, scope, group);
      },
    );
  }
}

/** Records what a workspace has, and deletes what belongs to no project. */
async function beginWorkspace(deps: EraseDeps, job: rows.ErasureJob): Promise<rows.ErasureJob> {
  const { sql, clickhouse, blobs, deletions } = deps;
  const tenantId = job.tenant_id;
  const scope = RunScope.ofTenant(tenantId);
  return deletions.batch(
    tenantId,
    (tx) => rejectHeldWorkspace(tx, tenantId, true),
    async () => {
      const stored = await findProjectsWithRuns(clickhouse, scope);
      const { projects, feedback, files } = await rows.beginWorkspace(sql, job, stored);
      await deleteFeedbackCopies(clickhouse, scope, feedback);
      await blobs.delete(files);
      return { ...job, begun: true, project_ids: projects };
    },
  );
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
    const erased = await eraseExamplesForGood(deps, tenantId, examples);
    await blobs.delete(erased.blobs);
  }
}

/**
 * Rewrites the tables without what was erased, `all` or only what is to leave the disk at once. Deletes once more
 * before, for pieces that were on their way: of the traces and projects that the erasure found, and nothing else.
 */
export async function rewriteErased(
  deps: EraseDeps,
  { graceSeconds, all }: { graceSeconds: number; all: boolean },
): Promise<void> {
  const { sql, clickhouse } = deps;
  const jobs = await rows.listDeleted(sql, graceSeconds, all);
  const completed: string[] = [];
  for (const job of jobs) if (await deleteLatePieces(deps, job)) completed.push(job.id);
  if (completed.length === 0) return;
  await applyDeletions(clickhouse);
  await rows.vacuumTables(sql, true);
  const [row] = await clickhouse.rows<{ at: string }>({ name: "erasures.now", query: "select toString(now()) as at" });
  await rows.markRewritten(sql, completed, new Date(`${row!.at.replace(" ", "T")}Z`));
}

/** @returns false while a legal hold that was placed since keeps them */
async function deleteLatePieces(deps: EraseDeps, job: rows.ErasureJob): Promise<boolean> {
  const scope = RunScope.ofTenant(job.tenant_id);
  const traces = job.trace_ids;
  // holds of projects that the workspace has had since do not matter
  const found = { ...job, scope: traces ? job.scope : "project" } as const;
  try {
    await deps.deletions.batch(
      job.tenant_id,
      (tx) => rejectHeld(tx, deps, found),
      () =>
        traces
          ? deleteTraces(deps, scope, traces, job.project_ids ?? undefined)
          : deleteRunsOfProjects(deps, scope, job.project_ids ?? []),
    );
    return true;
  } catch (error) {
    if (error instanceof HeldError) return false;
    throw error;
  }
}

/** Marks erasures as done whose files from before the rewrite have left the disk. */
export async function findGone({ sql, clickhouse }: { sql: Sql; clickhouse: ClickHouse }): Promise<void> {
  const rewrites = await rows.listRewrites(sql);
  if (rewrites.length > 0) await removeReplacedParts(clickhouse);
  for (const at of rewrites) {
    if ((await partsBefore(clickhouse, at)) === 0) await rows.markDone(sql, at);
  }
}
