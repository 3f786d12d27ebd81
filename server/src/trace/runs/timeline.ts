/** Statistics over runs by start time: one query for the runs, and one for the feedback on them. */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, join, raw } from "../../base/clickhouse/fragment.ts";
import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { readRows } from "./read-rows.ts";
import { findTraceParts } from "./fact-source.ts";
import type { RunScope } from "./run-scope.ts";
import { fromRuns, type RunSelection } from "./selection.ts";
import { type Statistics, findUnits, groupColumn, type Grouping, METRIC_NAMES, METRICS } from "./stats.ts";
import { readGrouping, serializeStatistics } from "./stats-runs.ts";
import { MAX_POINTS, type Timeline, type TimelineBody } from "./stats-schema.ts";

/** Start of a time's bucket, in seconds since 1970. */
const timeBucket = (column: string, seconds: number): Fragment =>
  ch`intDiv(toUnixTimestamp(${raw(column)}), ${bind("UInt32", seconds)}) * ${bind("UInt32", seconds)}`;

const isoTime = (seconds: number | string): string => new Date(Number(seconds) * 1000).toISOString();

/** Throws 422 when the window has more buckets than the maximum number of points. */
export async function timelineOfRuns(
  deps: Pick<TraceDeps, "clickhouse" | "sql" | "settings">,
  scope: RunScope,
  selection: RunSelection,
  body: Pick<TimelineBody, "bucket_seconds" | "select" | "group_by">,
): Promise<Timeline> {
  const { bucket_seconds: seconds } = body;
  rejectTooMany(selection, seconds);
  const metrics = METRIC_NAMES.filter((name) => body.select?.includes(name) ?? true);
  const grouping = readGrouping(body);
  const maxGroups = body.group_by?.max_groups ?? 1;
  scope = await findTraceParts(deps, scope, selection);
  const wantsFeedback = body.select?.includes("feedback_stats") ?? true;
  const [rows, feedback] = await Promise.all([
    readStatistics(deps, scope, selection, { seconds, metrics, grouping, maxGroups }),
    wantsFeedback ? readFeedback(deps.clickhouse, scope, selection, { seconds, grouping }) : [],
  ]);
  const series = Array.from(
    inGroups(rows, ({ group_name }) => group_name),
    ([group, points]) => ({
      group,
      points: points.map(({ bucket, group_name: _group, group_size: _size, nothing: _none, ...statistics }) => ({
        start: isoTime(bucket),
        ...serializeStatistics(statistics as Statistics),
      })),
    }),
  );
  const groups = new Set(series.map(({ group }) => group));
  const keys = inGroups(
    feedback.filter(({ group_name }) => groups.has(group_name)),
    ({ group_name, key }) => JSON.stringify([group_name, key]),
  );
  return {
    bucket_seconds: seconds,
    series,
    feedback: Array.from(keys.values(), (points) => ({
      group: points[0]!.group_name,
      key: points[0]!.key,
      points: points.map(({ bucket, n, avg }) => ({ start: isoTime(bucket), n: Number(n), avg })),
    })),
  };
}

/** Groups rows in the order in which each group first occurs. */
function inGroups<T>(rows: readonly T[], bucketKey: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = bucketKey(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function rejectTooMany({ since, until }: RunSelection, seconds: number): void {
  if (since === undefined) return;
  const milliseconds = (time: string) => Date.parse(`${time.replace(" ", "T")}Z`);
  const end = until === undefined ? Date.now() : milliseconds(until);
  const buckets = (end - milliseconds(since)) / (seconds * 1000);
  if (buckets > MAX_POINTS) {
    throw unprocessable(`The time range has more than ${MAX_POINTS} buckets of ${seconds} s. Choose longer buckets.`);
  }
}

type StatisticRow = Statistics & { group_name: string; group_size: number; bucket: number; nothing: number };

interface Buckets {
  seconds: number;
  grouping: Grouping | undefined;
}

/** Reads statistics. Beyond the limit, groups with more runs and then newer points take precedence. */
async function readStatistics(
  deps: Pick<TraceDeps, "clickhouse" | "sql" | "settings">,
  scope: RunScope,
  selection: RunSelection,
  { seconds, metrics, grouping, maxGroups }: Buckets & { metrics: (keyof typeof METRICS)[]; maxGroups: number },
): Promise<StatisticRow[]> {
  const columns = metrics.map((metric) => raw(`${METRICS[metric]} as ${metric}`));
  const units = await findUnits(deps, scope, { selection, metrics, grouping });
  const statement = ch`
    select * from (
      select *, dense_rank() over (order by group_size desc, group_name) as group_rank from (
        select *, sum(size) over (partition by group_name) as group_size from (
          select u.grp as group_name, ${timeBucket("u.started", seconds)} as bucket, count() as size,
            ${join([raw("0 as nothing"), ...columns], ", ")}
          from (${units}) as u
          group by group_name, bucket)))
    where group_rank <= ${bind("UInt32", maxGroups)}
    order by group_rank, bucket desc limit ${bind("UInt32", MAX_POINTS)}`;
  const rows = await readRows<StatisticRow & { group_rank: number; size: number }>(
    deps.clickhouse.forTenant(scope.tenantId),
    "runs.timeline",
    statement,
    {
      use_skip_indexes: selection.ids || selection.traces ? 1 : 0,
    },
  );
  return rows
    .map(({ group_rank: _rank, size: _size, ...row }) => row)
    .reverse()
    .toSorted(byRank(rows));
}

/** Orders by the statement's order of groups, and within each by time. */
function byRank(rows: { group_name: string; group_rank: number }[]) {
  const ranks = new Map(rows.map(({ group_name, group_rank }) => [group_name, group_rank]));
  return (a: StatisticRow, b: StatisticRow) =>
    ranks.get(a.group_name)! - ranks.get(b.group_name)! || Number(a.bucket) - Number(b.bucket);
}

interface FeedbackRow {
  group_name: string;
  key: string;
  bucket: number;
  n: number;
  avg: number | null;
}

function readFeedback(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  { seconds, grouping }: Buckets,
): Promise<FeedbackRow[]> {
  const tenant = bind("UUID", scope.tenantId);
  const withFeedback = ch`r.id in (select run_id from feedback where tenant_id = ${tenant})`;
  const statement = ch`
    select m.grp as group_name, f.key as key, m.bucket as bucket, count() as n, avg(f.score) as avg
    from feedback as f final
    inner join (
      select r.id as id, ${groupColumn(grouping)} as grp, ${timeBucket("r.start_time", seconds)} as bucket
      ${fromRuns(scope, selection, [withFeedback])}
    ) as m on m.id = f.run_id
    where f.tenant_id = ${tenant}
    group by group_name, key, bucket order by key, group_name, bucket limit ${bind("UInt32", MAX_POINTS)}`;
  return readRows<FeedbackRow>(clickhouse.forTenant(scope.tenantId), "runs.feedback_timeline", statement);
}
