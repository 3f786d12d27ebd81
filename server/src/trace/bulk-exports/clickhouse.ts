/**
 * ClickHouse statements of an export: the snapshot of the query's ids, its slices, and the rows of a slice. Slices
 * partition the snapshot by (start time, id), so each id is in exactly one, whatever arrives during the export.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { any, bind, ch, type Fragment, join, raw, render } from "../../base/clickhouse/fragment.ts";
import { IS_CALL } from "../run-rows/clickhouse.ts";
import type { MicroTime } from "../run-rows/times.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromPieces, fromRuns, hasConditions, type RunSelection, time } from "../runs/selection.ts";
import { earliestRun } from "../runs/trace-sums.ts";
import { type ColumnContext, findColumn, type ExportField, needs, summed } from "./columns.ts";

const snapshotIs = (id: string): Fragment => ch`k.snapshot_id = ${bind("UUID", id)}`;

/** Stores all ids that match the query. A single statement, so the ids are from a single moment. */
export const insertSnapshot = (
  clickhouse: ClickHouse,
  snapshotId: string,
  scope: RunScope,
  selection: RunSelection,
): Promise<void> =>
  clickhouse.command({
    name: "exports.snapshot",
    ...render(ch`insert into export_keys (snapshot_id, start_time, id)
      select ${bind("UUID", snapshotId)}, r.start_time, r.id ${fromRuns(scope, selection)}`),
    // A filter may read the long texts; in the engine's default blocks of 65,536 rows that would take gigabytes.
    // Reading keys alone takes half the time in larger blocks.
    settings: { max_block_size: hasConditions(selection) ? "1024" : "8192" },
  });

/** Counts ids by day, `YYYY-MM-DD`. */
export async function countByDay(clickhouse: ClickHouse, snapshotId: string): Promise<Record<string, number>> {
  const rows = await clickhouse.rows<{ day: string; n: number }>({
    name: "exports.days",
    ...render(ch`select toString(toDate32(k.start_time)) as day, count() as n from export_keys as k
      where ${snapshotIs(snapshotId)} group by day order by day limit 200000`),
  });
  return Object.fromEntries(rows.map(({ day, n }) => [day, n]));
}

/** Position in the snapshot: a slice starts after it. */
export interface Cursor {
  start_time: MicroTime;
  id: string;
}

export interface Slice {
  snapshotId: string;
  rows: number;
  first: MicroTime;
  /** Last id of the slice. */
  end: Cursor;
  after: Cursor | null;
  /** Start times of evenly spaced ids of the slice, in order. */
  samples: MicroTime[];
}

/** Sampling of a slice's row size: number of samples, and ids per sample. Parts are read in granules of 2,048 rows. */
const PLACES = 4;
const WEIGHED = 100;

/** Returns the next ids of `[since, before)`, at most `limit`; undefined at the end. */
export async function nextSlice(
  clickhouse: ClickHouse,
  snapshotId: string,
  window: { since: MicroTime; before: MicroTime },
  after: Cursor | null,
  limit: number,
): Promise<Slice | undefined> {
  // comparing tuples does not use the index, so the bounds are given as well
  const from = after === null ? ch`k.start_time >= ${time(window.since)}` : laterThan(after);
  const levels = raw(Array.from({ length: PLACES }, (_, n) => n / PLACES).join(", "));
  const [row] = await clickhouse.rows<{ n: number; last: MicroTime; id: string; samples: MicroTime[] }>({
    name: "exports.slice",
    ...render(ch`select count() as n, max((at, key)).1 as last, max((at, key)).2 as id,
        quantilesExactLow(${levels})(at) as samples
      from (select k.start_time as at, k.id as key from export_keys as k
        where ${snapshotIs(snapshotId)} and ${from} and k.start_time < ${time(window.before)}
        order by k.start_time, k.id limit ${bind("UInt32", limit)})`),
  });
  if (!row || row.n === 0) return undefined;
  const { n, last, id, samples } = row;
  return { snapshotId, rows: n, first: samples[0]!, end: { start_time: last, id }, after, samples };
}

const laterThan = ({ start_time, id }: Cursor): Fragment =>
  ch`k.start_time >= ${time(start_time)} and (k.start_time > ${time(start_time)} or k.id > ${bind("UUID", id)})`;

const sliceIds = ({ snapshotId, first, end, after }: Slice): Fragment =>
  ch`select k.id from export_keys as k where ${snapshotIs(snapshotId)}
    and ${after === null ? ch`k.start_time >= ${time(first)}` : laterThan(after)}
    and k.start_time <= ${time(end.start_time)}
    and (k.start_time < ${time(end.start_time)} or k.id <= ${bind("UUID", end.id)})`;

/** Selects the slice's current rows, merged. Rows deleted since the snapshot are missing. */
export function selectSlice(
  scope: RunScope,
  projectId: string,
  slice: Slice,
  fields: readonly ExportField[],
  context: ColumnContext & { withFeedback: boolean },
): { query: string; params: Record<string, never> } {
  const source = fromRuns(scope, sliceBounds(projectId, slice), [ch`r.id in (${sliceIds(slice)})`]);
  const withTotals = needs(fields, "totals");
  // inner names differ from all columns, because an alias would hide a column
  const inner = fields.map((name, i) => {
    const sql =
      name === "feedback_stats" && !context.withFeedback
        ? raw("cast(null as Nullable(String))")
        : findColumn(name).sql(context);
    return ch`${sql} as c${raw(String(i))}`;
  });
  const outer = fields.map((name, i) => raw(`c${i} as ${name}`));
  const totals = withTotals ? joinTotals(scope, projectId, slice, fields) : raw("");
  const feedback = context.withFeedback ? joinFeedback(slice) : raw("");
  const from = withTotals || context.withFeedback ? ch`from (select r.* ${source}) as r ${totals} ${feedback}` : source;
  return render(ch`select ${join(outer, ", ")} from (select ${join(inner, ", ")} ${from})`) as never;
}

const sliceBounds = (projectId: string, slice: Slice): RunSelection => ({
  projects: [projectId],
  since: slice.first,
  until: slice.end.start_time,
});

/**
 * Returns the totals of a head, which are those of its trace (the rule of TRACE_SUMS), over runs that
 * began within a day: the sum of its model calls, else its own value, else the sum of all runs. Its own value is in its
 * row (columns.ts).
 */
const TRACE_SPAN_MS = 86_400_000;

const joinTotals = (scope: RunScope, projectId: string, slice: Slice, fields: readonly ExportField[]): Fragment =>
  ch`left any join (
    select r.trace_id as trace, ${join(summed(fields).map(sumColumns), ", ")}
    ${fromRuns(
      scope,
      {
        projects: [projectId],
        since: earliestRun(slice.first),
        until: laterBy(slice.end.start_time, TRACE_SPAN_MS),
      },
      [ch`r.trace_id in (${sliceIds(slice)} union all ${provisionalTraces(scope, projectId, slice)})`],
    )} group by r.trace_id) as t on r.trace_id = t.trace`;

/** Traces whose head stands in for a root, whose id is not the trace's. */
const provisionalTraces = (scope: RunScope, projectId: string, slice: Slice): Fragment =>
  ch`select r.trace_id ${fromPieces(scope, sliceBounds(projectId, slice), [raw("r.provisional_root")])}`;

const sumColumns = (name: string): Fragment =>
  raw(`sumIf(r.${name}, ${IS_CALL}) as models_${name}, sum(r.${name}) as all_${name}`);

function laterBy(at: MicroTime, ms: number): MicroTime {
  const moved = new Date(Date.parse(`${at.slice(0, 23).replace(" ", "T")}Z`) + ms).toISOString();
  return moved.slice(0, 23).replace("T", " ") + at.slice(23);
}

const joinFeedback = ({ snapshotId }: Slice): Fragment =>
  ch`left any join (select run_id, stats from export_feedback where snapshot_id = ${bind("UUID", snapshotId)}) as f
    on r.id = f.run_id`;

/** Counts the slice's ids that still exist. */
export async function countSlice(
  clickhouse: ClickHouse,
  scope: RunScope,
  projectId: string,
  slice: Slice,
): Promise<number> {
  const [row] = await clickhouse.rows<{ n: number }>({
    name: "exports.count_slice",
    ...render(
      ch`select count() as n ${fromRuns(scope, sliceBounds(projectId, slice), [ch`r.id in (${sliceIds(slice)})`])}`,
    ),
  });
  return row!.n;
}

/** Returns the mean uncompressed size of the slice's rows in bytes, sampled from a few hundred. */
export async function rowWeight(
  clickhouse: ClickHouse,
  scope: RunScope,
  projectId: string,
  slice: Slice,
): Promise<number> {
  // by time and id, so that the sorting key finds them: searching by the slice's ids took twice as long
  const sample = (at: MicroTime) =>
    ch`(r.start_time, r.id) in (select k.start_time, k.id from export_keys as k
      where ${snapshotIs(slice.snapshotId)} and k.start_time >= ${time(at)}
        and k.start_time <= ${time(slice.end.start_time)}
      order by k.start_time, k.id limit ${bind("UInt32", WEIGHED)})`;
  const [row] = await clickhouse.rows<{ weight: number | null }>({
    name: "exports.weight",
    ...render(ch`select avg(length(ifNull(r.inputs, '')) + length(ifNull(r.outputs, '')) + length(ifNull(r.extra, ''))
        + length(ifNull(r.events, '')) + length(ifNull(r.error, '')) + 300) as weight
      ${fromRuns(scope, sliceBounds(projectId, slice), [any(slice.samples.map(sample))])}`),
    settings: { max_block_size: "64" },
  });
  return row?.weight || 1000;
}

/** Returns the ids of the slice's runs that have feedback. */
export async function runsWithFeedback(clickhouse: ClickHouse, tenantId: string, slice: Slice): Promise<string[]> {
  const mine = ch`f.tenant_id = ${bind("UUID", tenantId)}`;
  // many workspaces have no feedback, and then no set of the slice's ids is needed
  const some = await clickhouse.rows({
    name: "exports.any_feedback",
    ...render(ch`select 1 from feedback as f where ${mine} limit 1`),
  });
  if (some.length === 0) return [];
  const rows = await clickhouse.rows<{ id: string }>({
    name: "exports.with_feedback",
    ...render(ch`select distinct f.run_id as id from feedback as f
      where ${mine} and f.run_id in (${sliceIds(slice)})`),
  });
  return rows.map((row) => row.id);
}

export const insertFeedbackStats = (
  clickhouse: ClickHouse,
  snapshotId: string,
  stats: Iterable<[runId: string, stats: object]>,
): Promise<void> => {
  const lines = Array.from(stats, ([run_id, scores]) =>
    JSON.stringify({ snapshot_id: snapshotId, run_id, stats: JSON.stringify(scores) }),
  );
  return clickhouse.insert(
    "export_feedback",
    ["snapshot_id", "run_id", "stats"],
    Buffer.from(lines.map((line) => `${line}\n`).join("")),
  );
};

const SNAPSHOT_TABLES = ["export_keys", "export_feedback"];

/** Drops a snapshot's partitions. Succeeds if they do not exist. */
export async function dropSnapshot(clickhouse: ClickHouse, snapshotId: string): Promise<void> {
  for (const table of SNAPSHOT_TABLES) {
    await clickhouse.command({
      name: `${table}.drop`,
      query: `alter table ${clickhouse.mutable(table)} drop partition '${snapshotId.replaceAll(/[^0-9a-f-]/g, "")}'`,
    });
  }
}

/** Lists stored snapshots. */
export async function listSnapshots(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows<{ id: string }>({
    name: "exports.snapshots",
    query: `select distinct snapshot_id as id from export_keys limit 10000`,
  });
  return rows.map((row) => row.id);
}
