/**
 * Series of a metric over time, by group: what charts show and alerts watch. Requests about the same runs are one
 * statement.
 */
import { all, bind, ch, type Fragment, join, raw } from "../../base/clickhouse/fragment.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { loadScope } from "../runs/load-scope.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import { fromRuns } from "../runs/selection.ts";
import { groupColumn, type Grouping, selectUnits } from "../runs/stats.ts";
import { agentKind, type AgentMetricName, isOfAgents } from "./agent-metrics.ts";
import { readAgentSeries } from "./agent-series.ts";
import { divide, type Facts, type FactSource, findFacts, findTraceParts, union } from "../runs/fact-source.ts";
import {
  isFeedback,
  isOfUnits,
  latencyEdge,
  needsUsage,
  type RunSeriesMetric,
  type SeriesMetric,
  UNIT_METRICS,
} from "./series-metrics.ts";
import { readSteps } from "./settled-steps.ts";
import {
  DEFAULT_GROUPS,
  type SeriesDeps,
  type SeriesPoint,
  type SeriesRow,
  type SeriesValue,
  toPoints,
} from "./series-point.ts";
import { MAX_POINTS, OTHER, readGroupBy, readSelection, type SeriesRequest } from "./series-request.ts";

/**
 * Reads one series; buckets without runs are left out.
 * @throws FilterError (400) for an invalid filter, and 422 for a period with too many steps
 */
export async function readSeries(deps: SeriesDeps, tenantId: string, request: SeriesRequest): Promise<SeriesPoint[]> {
  return (await readManySeries(deps, tenantId, [request]))[0]!;
}

/** Statements of one call at a time, beside the limit of the workspace. */
const AT_ONCE = 2;

/** Settings of statements about series: several percentiles of the same values sort them once. */
export const SERIES_SETTINGS = { use_skip_indexes: 0, optimize_syntax_fuse_functions: 1 } as const;

/** Reads several series, in their order. */
export async function readManySeries(
  deps: SeriesDeps,
  tenantId: string,
  requests: readonly SeriesRequest[],
): Promise<SeriesPoint[][]> {
  const facts = new Map<string, Promise<Facts | undefined>>();
  const factsFor = ({ projects, since, until }: SeriesRequest) => {
    if (!deps.settings.runCopies) return undefined;
    const key = JSON.stringify([projects, since, until]);
    const known = facts.get(key) ?? findFacts(deps.sql, tenantId, { projects, since, until });
    facts.set(key, known);
    return known;
  };
  const bySource = new Map<string, number[]>();
  requests.forEach((request, index) => {
    const key = JSON.stringify([
      sourceKind(request),
      { ...request, metric: undefined, feedback_key: ofFeedback(request) },
    ]);
    bySource.set(key, [...(bySource.get(key) ?? []), index]);
  });
  const answers: SeriesPoint[][] = [];
  await inParallel([...bySource.values()], AT_ONCE, async (indexes) => {
    const series = await readSource(
      deps,
      tenantId,
      requests[indexes[0]!]!,
      indexes.map((index) => requests[index]!.metric),
      isOfAgents(requests[indexes[0]!]!.metric) ? undefined : await factsFor(requests[indexes[0]!]!),
    );
    indexes.forEach((index, i) => (answers[index] = series[i]!));
  });
  return answers;
}

const ofFeedback = ({ metric, feedback_key: key }: SeriesRequest) => (isFeedback(metric) ? (key ?? null) : undefined);

/** Metrics that one statement can read. */
const sourceKind = ({ metric, projects }: SeriesRequest): string => {
  if (isOfAgents(metric)) return agentKind(metric);
  if (isFeedback(metric)) return "feedback";
  if (!isOfUnits(metric)) return metric;
  // copies serve sums of traces of one project only
  return needsUsage(metric) && projects?.length !== 1 ? "usage" : "units";
};

async function readSource(
  deps: SeriesDeps,
  tenantId: string,
  request: SeriesRequest,
  metrics: SeriesMetric[],
  facts: Facts | undefined,
): Promise<SeriesPoint[][]> {
  const selection = readSelection(request);
  if (isOfAgents(metrics[0]!))
    return readAgentSeries(deps, tenantId, request, metrics as AgentMetricName[], bucketOf(request));
  const loaded = await loadScope(deps, RunScope.ofTenant(tenantId), selection);
  const scope = await findTraceParts(deps, loaded, selection);
  const sums = metrics.some(needsUsage);
  const clickhouse = deps.clickhouse.forTenant(tenantId);
  const grouping = readGroupBy(request.group_by);
  const sourcesOf = (part: Facts | undefined) => divide(scope, selection, part, { sums });
  const groups = grouping && {
    grouping,
    names: (
      await readRows<{ grp: string }>(
        clickhouse,
        "dashboards.groups",
        largestGroups(sourcesOf(facts), grouping, request.group_by?.max_groups ?? DEFAULT_GROUPS),
        SERIES_SETTINGS,
      )
    ).map(({ grp }) => grp),
  };
  if (groups?.names.length === 0) return metrics.map(() => []);
  const read = async (part: Facts | undefined) => {
    const sources = sourcesOf(part);
    if (sources.length === 0) return [];
    const points = selectPoints(sources, groups, request, metrics as RunSeriesMetric[]);
    return readRows<SeriesRow>(
      clickhouse,
      "dashboards.series",
      ch`${points} order by bucket, group_name limit ${bind("UInt32", MAX_POINTS + 1)}`,
      SERIES_SETTINGS,
    );
  };
  const rows =
    isFeedback(metrics[0]!) || grouping?.attribute === "feedback"
      ? await read(facts)
      : await readSteps(
          deps.stepMemory,
          { scope, selection, request, facts, sums, columns: { metrics, ...groups } },
          read,
        );
  return toPoints(rows, metrics, readValue);
}

function readValue(metric: SeriesMetric, value: unknown): SeriesValue {
  if (value === null || value === undefined) return null;
  if (metric === "feedback") {
    const [n, avg, values] = value as [number, number | null, object];
    return { n: Number(n), avg, values: numbers(values) };
  }
  if (metric === "latency_counts") {
    return Object.fromEntries(
      Object.entries(numbers(value as object)).map(([bin, n]) => [latencyEdge(Number(bin)), n]),
    );
  }
  if (typeof value === "object") return numbers(value);
  return Number(value);
}

const numbers = (map: object) => Object.fromEntries(Object.entries(map).map(([key, n]) => [key, Number(n)]));

interface Groups {
  grouping: SeriesGrouping;
  /** The largest; all others are one. */
  names: string[];
}

function selectPoints(
  sources: readonly FactSource[],
  groups: Groups | undefined,
  request: SeriesRequest,
  metrics: RunSeriesMetric[],
): Fragment {
  const source = union(sources, (part) => selectGrouped(part, groups?.grouping, request, metrics));
  const columns = metrics.map((metric, i) => ch`${columnOf(metric)} as ${raw(`m${i}`)}`);
  const group = groups
    ? ch`if(u.grp in ${bind("Array(String)", groups.names)}, u.grp, ${bind("String", OTHER)})`
    : raw("cast(null as Nullable(String))");
  return ch`select ${bucketOf(request)} as bucket, ${group} as group_name, ${join(columns, ", ")}
    from (${source}) as u group by bucket, group_name`;
}

function bucketOf({ stepSeconds, offsetSeconds = 0 }: SeriesRequest): Fragment {
  const step = bind("Int64", stepSeconds);
  const offset = bind("Int64", offsetSeconds);
  return ch`(intDiv(toUnixTimestamp64Second(u.started) - ${offset}, ${step}) * ${step} + ${offset})`;
}

function columnOf(metric: RunSeriesMetric): Fragment {
  switch (metric) {
    case "thread_count":
      return raw("uniqExact(u.thread)");
    case "feedback_count":
      return raw("count()");
    case "feedback_score_avg":
      return raw("avg(u.score)");
    case "feedback_values":
      return raw(VALUES);
    case "feedback":
      return raw(`(count(), avg(u.score), ${VALUES})`);
    default:
      return raw(UNIT_METRICS[metric]);
  }
}

const VALUES = "sumMap(if(u.value is null, map(), map(assumeNotNull(u.value), toUInt64(1))))";

type SeriesGrouping = Grouping | { attribute: "feedback"; path: string };

/** Builds the counted units `u` with their group `grp` and start `started`, for charts and alerts. */
export function selectGrouped(
  { scope, selection }: FactSource,
  grouping: SeriesGrouping | undefined,
  request: Pick<SeriesRequest, "feedback_key">,
  metrics: readonly SeriesMetric[],
): Fragment {
  const tenant = bind("UUID", scope.tenantId);
  const own = grouping?.attribute === "feedback" ? undefined : grouping;
  let units: Fragment;
  if (isFeedback(metrics[0]!)) {
    const withFeedback = ch`r.id in (select run_id from feedback where tenant_id = ${tenant})`;
    const conditions = [ch`f.tenant_id = ${tenant}`];
    if (request.feedback_key != null) conditions.push(ch`f.key = ${bind("String", request.feedback_key)}`);
    units = ch`select m.id as id, m.grp as grp, m.started as started, f.score as score, f.value as value
      from feedback as f final
      inner join (
        select r.id as id, ${groupColumn(own)} as grp, r.start_time as started ${fromRuns(scope, selection, [withFeedback])}
      ) as m on m.id = f.run_id
      where ${all(conditions)}`;
  } else if (metrics[0] === "thread_count") {
    units = ch`select r.id as id, ${groupColumn(own)} as grp, r.start_time as started, r.thread_id as thread
      ${fromRuns(scope, selection)}`;
  } else {
    units = selectUnits(scope, selection, own, metrics.some(needsUsage));
  }
  if (grouping?.attribute !== "feedback") return units;
  return ch`select * except (grp), v.grp as grp from (${units}) as w
    inner join (${feedbackGroups(scope, grouping.path)}) as v on v.run = w.id`;
}

/** Builds the values of a feedback key as groups: a run with several is in each of them. */
const feedbackGroups = (scope: RunScope, key: string): Fragment => ch`
  select distinct f.run_id as run, coalesce(f.value, toString(f.score), '') as grp from feedback as f final
  where f.tenant_id = ${bind("UUID", scope.tenantId)} and f.key = ${bind("String", key)}`;

/** Builds the statement of the names of the groups with the most runs. */
function largestGroups(sources: readonly FactSource[], grouping: SeriesGrouping, most: number): Fragment {
  const select = ({ scope, selection }: FactSource) =>
    grouping.attribute === "feedback"
      ? ch`select v.grp as grp from (select r.id as id ${fromRuns(scope, selection)}) as w
          inner join (${feedbackGroups(scope, grouping.path)}) as v on v.run = w.id`
      : ch`select ${groupColumn(grouping)} as grp ${fromRuns(scope, selection)}`;
  return ch`select grp from (${union(sources, select)}) group by grp order by count() desc, grp
    limit ${bind("UInt32", most)}`;
}
