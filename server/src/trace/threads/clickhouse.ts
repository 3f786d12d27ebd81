import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { HAS_FAILED, RUN_LATENCY } from "../run-rows/clickhouse.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromRuns, type RunSelection, time } from "../runs/selection.ts";
import { DETAIL_COLUMNS, type DetailColumn, sumTraceDetails } from "../runs/trace-totals.ts";
import { type FactSource, findSources, union } from "../runs/fact-source.ts";
import { type PageDeps, readRuns } from "../runs/select-page.ts";
import { beyondValue, fromSortValues, sourcesToSort } from "../runs/sort-value.ts";
import { feedbackKeyOf, type ThreadSortKey } from "../runs/sort-keys.ts";
import { earliestRun, TRACE_SUMS } from "../runs/trace-sums.ts";

/** Thread: the traces of a project whose roots have the same thread id. Times as ClickHouse formats them. */
export interface ThreadRow extends ThreadPosition {
  thread: string;
  turns: number;
  errored_turns: number;
  first_start: MicroTime;
  last_end: MicroTime | null;
  first_trace: string;
  last_trace: string;
  latency_p50: number | null;
  latency_p99: number | null;
  first_inputs: string | null;
  last_outputs: string | null;
  last_error: string | null;
}

/** End of a page. */
export interface ThreadPosition {
  last_start: MicroTime;
  /** Hash of the thread's id, which has any length. */
  hash: string;
  /** In lists that are sorted by another value than the latest turn's start. */
  sort_value?: number | null;
}

/** Condition that a thread comes after the position in a list sorted by the latest turn's start. */
const isBeyond = ({ last_start, hash }: ThreadPosition, descending: boolean): Fragment =>
  ch`(last_start ${raw(descending ? "<" : ">")} ${time(last_start)} or (last_start = ${time(last_start)} and hash > ${bind("String", hash)}))`;

/** Roots with a thread, of one project. */
export type ThreadSelection = RunSelection & { projects: [string] };

const rootsOf = (selection: ThreadSelection): RunSelection => ({ ...selection, is_head: true, has_thread: true });

const selectRoots = (scope: RunScope, selection: ThreadSelection): Fragment => fromRuns(scope, rootsOf(selection));

/** Sums numbers exactly, so that the order in which threads of the engine add them changes no value of a cursor. */
const sumExactly = (value: string) => `toFloat64(sum(accurateCastOrNull(${value}, 'Decimal(76, 18)')))`;

const ROOT = `r.id as id, assumeNotNull(r.thread_id) as thread, r.trace_id as trace, r.start_time as start_time,
  r.end_time as end_time, ${HAS_FAILED} as has_failed, ${RUN_LATENCY} as latency`;

/** Over roots `t`. */
const THREAD = `t.thread as thread, count() as turns, countIf(t.has_failed) as errored_turns,
  min(t.start_time) as first_start, max(t.start_time) as last_start, max(t.end_time) as last_end,
  argMin(t.trace, t.start_time) as first_trace, argMax(t.trace, t.start_time) as last_trace,
  quantileExactInclusive(0.5)(t.latency) as latency_p50, quantileExactInclusive(0.99)(t.latency) as latency_p99,
  argMin(t.id, t.start_time) as first_id, argMax(t.id, t.start_time) as last_id,
  maxIf(t.start_time, t.has_failed) as error_start, argMaxIf(t.id, t.start_time, t.has_failed) as error_id`;

type ThreadKeys = Omit<ThreadRow, "first_inputs" | "last_outputs" | "last_error"> & {
  first_id: string;
  last_id: string;
  error_start: MicroTime;
  error_id: string;
};

export interface PageOfThreads {
  sort: ThreadSortKey;
  descending: boolean;
  limit: number;
  offset?: number;
  after?: ThreadPosition | undefined;
}

/**
 * Returns a page of threads, sorted by what the list shows of them: the latest turn, the median latency of the turns, the
 * sums of their traces, the mean of their scores. Threads without a value come last; equal ones are by latest turn.
 */
export async function selectThreads(
  deps: PageDeps,
  scope: RunScope,
  selection: ThreadSelection,
  { sort, descending, limit, offset = 0, after }: PageOfThreads,
): Promise<ThreadRow[]> {
  const sources = await sourcesToSort(deps, scope, rootsOf(selection), sort);
  const roots = union(sources, (source) => ch`select ${raw(ROOT)} ${fromRuns(source.scope, source.selection)}`);
  const [value, joined] = sortValue(scope, sources, sort);
  const order = raw(descending ? "desc" : "asc");
  const [beyond, ordered] =
    sort === "start_time"
      ? [after && isBeyond(after, descending), ch`last_start ${order}`]
      : [
          after && beyondValue(after.sort_value ?? null, descending, isBeyond(after, true)),
          ch`sort_value ${order} nulls last, last_start desc`,
        ];
  const statement = ch`select *, hex(sipHash128(thread)) as hash
    from (select ${raw(THREAD)} ${value} from (${roots}) as t ${joined} group by thread)
    where ${beyond ?? raw("true")} order by ${ordered}, hash
    limit ${bind("UInt32", limit)} offset ${bind("UInt32", offset)}`;
  const found = await readRows<ThreadKeys>(deps.clickhouse.forTenant(scope.tenantId), "threads.select", statement);
  return withPreviews(deps, scope, selection, found);
}

/** Builds the column `sort_value` of a thread, and what it is joined with. */
function sortValue(scope: RunScope, sources: readonly FactSource[], sort: ThreadSortKey): [Fragment, Fragment] {
  if (sort === "start_time") return [raw(""), raw("")];
  if (sort === "latency") return [raw(", latency_p50 as sort_value"), raw("")];
  const key = feedbackKeyOf(sort);
  if (key === undefined) {
    return [
      raw(`, ${sumExactly("v.sort_value")} as sort_value`),
      ch`any left join (select id, sort_value ${fromSortValues(sources, sort)}) as v on v.id = t.id`,
    ];
  }
  // one row of a turn with several scores
  return [
    raw(`, ${sumExactly("f.scores")} / sum(f.n) as sort_value`),
    ch`any left join (
      select run_id, sum(accurateCastOrNull(score, 'Decimal(76, 18)')) as scores, count() as n from feedback final
      where tenant_id = ${bind("UUID", scope.tenantId)} and key = ${bind("String", key)} and score is not null
      group by run_id
    ) as f on f.run_id = t.id`,
  ];
}

/** Adds the texts of the threads' first, last and last failed turns. */
async function withPreviews(
  { clickhouse }: PageDeps,
  scope: RunScope,
  { projects: [project_id] }: ThreadSelection,
  threads: ThreadKeys[],
): Promise<ThreadRow[]> {
  const keys = threads.flatMap(
    ({ first_id, first_start, last_id, last_start, errored_turns, error_id, error_start }) => [
      { project_id, id: first_id, start_time: first_start },
      { project_id, id: last_id, start_time: last_start },
      ...(errored_turns > 0 ? [{ project_id, id: error_id, start_time: error_start }] : []),
    ],
  );
  const rows = await readRuns(clickhouse, scope, keys, [
    "r.inputs_preview",
    "r.outputs_preview",
    "left(r.error, 250) as error_text",
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return threads.map(({ first_id, last_id, error_id, error_start: _, ...thread }) => ({
    ...thread,
    first_inputs: byId.get(first_id)?.inputs_preview ?? null,
    last_outputs: byId.get(last_id)?.outputs_preview ?? null,
    last_error: thread.errored_turns > 0 ? ((byId.get(error_id)?.["error_text"] as string | null) ?? null) : null,
  }));
}

export async function countThreads(deps: PageDeps, scope: RunScope, selection: ThreadSelection): Promise<number> {
  const sources = await findSources(deps, scope, rootsOf(selection), { sums: false });
  const threads = union(
    sources,
    (source) => ch`select r.thread_id as thread ${fromRuns(source.scope, source.selection)}`,
  );
  const statement = ch`select uniqExact(thread) as n from (${threads})`;
  const [row] = await readRows<{ n: number }>(deps.clickhouse.forTenant(scope.tenantId), "threads.count", statement);
  return row!.n;
}

/** Usage of a thread's traces; costs are decimal text, details by category. */
export interface ThreadTotals extends Record<DetailColumn, Record<string, number | string>> {
  thread: string;
  total_tokens: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_cost: string | null;
  prompt_cost: string | null;
  completion_cost: string | null;
}

const SUMS = ["total_tokens", "prompt_tokens", "completion_tokens", "total_cost", "prompt_cost", "completion_cost"]
  .map((name) => `sum(sums.trace_${name}) as ${name}`)
  .join(", ");

/** Details are JSON objects of numbers or decimal text, with categories chosen by the client. */
const DETAIL_SUMS = DETAIL_COLUMNS.map(sumTraceDetails).join(", ");
const DETAIL_TOTALS = DETAIL_COLUMNS.map((name) => `sumMap(sums.trace_${name}) as ${name}`).join(", ");

/** Returns the totals of the selected threads. */
export async function readThreadTotals(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: ThreadSelection,
): Promise<Map<string, ThreadTotals>> {
  const { projects, since } = selection;
  const statement = ch`
    select roots.thread as thread, ${raw(SUMS)}, ${raw(DETAIL_TOTALS)}
    from (select r.trace_id as trace, assumeNotNull(r.thread_id) as thread ${selectRoots(scope, selection)}) as roots
    inner join (
      select r.trace_id as trace, ${raw(TRACE_SUMS)}, ${raw(DETAIL_SUMS)}
      ${fromRuns(scope, { projects, since: since && earliestRun(since) }, [ch`r.trace_id in (select r.trace_id ${selectRoots(scope, selection)})`])}
      group by r.trace_id
    ) as sums on sums.trace = roots.trace
    group by thread`;
  const rows = await readRows<ThreadTotals>(clickhouse.forTenant(scope.tenantId), "threads.totals", statement, {
    use_skip_indexes: 0,
  });
  return new Map(rows.map((row) => [row.thread, row]));
}

/** Returns the messages of a thread's latest turns, oldest first. */
export async function readTurns(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: ThreadSelection,
  limit: number,
): Promise<{ inputs: string | null; outputs: string | null }[]> {
  const statement = ch`select r.inputs, r.outputs ${selectRoots(scope, selection)}
    order by r.start_time desc limit ${bind("UInt32", limit)}`;
  const rows = await readRows<{ inputs: string | null; outputs: string | null }>(
    clickhouse.forTenant(scope.tenantId),
    "threads.turns",
    statement,
  );
  return rows.toReversed();
}
