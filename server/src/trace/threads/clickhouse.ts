import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import type { MicroTime } from "../filter/literals.ts";
import { RUN_LATENCY } from "../run-rows/clickhouse.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { fromRuns, type RunSelection, time } from "../runs/selection.ts";
import { DETAIL_COLUMNS, type DetailColumn, sumTraceDetails } from "../runs/trace-totals.ts";
import { beyondValue, fromSortValues } from "../runs/sort-value.ts";
import { feedbackKeyOf, type ThreadSortKey } from "../runs/sort-keys.ts";
import { TRACE_SUMS } from "../runs/trace-sums.ts";

/** Thread: the traces of a project whose roots have the same thread id. Times as ClickHouse formats them. */
export interface ThreadRow {
  thread: string;
  hash: string;
  turns: number;
  errored_turns: number;
  first_start: MicroTime;
  last_start: MicroTime;
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

/** Condition that a thread comes after the position in a list with the latest turn first. */
const isOlder = ({ last_start, hash }: ThreadPosition): Fragment =>
  ch`(last_start < ${time(last_start)} or (last_start = ${time(last_start)} and hash > ${bind("String", hash)}))`;

/** Roots with a thread, of one project. */
export type ThreadSelection = RunSelection & { projects: [string] };

const selectRoots = (scope: RunScope, selection: ThreadSelection): Fragment =>
  fromRuns(scope, { ...selection, is_head: true, has_thread: true });

/** Lists threads, latest turn first. */
export async function selectThreads(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: ThreadSelection,
  page: { limit: number; offset?: number; after?: ThreadPosition | undefined },
): Promise<ThreadRow[]> {
  const { after } = page;
  const beyond = after ? ch`having ${isOlder(after)}` : raw("");
  const statement = ch`
    select assumeNotNull(r.thread_id) as thread, hex(sipHash128(thread)) as hash, count() as turns, countIf(r.error is not null) as errored_turns,
      min(r.start_time) as first_start, max(r.start_time) as last_start, max(r.end_time) as last_end,
      argMin(r.trace_id, r.start_time) as first_trace, argMax(r.trace_id, r.start_time) as last_trace,
      quantileExactInclusive(0.5)(${raw(RUN_LATENCY)}) as latency_p50,
      quantileExactInclusive(0.99)(${raw(RUN_LATENCY)}) as latency_p99,
      tupleElement(argMin(tuple(r.inputs_preview), r.start_time), 1) as first_inputs,
      tupleElement(argMax(tuple(r.outputs_preview), r.start_time), 1) as last_outputs,
      left(argMaxIf(r.error, r.start_time, r.error is not null), 250) as last_error
    ${selectRoots(scope, selection)}
    group by thread ${beyond}
    order by last_start desc, hash limit ${bind("UInt32", page.limit)} offset ${bind("UInt32", page.offset ?? 0)}`;
  return readRows<ThreadRow>(clickhouse.forTenant(scope.tenantId), "threads.select", statement);
}

/** Sums numbers exactly, so that the order in which threads of the engine add them changes no value of a cursor. */
const sumExactly = (value: string) => `toFloat64(sum(accurateCastOrNull(${value}, 'Decimal(76, 18)')))`;

/**
 * Returns a page of threads, sorted by what the list shows of them: the median latency of the turns, the sums of their
 * traces, the mean of their scores. Threads without a value come last; equal ones are by latest turn.
 */
export async function selectSortedThreads(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: ThreadSelection,
  sort: ThreadSortKey,
  page: { descending: boolean; limit: number; offset?: number; after?: ThreadPosition | undefined },
): Promise<(ThreadPosition & { thread: string })[]> {
  const { after, descending } = page;
  const roots = { ...selection, is_head: true, has_thread: true };
  const thread = ch`select r.id as id, assumeNotNull(r.thread_id) as thread, r.start_time as start_time
    ${selectRoots(scope, selection)}`;
  const key = feedbackKeyOf(sort);
  const values =
    sort === "latency" || sort === "start_time"
      ? ch`select assumeNotNull(r.thread_id) as thread, max(r.start_time) as last_start,
          ${raw(sort === "latency" ? `quantileExactInclusive(0.5)(${RUN_LATENCY})` : "toFloat64(toUnixTimestamp64Micro(last_start))")} as sort_value
          ${selectRoots(scope, selection)} group by thread`
      : key === undefined
        ? ch`select t.thread as thread, max(t.start_time) as last_start, ${raw(sumExactly("v.sort_value"))} as sort_value
            from (${thread}) as t any left join (select id, sort_value ${fromSortValues(scope, roots, sort)}) as v on v.id = t.id
            group by thread`
        : ch`select t.thread as thread, max(t.start_time) as last_start,
              ${raw(sumExactly("f.score"))} / count(f.score) as sort_value
            from (${thread}) as t left join (
              select run_id, score from feedback final
              where tenant_id = ${bind("UUID", scope.tenantId)} and key = ${bind("String", key)} and score is not null
            ) as f on f.run_id = t.id
            group by thread`;
  const beyond = after ? beyondValue(after.sort_value ?? null, descending, isOlder(after)) : raw("true");
  const statement = ch`select thread, last_start, hash, sort_value
    from (select *, hex(sipHash128(thread)) as hash from (${values}))
    where ${beyond}
    order by sort_value ${raw(descending ? "desc" : "asc")} nulls last, last_start desc, hash
    limit ${bind("UInt32", page.limit)} offset ${bind("UInt32", page.offset ?? 0)}`;
  return readRows(clickhouse.forTenant(scope.tenantId), "threads.sort", statement);
}

export async function countThreads(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: ThreadSelection,
): Promise<number> {
  const statement = ch`select uniqExact(r.thread_id) as n ${selectRoots(scope, selection)}`;
  const [row] = await readRows<{ n: number }>(clickhouse.forTenant(scope.tenantId), "threads.count", statement);
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
      ${fromRuns(scope, { projects, since }, [ch`r.trace_id in (select r.trace_id ${selectRoots(scope, selection)})`])}
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
