/**
 * Traces of two periods by what they have in common: name, tags and metadata of the root; models, prompt commits, tools
 * and nodes of any run.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { HAS_FAILED, RUN_LATENCY } from "../run-rows/clickhouse.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromRuns, type RunSelection } from "../runs/selection.ts";
import { earliestRun, TRACE_SUMS } from "../runs/trace-sums.ts";
import { boundOf } from "./series-request.ts";

/** Sums of a measure over traces: their number, the sum and the sum of squares. */
export interface Moments {
  n: number;
  sum: number;
  squares: number;
}

/** A segment of the traces in both periods; `kind` and `value` are empty for all traces. */
export interface Segment {
  kind: string;
  value: string;
  /** By measure: errors, latency, cost, and `feedback:KEY`. */
  before: Record<string, Moments>;
  now: Record<string, Moments>;
  /** First such trace. */
  first: MicroTime;
}

export interface Periods {
  previous: Date;
  since: Date;
  until: Date;
}

/** Segments with the most traces; values of few traces explain little. */
const MAX_SEGMENTS = 2000;
/** Runs after the end of the period that still belong to a trace within it. */
const TAIL_MS = 3_600_000;
/** Values per property of a trace. */
const MAX_LENGTH = 120;

const value = (text: string) => `leftUTF8(${text}, ${MAX_LENGTH})`;
const entries = (list: string) => `arraySlice(splitByChar(char(30), ifNull(${list}, '')), 2, -1)`;
/** Pairs of kind and value of the head of a trace. */
const OF_HEAD = `arrayConcat(
  [('name', ${value("ifNull(r.name, '')")})],
  arrayMap(t -> ('tag', ${value("t")}), arrayFilter(t -> t != '', ${entries("r.tags")})),
  arrayMap(e -> (concat('metadata:', substring(e, 1, position(e, char(31)) - 1)), ${value("substring(e, position(e, char(31)) + 1)")}),
    arrayFilter(e -> position(e, char(31)) > 1, ${entries("r.metadata")})))`;
const ofKey = (kind: string, key: string) =>
  `arrayMap(e -> ('${kind}', ${value(`substring(e, ${key.length + 2})`)}),
    arrayFilter(e -> startsWith(e, '${key}\\x1F'), ${entries("r.metadata")}))`;
/** Pairs of any run. */
const OF_RUN = `arrayConcat(
  ${ofKey("model", "ls_model_name")}, ${ofKey("prompt_commit", "lc_hub_commit_hash")}, ${ofKey("revision", "revision_id")},
  ${ofKey("node", "langgraph_node")}, if(r.run_type in ('tool', 'retriever'), [('tool', ${value("ifNull(r.name, '')")})], []))`;

export async function readSegments(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: Pick<RunSelection, "projects" | "filters">,
  periods: Periods,
): Promise<Segment[]> {
  const statement = ch`
    select kind, val as value, toString(min(started)) as first,
      ${raw(["before", "now"].map(measures).join(", "))}
    from (${traces(scope, selection, periods)}) as t
    array join arrayConcat([('', '')], t.pairs) as pair
    group by pair.1 as kind, pair.2 as val
    order by kind = '' desc, count() desc limit ${bind("UInt32", MAX_SEGMENTS)}`;
  const rows = await readRows<{ kind: string; value: string; first: string; before: unknown[]; now: unknown[] }>(
    clickhouse.forTenant(scope.tenantId),
    "dashboards.segments",
    statement,
    { use_skip_indexes: 0 },
  );
  return rows.map((row) => ({ ...row, before: readMoments(row.before), now: readMoments(row.now) }));
}

const moments = (condition: string, of: string) =>
  `(countIf(${condition} and ${of} is not null), sumIf(${of}, ${condition}), sumIf(${of} * ${of}, ${condition}))`;

function measures(period: string): string {
  const within = period === "now" ? "t.is_now" : "not t.is_now";
  const columns = ["t.failed", "t.latency", "t.cost"].map((of) => moments(within, of));
  const feedback = ["n", "sum", "squares"].map((part) => `sumMapIf(t.feedback_${part}, ${within})`);
  return `(${[...columns, ...feedback].join(", ")}) as ${period}`;
}

function readMoments(columns: unknown[]): Record<string, Moments> {
  const [errors, latency, cost, n, sum, squares] = columns as [
    number[],
    number[],
    number[],
    ...Record<string, number>[],
  ];
  const toMoments = (row: (number | null)[]): Moments => ({
    n: Number(row[0]),
    sum: Number(row[1] ?? 0),
    squares: Number(row[2] ?? 0),
  });
  return {
    errors: toMoments(errors),
    latency: toMoments(latency),
    cost: toMoments(cost),
    ...Object.fromEntries(
      Object.keys(n ?? {}).map((key) => [
        `feedback:${key}`,
        toMoments([n![key]!, sum?.[key] ?? 0, squares?.[key] ?? 0]),
      ]),
    ),
  };
}

/** Builds a row per trace whose head the selection contains. */
function traces(
  scope: RunScope,
  { projects, filters }: Pick<RunSelection, "projects" | "filters">,
  periods: Periods,
): Fragment {
  const [previous, since, until, tail] = [
    periods.previous,
    periods.since,
    periods.until,
    new Date(periods.until.getTime() + TAIL_MS),
  ].map(boundOf) as [MicroTime, MicroTime, MicroTime, MicroTime];
  const tenant = bind("UUID", scope.tenantId);
  const mapOf = (of: string) => raw(`mapFromArrays(groupArray(key), groupArray(${of}))`);
  return ch`
    select heads.started as started, heads.started >= ${bind("DateTime64(6, 'UTC')", since)} as is_now,
      toFloat64(heads.failed) as failed, heads.latency as latency, toFloat64(whole.trace_total_cost) as cost,
      arrayDistinct(arrayConcat(heads.of_head, whole.of_runs)) as pairs,
      scores.n as feedback_n, scores.total as feedback_sum, scores.squares as feedback_squares
    from (
      select r.id as id, r.trace_id as trace, r.start_time as started, ${raw(HAS_FAILED)} as failed,
        ${raw(RUN_LATENCY)} as latency, ${raw(OF_HEAD)} as of_head
      ${fromRuns(scope, { projects, filters, since: previous, before: until, is_head: true })}
    ) as heads
    inner join (
      select r.trace_id as trace, groupUniqArrayArray(${raw(OF_RUN)}) as of_runs, ${raw(TRACE_SUMS)}
      ${fromRuns(scope, { projects, since: earliestRun(previous), before: tail })} group by r.trace_id
    ) as whole on whole.trace = heads.trace
    left join (
      select run, ${mapOf("amount")} as n, ${mapOf("added")} as total, ${mapOf("squared")} as squares
      from (
        select f.run_id as run, f.key as key, count() as amount, sum(f.score) as added, sum(f.score * f.score) as squared
        from feedback as f final
        where f.tenant_id = ${tenant} and f.session_id in ${bind("Array(UUID)", projects ?? [])} and f.score is not null
        group by run, key)
      group by run
    ) as scores on scores.run = heads.id`;
}
