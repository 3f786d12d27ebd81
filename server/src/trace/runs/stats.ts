/**
 * Statistics over runs. The unit is a run; if only roots are selected, each stands for its whole trace: tokens and
 * costs are those of the trace, duration and outcome those of the root.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { all, bind, ch, type Fragment, join, raw, render } from "../../base/clickhouse/fragment.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { FIRST_TOKEN, HAS_FAILED, IS_CALL, RUN_LATENCY, RUN_TYPE } from "../run-rows/clickhouse.ts";
import { readRows } from "./read-rows.ts";
import type { TraceDeps } from "../deps.ts";
import { digest, type StepMemory } from "../run-facts/step-memory.ts";
import { type FactSource, findSources, isLasting, union } from "./fact-source.ts";
import type { RunScope } from "./run-scope.ts";
import { fromPieces, fromRuns, type RunSelection } from "./selection.ts";
import { type DetailColumn, readDetails, sumDetails, sumTraceDetails } from "./trace-totals.ts";
import { earliestRun, SUMMED, TRACE_SUMS } from "./trace-sums.ts";

/**
 * Sums usage over model calls; chains around them often repeat it, so other runs count only if there is no model call.
 */
const sumTokens = (name: string) => `coalesce(sumIf(u.${name}, u.calls_model), sum(u.${name}))`;
const quantile = (level: number, name: string) => `quantileExactInclusive(${level})(u.${name})`;

/** Aggregates over units `u`: seconds, tokens, money. */
export const METRICS = {
  run_count: "count()",
  latency_p50: quantile(0.5, "latency"),
  latency_p95: quantile(0.95, "latency"),
  latency_p99: quantile(0.99, "latency"),
  latency_avg: "avg(u.latency)",
  first_token_p50: quantile(0.5, "first_token"),
  first_token_p95: quantile(0.95, "first_token"),
  first_token_p99: quantile(0.99, "first_token"),
  total_tokens: sumTokens("total_tokens"),
  prompt_tokens: sumTokens("prompt_tokens"),
  completion_tokens: sumTokens("completion_tokens"),
  median_tokens: `round(${quantile(0.5, "total_tokens")})`,
  tokens_p99: `round(${quantile(0.99, "total_tokens")})`,
  prompt_tokens_p50: `round(${quantile(0.5, "prompt_tokens")})`,
  prompt_tokens_p99: `round(${quantile(0.99, "prompt_tokens")})`,
  completion_tokens_p50: `round(${quantile(0.5, "completion_tokens")})`,
  completion_tokens_p99: `round(${quantile(0.99, "completion_tokens")})`,
  total_cost: sumTokens("total_cost"),
  prompt_cost: sumTokens("prompt_cost"),
  completion_cost: sumTokens("completion_cost"),
  cost_p50: "quantileExactInclusive(0.5)(toFloat64(u.total_cost))",
  cost_p99: "quantileExactInclusive(0.99)(toFloat64(u.total_cost))",
  last_run_start_time: "max(u.started)",
  error_rate: "avg(u.failed)",
  streaming_rate: "avg(u.first_token is not null)",
} as const;

export type Metric = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as Metric[];

/** Sums of the details of usage, by category. */
export type Detail = DetailColumn;

/** Values as ClickHouse formats them: sums of costs are decimal text, times `YYYY-MM-DD hh:mm:ss.ffffff`. */
export type Statistics = Partial<Record<Metric, number | string | null>> &
  Partial<Record<Detail, Record<string, number | string>>>;

export type Grouping =
  | { attribute: "name" | "run_type" | "tag" | "project" | "thread" | "error_kind" }
  /** `withTotal`: each unit is also in the group ""; empty values are no groups. */
  | { attribute: "metadata"; path: string; withTotal?: true };

export interface StatsRequest {
  selection: RunSelection;
  metrics: readonly Metric[];
  details?: readonly Detail[];
  grouping?: Grouping | undefined;
  /** Limits the result to the groups with the most runs. */
  maxGroups?: number;
  /** Restricts the result to these groups. */
  groups?: readonly string[] | undefined;
}

/** Computes statistics by group; without grouping there is a single group named "". */
export async function computeStats(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "stepMemory">,
  scope: RunScope,
  { selection, metrics, details = [], grouping, maxGroups = 1000, groups }: StatsRequest,
): Promise<Map<string, Statistics>> {
  const columns = [
    ...metrics.map((metric) => raw(`${METRICS[metric]} as ${metric}`)),
    ...details.map((name) => raw(`${sumDetails(`u.${name}`, "u.calls_model")} as ${name}`)),
  ];
  const sources = await findUnitSources(deps, scope, { selection, metrics, details, grouping });
  const units = selectFrom(sources, { selection, metrics, details, grouping });
  const only = groups ? ch`where u.grp in ${bind("Array(String)", groups)}` : raw("");
  const statement = ch`select u.grp as group_name, count() as group_size, ${join([raw("0 as nothing"), ...columns], ", ")}
    from (${units}) as u ${only}
    group by u.grp order by group_size desc, group_name limit ${bind("UInt32", maxGroups)}`;
  // checking a set of thousands of traces against the index costs more than it saves
  const settings = { use_skip_indexes: selection.ids || selection.traces ? 1 : 0 } as const;
  type Group = Statistics & { group_name: string };
  const read = () => readRows<Group>(deps.clickhouse.forTenant(scope.tenantId), "runs.stats", statement, settings);
  // A statement that reads nothing but copies has one answer. A replica of a cluster may lag.
  const isSettled =
    sources.every(({ scope }) => scope.builds) && isLasting(selection) && deps.clickhouse.cluster === "";
  const rows = isSettled ? await remembered(deps.stepMemory, statement, read) : await read();
  return new Map(rows.map(({ group_name, ...statistics }) => [group_name, statistics]));
}

async function remembered<T>(memory: StepMemory, statement: Fragment, read: () => Promise<T[]>): Promise<T[]> {
  const key = digest(JSON.stringify(render(statement)));
  const text = memory.get(key);
  if (text !== undefined) return JSON.parse(text) as T[];
  const rows = await read();
  memory.set(key, JSON.stringify(rows));
  return rows;
}

type UnitRequest = Pick<StatsRequest, "selection" | "metrics" | "details" | "grouping">;

/** Builds the units that these metrics count, from copies of finished hours where they serve. */
export const findUnits = async (
  deps: Pick<TraceDeps, "sql" | "settings">,
  scope: RunScope,
  request: UnitRequest,
): Promise<Fragment> => selectFrom(await findUnitSources(deps, scope, request), request);

async function findUnitSources(
  deps: Pick<TraceDeps, "sql" | "settings">,
  scope: RunScope,
  { selection, metrics, details = [], grouping }: UnitRequest,
): Promise<FactSource[]> {
  // copies lack details
  if (details.length > 0) return [{ scope, selection }];
  return findSources(deps, scope, selection, {
    sums: needsTotals(metrics),
    byProject: isByPart(selection, grouping),
  });
}

const selectFrom = (sources: readonly FactSource[], { metrics, details = [], grouping }: UnitRequest): Fragment =>
  union(sources, ({ scope, selection }) =>
    selectUnits(scope, selection, grouping, details.length > 0 || needsTotals(metrics), details),
  );

/**
 * Builds the counted units, one row each; a unit in several groups has several rows, a unit in no group none. Without
 * `totals` a root has its own tokens and costs, for callers that need neither.
 */
export function selectUnits(
  scope: RunScope,
  selection: RunSelection,
  grouping: Grouping | undefined,
  totals = true,
  details: readonly Detail[] = [],
): Fragment {
  return (selection.is_root || selection.is_head) && totals && !scope.builds
    ? selectTraces(scope, selection, grouping, details)
    : selectRuns(scope, selection, grouping, details);
}

const selectRuns = (
  scope: RunScope,
  selection: RunSelection,
  grouping: Grouping | undefined,
  details: readonly Detail[],
): Fragment => ch`
  select r.id as id, ${groupColumn(grouping)} as grp, r.start_time as started, ${raw(RUN_LATENCY)} as latency,
    ${raw(FIRST_TOKEN)} as first_token, ${raw(HAS_FAILED)} as failed,
    ${raw(usage(scope, selection))}
    ${raw(details.map((name) => `, ${readDetails(name)} as ${name}`).join(""))}
  ${fromRuns(scope, selection)}`;

/** A copy of a head (`run_facts`) bears the sums of its trace. */
function usage({ builds }: RunScope, { is_root, is_head }: RunSelection): string {
  if (builds && (is_root || is_head)) {
    return `true as calls_model, ${SUMMED.map((name) => `r.trace_${name} as ${name}`).join(", ")}`;
  }
  return `ifNull(${IS_CALL}, false) as calls_model, ${SUMMED.map((name) => `r.${name} as ${name}`).join(", ")}`;
}

/** Runs of a trace begin after its root, possibly outside the bounds that apply to the root. */
function selectTraces(
  scope: RunScope,
  selection: RunSelection,
  grouping: Grouping | undefined,
  details: readonly Detail[],
): Fragment {
  const { projects, traces, since, ranges, before } = selection;
  // few of many runs: bounded by the heads, whose traces are the smaller set
  const own = ranges
    ? [ch`r.trace_id in (select r.trace_id ${fromPieces(scope, { projects, ranges, since, before })})`]
    : [];
  const first = ranges?.[0] && earliestRun(ranges[0].from);
  // A project's statistics are the same whichever others are requested. And a trace has a head in each of its projects:
  // together, their parts are the trace once.
  const key = raw(isByPart(selection, grouping) ? "(r.project_id, r.trace_id)" : "r.trace_id");
  return ch`
    select roots.id as id, roots.grp as grp, roots.started as started, roots.latency as latency,
      roots.first_token as first_token, roots.failed as failed, true as calls_model,
      sums.trace_total_tokens as total_tokens, sums.trace_prompt_tokens as prompt_tokens,
      sums.trace_completion_tokens as completion_tokens, sums.trace_total_cost as total_cost,
      sums.trace_prompt_cost as prompt_cost, sums.trace_completion_cost as completion_cost
      ${raw(details.map((name) => `, sums.trace_${name} as ${name}`).join(""))}
    from (
      select r.id as id, ${key} as trace, ${groupColumn(grouping)} as grp, r.start_time as started,
        ${raw(RUN_LATENCY)} as latency, ${raw(FIRST_TOKEN)} as first_token, ${raw(HAS_FAILED)} as failed
      ${fromRuns(scope, selection)}
    ) as roots
    left join (
      select ${key} as trace, ${raw([TRACE_SUMS, ...details.map(sumTraceDetails)].join(", "))}
      ${fromRuns(scope, { projects, traces, since: later(since && earliestRun(since), first) }, own)} group by trace
    ) as sums on sums.trace = roots.trace`;
}

/** Whether a unit has the tokens and costs of its project's part of the trace only, as copies have them. */
const isByPart = ({ is_head }: RunSelection, grouping: Grouping | undefined): boolean =>
  is_head === true || grouping?.attribute === "project";

const later = (a: MicroTime | undefined, b: MicroTime | undefined) => (a && b ? (a > b ? a : b) : (a ?? b));

/**
 * Name at the start of an error, as clients write it: `ValueError('no')`, `TimeoutError: …`; "Error" if there is none.
 * A run that did not fail belongs to no group.
 */
const ERROR_KIND = `arrayJoin(if(not ${HAS_FAILED}, [], [coalesce(nullif(
  extract(assumeNotNull(r.error), '^\\\\s*([A-Za-z_$][A-Za-z0-9_.$]{0,99})\\\\s*(?:[:(\\n]|$)'), ''), 'Error')]))`;

export function groupColumn(grouping: Grouping | undefined): Fragment {
  switch (grouping?.attribute) {
    case undefined:
      return raw("''");
    case "name":
      return raw("ifNull(r.name, '')");
    case "run_type":
      return raw(RUN_TYPE);
    case "error_kind":
      return raw(ERROR_KIND);
    case "project":
      return raw("toString(r.project_id)");
    case "thread":
      return raw("ifNull(r.thread_id, '')");
    case "tag":
      return raw("arrayJoin(arraySlice(splitByChar(char(30), ifNull(r.tags, '')), 2, -1))");
    case "metadata": {
      const start = bind("String", `${grouping.path}\u001f`);
      if (grouping.withTotal) {
        return ch`arrayJoin(arrayConcat([''], arrayMap(entry -> substring(entry, length(${start}) + 1), arrayFilter(
          entry -> startsWith(entry, ${start}) and entry <> ${start}, splitByChar(char(30), ifNull(r.metadata, ''))))))`;
      }
      return ch`arrayJoin(arrayMap(entry -> substring(entry, length(${start}) + 1),
        arrayFilter(entry -> startsWith(entry, ${start}), splitByChar(char(30), ifNull(r.metadata, '')))))`;
    }
  }
}

/** Returns true for metrics that, for a root, need the rest of its trace. */
export const needsTotals = (metrics: readonly Metric[]): boolean =>
  metrics.some((metric) => /tokens|cost/.test(metric));

/** Statistics of feedback on the counted runs, by group and key. */
export interface FeedbackStatistics {
  /** Empty for feedback on projects. */
  group_name: string;
  feedback_key: string;
  n: number;
  avg: number | null;
  stdev: number | null;
  min: number | null;
  max: number | null;
  errors: number;
  sources: string[];
  values: Record<string, number>;
}

/** Distinct values reported per key: the most frequent. */
const MAX_VALUES = 50;

const FEEDBACK_STATISTICS = ch`f.key as feedback_key, count() as n, avg(f.score) as avg, stddevPop(f.score) as stdev,
  min(f.score) as min, max(f.score) as max, countIf(f.failed) as errors, groupUniqArray(f.source) as sources,
  sumMap(if(f.value is null, map(), map(assumeNotNull(f.value), toUInt32(1)))) as value_counts,
  cast(arraySlice(
    arraySort(entry -> (-toInt64(entry.2), entry.1), arrayZip(mapKeys(value_counts), mapValues(value_counts))),
    1, ${bind("UInt32", MAX_VALUES)}) as Map(String, UInt64)) as values`;

/** Computes statistics of feedback on projects themselves; without `projects`, on all of the workspace. */
export async function computeProjectFeedbackStats(
  clickhouse: ClickHouse,
  scope: RunScope,
  projects: readonly string[] | undefined,
): Promise<FeedbackStatistics[]> {
  const conditions = [
    ch`f.tenant_id = ${bind("UUID", scope.tenantId)}`,
    raw("f.run_id = toUUID('00000000-0000-0000-0000-000000000000')"),
  ];
  if (projects) conditions.push(ch`f.session_id in ${bind("Array(UUID)", projects)}`);
  const statement = ch`select '' as group_name, ${FEEDBACK_STATISTICS} from feedback as f final
    where ${all(conditions)} group by feedback_key order by feedback_key limit 10000`;
  return readRows<FeedbackStatistics>(clickhouse.forTenant(scope.tenantId), "runs.project_feedback_stats", statement);
}

export async function computeFeedbackStats(
  clickhouse: ClickHouse,
  scope: RunScope,
  { selection, grouping, groups }: Pick<StatsRequest, "selection" | "grouping" | "groups">,
): Promise<FeedbackStatistics[]> {
  const tenant = bind("UUID", scope.tenantId);
  const withFeedback = ch`r.id in (select run_id from feedback where tenant_id = ${tenant})`;
  const conditions = [ch`f.tenant_id = ${tenant}`];
  if (groups) conditions.push(ch`m.grp in ${bind("Array(String)", groups)}`);
  const statement = ch`
    select m.grp as group_name, ${FEEDBACK_STATISTICS}
    from feedback as f final
    inner join (
      select r.id as id, ${groupColumn(grouping)} as grp ${fromRuns(scope, selection, [withFeedback])}
    ) as m on m.id = f.run_id
    where ${all(conditions)}
    group by group_name, feedback_key order by group_name, feedback_key limit 10000`;
  return readRows<FeedbackStatistics>(clickhouse.forTenant(scope.tenantId), "runs.feedback_stats", statement);
}

/** Returns the statistics of a group as responses have them: by key, and without comments. */
export const feedbackByKey = (feedback: FeedbackStatistics[]) =>
  Object.fromEntries(
    feedback.map(({ group_name: _group, feedback_key, ...stats }) => [feedback_key, { ...stats, comments: [] }]),
  );
