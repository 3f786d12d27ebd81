import { utcText } from "../../base/db/utc-text.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { ownConnection, type Sql } from "../../base/db/connect.ts";
import { lockedInTime } from "../../base/db/lock-timeout.ts";
import { deleteAlertRulesOfWorkspace } from "../alerts/sql.ts";
import { deleteQueuesOfWorkspace } from "../annotation-queues/sql.ts";
import { deleteDashboardsOfWorkspace } from "../dashboards/sql.ts";
import { deleteDatasets, selectBlobs } from "../datasets/sql.ts";
import { deleteFeedbackOfTraces } from "../feedback/purge-sql.ts";
import { deleteTraceShares } from "../runs/share-sql.ts";
import { deleteRegistry } from "../prompts/sql.ts";
import { deleteProjectRows } from "../projects/sql.ts";
import { deleteMaskingOfWorkspace } from "../masking/sql.ts";
import { deleteCorrectionsOfWorkspace } from "../evaluators/correction-sql.ts";
import { deleteRulesOfWorkspace } from "../rules/sql.ts";
import { deleteResourceTagsOfWorkspace } from "../resource-tags/sql.ts";
import { deleteViewsOfWorkspace } from "../views/sql.ts";

export interface Erasure {
  id: string;
  scope: "traces" | "project" | "workspace";
  session_ids: string[] | null;
  traces: number | null;
  dataset_copies: boolean;
  status: "pending" | "deleted" | "done";
  requested_by: string;
  requested_at: string;
  deleted_at: string | null;
  done_at: string | null;
  error: string | null;
}

/** An erasure with what the worker needs. */
export interface ErasureJob {
  id: string;
  tenant_id: string;
  scope: Erasure["scope"];
  project_ids: string[] | null;
  trace_ids: string[] | null;
  dataset_copies: boolean;
  /** Whether what it found was recorded. */
  begun: boolean;
  /** How many of its projects have been deleted; the runs of the last ones perhaps not. */
  projects_deleted: number;
}

const WIRE = `erasure_id as id, scope, case when scope <> 'workspace' then project_ids end as session_ids, traces, dataset_copies, status, requested_by,
  ${utcText("requested_at")} as requested_at, ${utcText("deleted_at")} as deleted_at, ${utcText("done_at")} as done_at, error`;
const JOB = `erasure_id as id, tenant_id, scope, project_ids, trace_ids, dataset_copies,
  begun_at is not null as begun, projects_deleted`;

export async function insertErasure(
  sql: Sql,
  row: ErasureJob & { at_once: boolean; requested_by: string },
): Promise<Erasure> {
  const [created] = await sql<Erasure[]>`
    insert into erasures (erasure_id, tenant_id, scope, project_ids, trace_ids, traces, dataset_copies, at_once,
      requested_by)
    values (${row.id}, ${row.tenant_id}, ${row.scope}, ${row.project_ids}::uuid[], ${row.trace_ids}::uuid[],
      ${row.trace_ids?.length ?? null}, ${row.dataset_copies}, ${row.at_once}, ${row.requested_by})
    returning ${sql.unsafe(WIRE)}`;
  return created!;
}

export async function findErasure(sql: Sql, tenantId: string, id: string): Promise<Erasure | undefined> {
  const [row] = await sql<Erasure[]>`
    select ${sql.unsafe(WIRE)} from erasures where tenant_id = ${tenantId} and erasure_id = ${id}`;
  return row;
}

export const listErasures = (sql: Sql, tenantId: string, limit: number): Promise<Erasure[]> => sql<Erasure[]>`
  select ${sql.unsafe(WIRE)} from erasures where tenant_id = ${tenantId}
  order by requested_at desc, erasure_id desc limit ${limit}`;

/** Lists erasures whose data may still be readable. Those of requests that are being answered are given a minute. */
export const listPending = (sql: Sql): Promise<ErasureJob[]> => sql<ErasureJob[]>`
  select ${sql.unsafe(JOB)} from erasures
  where status = 'pending' and (at_once or requested_at < now() - interval '1 minute')
  order by requested_at limit 100`;

/** Lists deleted erasures that can be rewritten: pieces of them that were on their way have arrived. */
export const listDeleted = (sql: Sql, graceSeconds: number, all: boolean): Promise<ErasureJob[]> => sql<ErasureJob[]>`
  select ${sql.unsafe(JOB)} from erasures
  where status = 'deleted' and rewritten_at is null and (at_once or ${all})
    and deleted_at < now() - make_interval(secs => ${graceSeconds})
  order by deleted_at limit 1000`;

export const markErased = (sql: Sql, id: string): Promise<unknown> => sql`
  update erasures set status = 'deleted', deleted_at = now(), error = null where erasure_id = ${id} and status = 'pending'`;

export const noteError = (sql: Sql, id: string, error: string): Promise<unknown> => sql`
  update erasures set error = ${error.slice(0, 2000)} where erasure_id = ${id}`;

/** The ids of what was erased are no longer needed; those of traces are removed. */
export const markRewritten = (sql: Sql, ids: string[], at: Date): Promise<unknown> => sql`
  update erasures set rewritten_at = ${at}, trace_ids = null where erasure_id = any(${ids}::uuid[])`;

export const listRewrites = async (sql: Sql): Promise<Date[]> =>
  (
    await sql<{ at: Date }[]>`
      select distinct rewritten_at as at from erasures where status = 'deleted' and rewritten_at is not null
      order by at limit 100`
  ).map(({ at }) => at);

export const hasOpen = async (sql: Sql): Promise<boolean> =>
  (await sql`select 1 from erasures where status <> 'done' limit 1`).length > 0;

export const markDone = (sql: Sql, rewrittenUntil: Date): Promise<unknown> => sql`
  update erasures set status = 'done', done_at = now() where status = 'deleted' and rewritten_at <= ${rewrittenUntil}`;

/** Deletes records of finished erasures. */
export const forgetErasures = (sql: Sql, days: number): Promise<unknown> =>
  sql`delete from erasures where status = 'done' and done_at < now() - make_interval(days => ${days})`;

/** Withdraws an erasure that deleted nothing. @returns false when it had deleted something */
export const withdrawErasure = async (sql: Sql, id: string): Promise<boolean> =>
  (await sql`delete from erasures where erasure_id = ${id} and begun_at is null and projects_deleted = 0 returning 1`)
    .length > 0;

/**
 * Records which of its traces exist, and deletes what else is known of the others, and the pieces that wait for a run of
 * one. Further pieces of an unknown trace are those of a new one.
 */
export async function beginTraces(sql: Sql, { id, tenant_id, trace_ids, project_ids }: ErasureJob, existing: string[]) {
  const others = trace_ids!.filter((trace) => !existing.includes(trace));
  await sql.begin(async (tx) => {
    await tx`delete from waiting_pieces where tenant_id = ${tenant_id}
      and (run_id = any(${trace_ids}::uuid[]) or needs = any(${trace_ids}::uuid[]))`;
    await deleteTraceShares(tx, tenant_id, others, project_ids ?? undefined);
    await deleteFeedbackOfTraces(tx, tenant_id, others, project_ids ?? undefined);
    await tx`update erasures set begun_at = now(), trace_ids = ${existing}::uuid[] where erasure_id = ${id}`;
  });
}

/**
 * Records the projects that a workspace has, `stored` among them, and deletes its rows that belong to none; with
 * `dataset_copies` also its datasets and prompts, whose examples may be copies too. @returns the projects, and the feedback and files whose copies are to be deleted
 */
export async function beginWorkspace(
  sql: Sql,
  { id, tenant_id: tenantId, dataset_copies }: ErasureJob,
  stored: string[],
): Promise<{ projects: string[]; feedback: string[]; files: string[] }> {
  return (await sql.begin(async (tx) => {
    let files: string[] = [];
    if (dataset_copies) {
      const datasets = (
        await tx<{ id: string }[]>`
        select dataset_id as id from datasets where tenant_id = ${tenantId}`
      ).map((row) => row.id);
      files = await selectBlobs(tx, tenantId, datasets);
      await deleteDatasets(tx, tenantId, datasets);
      await deleteRegistry(tx, tenantId);
    }
    const feedback = await tx<{ id: string }[]>`
      delete from feedback where tenant_id = ${tenantId} and session_id is null returning feedback_id as id`;
    await tx`delete from feedback_tokens where tenant_id = ${tenantId}`;
    await deleteQueuesOfWorkspace(tx, tenantId);
    await deleteRulesOfWorkspace(tx, tenantId);
    await deleteMaskingOfWorkspace(tx, tenantId);
    await deleteDashboardsOfWorkspace(tx, tenantId);
    await deleteAlertRulesOfWorkspace(tx, tenantId);
    await deleteViewsOfWorkspace(tx, tenantId);
    await deleteResourceTagsOfWorkspace(tx, tenantId);
    await tx`delete from trace_shares where tenant_id = ${tenantId}`;
    await deleteCorrectionsOfWorkspace(tx, tenantId);
    await tx`delete from waiting_pieces where tenant_id = ${tenantId}`;
    const [begun] = await tx<{ project_ids: string[] }[]>`
      update erasures set begun_at = now(), project_ids = array(
        select project_id from projects where tenant_id = ${tenantId}
        union select distinct session_id from feedback where tenant_id = ${tenantId}
        union select unnest(${stored}::uuid[]) order by 1)
      where erasure_id = ${id} returning project_ids`;
    return { projects: begun!.project_ids, feedback: feedback.map((row) => row.id), files };
  })) as { projects: string[]; feedback: string[]; files: string[] };
}

/** Deletes the rows of some of the erasure's projects: those before number `end` that are left. */
export const deleteProjects = (sql: Sql, job: ErasureJob, projects: string[], end: number): Promise<unknown> =>
  sql.begin(async (tx) => {
    await deleteProjectRows(tx, job.tenant_id, projects);
    await tx`update erasures set projects_deleted = ${end} where erasure_id = ${job.id}`;
  });

/** Lists runs of which examples were made, in the order of their ids. */
export const listSources = async (sql: Sql, tenantId: string, after: string, limit: number): Promise<string[]> =>
  (
    await sql<{ id: string }[]>`
      select distinct source_run_id as id from dataset_examples
      where tenant_id = ${tenantId} and source_run_id > ${after}::uuid order by id limit ${limit}`
  ).map(({ id }) => id);

export const examplesOfSources = async (sql: Sql, tenantId: string, runs: string[]): Promise<string[]> =>
  (
    await sql<{ id: string }[]>`
      select distinct example_id as id from dataset_examples
      where tenant_id = ${tenantId} and source_run_id = any(${runs}::uuid[])`
  ).map(({ id }) => id);

/** Tables with contents of traces or copies of them. */
const TABLES = [
  "feedback",
  "waiting_pieces",
  "provisional_roots",
  "dataset_examples",
  "insight_runs",
  "prompts",
  "prompt_commits",
  "prompt_tags",
  "prompt_tag_moves",
];
/** A larger table is not rewritten, because that locks it: about a second for 100 MB. */
const MAX_REWRITE_BYTES = 128 * 1024 * 1024;

/** Number of attempts to lock a table that is to be rewritten. */
const REWRITE_TRIES = 3;
/** Time to wait for transactions that still see deleted rows. */
const SNAPSHOTS_MS = 10_000;

/**
 * Gives back the space of deleted rows. Vacuum makes it reusable, but leaves the bytes in pages until others overwrite
 * them, so tables that are small enough are rewritten.
 */
export async function vacuumTables(sql: Sql, rewrite: boolean): Promise<void> {
  const connection = ownConnection(sql);
  try {
    await connection`set lock_timeout = '2s'`;
    if (rewrite) await untilUnseen(connection);
    for (const table of TABLES) {
      const [size] = await connection<{ bytes: string }[]>`select pg_total_relation_size(${table}::regclass) as bytes`;
      const tries = rewrite && Number(size!.bytes) <= MAX_REWRITE_BYTES ? REWRITE_TRIES : 0;
      let isRewritten = false;
      for (let n = 0; n < tries && !isRewritten; n++)
        isRewritten = await lockedInTime(connection.unsafe(`vacuum (full) ${table}`));
      if (!isRewritten) await connection.unsafe(`vacuum (skip_locked) ${table}`);
    }
  } finally {
    await connection.end({ timeout: 1 });
  }
}

/** Waits for transactions that began before now: a rewrite would copy the deleted rows that they may still read. */
async function untilUnseen(connection: Sql): Promise<void> {
  const [row] = await connection<{ now: string }[]>`select pg_current_xact_id()::xid::text as now`;
  for (const deadline = performance.now() + SNAPSHOTS_MS; performance.now() < deadline; await sleep(50)) {
    const [seen] = await connection<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and age(backend_xmin) >= age(${row!.now}::text::xid)`;
    if (seen!.count === 0) return;
  }
}
