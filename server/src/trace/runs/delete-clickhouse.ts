import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { all, bind, ch, type Fragment, raw, render } from "../../base/clickhouse/fragment.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import { fromPieces, fromRuns, type RunSelection } from "./selection.ts";

/** Selection to delete: whole projects, or whole traces of any project or of some. Matches unmerged pieces too. */
export type DeletionTarget =
  | { projects: readonly string[]; traces?: undefined }
  | { projects?: readonly string[]; traces: readonly string[] };

/** Returns the traces that have a run in the selection. */
export async function findTraces(clickhouse: ClickHouse, scope: RunScope, selection: RunSelection): Promise<string[]> {
  const rows = await readRows<{ trace: string }>(
    clickhouse.forTenant(scope.tenantId),
    "runs.traces",
    ch`select distinct r.trace_id as trace ${fromRuns(scope, selection)}`,
  );
  return rows.map((row) => row.trace);
}

/**
 * Marks these runs as deleted: late pieces of them, and unknown runs of these traces, are dropped from now on
 * (ingest/resolve-runs.ts). A trace is marked by the id of its root, even if that has not arrived.
 *
 * The version of a mark is in the future: a key that another server writes meanwhile, for a run that it remembers, does
 * not replace the mark.
 */
export const markDeleted = (clickhouse: ClickHouse, scope: RunScope, target: DeletionTarget): Promise<void> =>
  clickhouse.command({
    name: "runs.mark_deleted",
    ...render(ch`insert into run_keys (tenant_id, id, project_id, start_time, trace_id, deleted, version)
      select distinct r.tenant_id, arrayJoin([r.id, r.trace_id]), r.project_id, r.start_time, r.trace_id, true, now64(6) + interval 1 day
      ${fromPieces(scope, target)}`),
  });

/** Returns those of the traces that have runs. */
export async function findExistingTraces(
  clickhouse: ClickHouse,
  scope: RunScope,
  target: DeletionTarget,
): Promise<string[]> {
  const rows = await clickhouse.rows<{ trace: string }>({
    name: "runs.existing_traces",
    ...render(ch`select distinct r.trace_id as trace ${fromPieces(scope, target)}`),
  });
  return rows.map((row) => row.trace);
}

/** Returns the projects that have runs, among them deleted ones. */
export async function findProjectsWithRuns(clickhouse: ClickHouse, scope: RunScope): Promise<string[]> {
  const rows = await clickhouse.rows<{ project: string }>({
    name: "runs.projects",
    ...render(ch`select distinct r.project_id as project ${fromPieces(scope, {})}`),
  });
  return rows.map((row) => row.project);
}

/** Returns traces of a project with pieces that arrived after the trace was marked as deleted. */
export async function findMarkedTraces(
  clickhouse: ClickHouse,
  scope: RunScope,
  projectId: string,
  limit: number,
): Promise<string[]> {
  const marked = ch`select k.id from run_keys as k final
    where k.tenant_id = ${tenant(scope)} and k.project_id = ${bind("UUID", projectId)} and k.deleted`;
  const rows = await clickhouse.rows<{ trace: string }>({
    name: "runs.marked",
    ...render(ch`select distinct r.trace_id as trace
      ${fromPieces(scope, { projects: [projectId] }, [ch`(r.id in (${marked}) or r.trace_id in (${marked}))`])}
      limit ${bind("UInt32", limit)}`),
  });
  return rows.map((row) => row.trace);
}

/** Returns the files of the runs. */
export async function findBlobs(
  clickhouse: ClickHouse,
  scope: RunScope,
  target: DeletionTarget,
): Promise<{ run_id: string; blob: string }[]> {
  return clickhouse.rows({
    name: "run_attachments.of_runs",
    ...render(ch`select a.run_id as run_id, a.blob as blob from run_attachments as a final
      where a.tenant_id = ${tenant(scope)} and a.run_id in (select r.id ${fromPieces(scope, target)})`),
  });
}

export const deleteAttachmentRows = (clickhouse: ClickHouse, scope: RunScope, runIds: readonly string[]) =>
  deleteFrom(clickhouse, "run_attachments", [
    ch`tenant_id = ${tenant(scope)}`,
    ch`run_id in ${bind("Array(UUID)", runIds)}`,
  ]);

/** Returns the hours in which runs of the selection started, by project. */
export async function findHours(
  clickhouse: ClickHouse,
  scope: RunScope,
  target: DeletionTarget,
): Promise<{ project_id: string; hour: number }[]> {
  return clickhouse.rows({
    name: "runs.hours",
    ...render(
      ch`select distinct r.project_id as project_id, toInt32(${raw(HOUR)}) as hour ${fromPieces(scope, target)}`,
    ),
  });
}

/** Hour of a run's start since 1970. */
export const HOUR = "intDiv(toUnixTimestamp64Second(r.start_time), 3600)";

/**
 * Deletes rows. They are invisible to every query when this resolves, and leave the disk with the next sweep
 * (applyDeletions).
 */
export async function deleteRunRows(
  clickhouse: ClickHouse,
  scope: RunScope,
  { projects, traces }: DeletionTarget,
): Promise<void> {
  const conditions = [ch`tenant_id = ${tenant(scope)}`];
  if (projects) conditions.push(ch`project_id in ${bind("Array(UUID)", projects)}`);
  if (traces) conditions.push(ch`trace_id in ${bind("Array(UUID)", traces)}`);
  await deleteFrom(clickhouse, "runs", conditions);
  await deleteFrom(clickhouse, "run_facts", conditions);
  if (!traces) await deleteFrom(clickhouse, "agent_minutes", conditions);
}

/**
 * Returns true if deleted rows are still on disk. In a cluster each server knows only its own parts, so it is always
 * true.
 */
export async function hasDeletedRows(clickhouse: ClickHouse): Promise<boolean> {
  const [row] = await clickhouse.rows<{ n: number }>({
    name: "runs.has_deleted",
    query: `select count() as n from system.parts
      where active and database = currentDatabase() and has_lightweight_delete`,
  });
  return clickhouse.cluster !== "" || row!.n > 0;
}

/** Returns those of the runs that are, or were, in the selection. */
export async function findRunsIn(
  clickhouse: ClickHouse,
  scope: RunScope,
  { projects, traces }: DeletionTarget,
  ids: readonly string[],
): Promise<string[]> {
  const conditions = [ch`k.tenant_id = ${tenant(scope)}`, ch`k.id in ${bind("Array(UUID)", ids)}`];
  if (projects) conditions.push(ch`k.project_id in ${bind("Array(UUID)", projects)}`);
  if (traces) conditions.push(ch`k.trace_id in ${bind("Array(UUID)", traces)}`);
  const rows = await clickhouse.rows<{ id: string }>({
    name: "run_keys.in_selection",
    ...render(ch`select distinct k.id as id from run_keys as k where ${all(conditions)}`),
  });
  return rows.map((row) => row.id);
}

/** Deletes the copy of feedback on the runs; that of Postgres follows through the mirror, as empty rows. */
export function deleteFeedbackRows(
  clickhouse: ClickHouse,
  scope: RunScope,
  { projects, traces }: DeletionTarget,
): Promise<void> {
  const conditions = [ch`tenant_id = ${tenant(scope)}`];
  if (traces) {
    const ids = bind("Array(UUID)", traces);
    conditions.push(ch`(ifNull(trace_id in ${ids}, false) or run_id in ${ids})`);
  }
  // feedback on runs that have not arrived has no project yet
  const isUnknown = raw(traces ? "true" : "false");
  if (projects) conditions.push(ch`ifNull(session_id in ${bind("Array(UUID)", projects)}, ${isUnknown})`);
  return deleteFrom(clickhouse, "feedback", conditions);
}

/** Deletes the copies of feedback that Postgres no longer has. */
export async function deleteFeedbackCopies(clickhouse: ClickHouse, scope: RunScope, ids: string[]): Promise<void> {
  for (let i = 0; i < ids.length; i += IDS) {
    const some = bind("Array(UUID)", ids.slice(i, i + IDS));
    await deleteFrom(clickhouse, "feedback", [ch`tenant_id = ${tenant(scope)}`, ch`id in ${some}`]);
  }
}

/** Ids per statement. */
const IDS = 10_000;

const DELETED_FROM = ["runs", "run_facts", "run_attachments", "run_keys", "feedback", "agent_minutes"];

/**
 * Counts parts from before a time that the engine has replaced but not yet removed from the disk. In a cluster those of
 * all replicas.
 */
export async function partsBefore(clickhouse: ClickHouse, time: Date): Promise<number> {
  const { cluster } = clickhouse;
  const parts = cluster === "" ? ch`system.parts` : ch`clusterAllReplicas(${bind("String", cluster)}, system.parts)`;
  const tables = DELETED_FROM.map((table) => (cluster === "" ? table : `${table}_local`));
  const [row] = await clickhouse.rows<{ n: number }>({
    name: "parts.before",
    ...render(ch`select count() as n from ${parts}
      where not active and database = currentDatabase() and table in ${bind("Array(String)", tables)}
        and modification_time <= ${bind("DateTime('UTC')", time.toISOString().slice(0, 19).replace("T", " "))}`),
  });
  return row!.n;
}

/**
 * Removes replaced parts that are older than the engine keeps them (`old_parts_lifetime`). An idle table looks for them
 * only every ten minutes or more; dropping a partition, here one that does not exist, does so at once. The cleanup of
 * replicated tables does not depend on other work.
 */
export async function removeReplacedParts(clickhouse: ClickHouse): Promise<void> {
  if (clickhouse.cluster !== "") return;
  for (const table of DELETED_FROM) {
    await clickhouse.command({ name: `${table}.clean_up`, query: `alter table ${table} drop partition id 'none'` });
  }
}

/** Rewrites parts with deleted rows, which removes the rows from the disk. */
export async function applyDeletions(clickhouse: ClickHouse): Promise<void> {
  for (const table of DELETED_FROM) {
    await clickhouse.command({
      name: `${table}.apply_deleted`,
      query: `alter table ${clickhouse.mutable(table)} apply deleted mask`,
    });
  }
}

/** Late pieces are rejected for two days, as marks have the version of a day later; clients do not retry longer. */
const OLD_MARKS = `deleted and version < now64(6) - interval 1 day`;

/** Deletes expired marks. A deletion touches every part of the table, so it is skipped when there are none. */
export async function deleteOldMarks(clickhouse: ClickHouse): Promise<void> {
  const query = `select 1 from run_keys where ${OLD_MARKS} limit 1`;
  if ((await clickhouse.rows({ name: "run_keys.has_old_marks", query })).length === 0) return;
  await deleteFrom(clickhouse, "run_keys", [raw(OLD_MARKS)]);
}

const tenant = (scope: RunScope) => bind("UUID", scope.tenantId);

const deleteFrom = (clickhouse: ClickHouse, table: string, conditions: Fragment[]): Promise<void> =>
  clickhouse.command({
    name: `${table}.delete`,
    ...render(ch`delete from ${raw(clickhouse.mutable(table))} where ${all(conditions)}`),
  });
