import { AppError, notFound } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { parseTime } from "../run-rows/times.ts";
import { serializeFeedback } from "../runs/serialize-v2.ts";
import { naive, zulu } from "../runs/run-fields.ts";
import type { RunScope } from "../runs/run-scope.ts";
import type { PageDeps } from "../runs/select-page.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import type { ThreadSortKey } from "../runs/sort-keys.ts";
import { computeFeedbackStats, computeStats } from "../runs/stats.ts";
import type { DetailColumn } from "../runs/trace-totals.ts";
import {
  countThreads,
  readThreadTotals,
  type PageOfThreads,
  selectThreads,
  type ThreadPosition,
  type ThreadRow,
  type ThreadSelection,
  type ThreadTotals,
} from "./clickhouse.ts";
import type { GroupBody, STATS, ThreadsBody } from "./schema.ts";

/** Data of a thread on a page, other than its turns. */
interface About<T> {
  totals: T | undefined;
  feedback: Record<string, object>;
}

/** @param readTotals reads what the traces of these threads used, by thread */
async function about<T>(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  scope: RunScope,
  selection: ThreadSelection,
  threads: ThreadRow[],
  readTotals: (selection: ThreadSelection, names: string[]) => Promise<Map<string, T>>,
): Promise<(thread: string) => About<T>> {
  if (threads.length === 0) return () => ({ totals: undefined, feedback: {} });
  const bounded = { ...selection, ...boundsOf(threads) };
  const names = threads.map(({ thread }) => thread);
  const [totals, feedback] = await Promise.all([
    readTotals(bounded, names),
    computeFeedbackStats(clickhouse, scope, {
      selection: { ...bounded, threads: names, is_head: true },
      grouping: { attribute: "thread" },
    }),
  ]);
  return (thread) => ({
    totals: totals.get(thread),
    feedback: Object.fromEntries(
      feedback
        .filter((entry) => entry.group_name === thread)
        .map(({ group_name: _group, feedback_key, ...stats }) => [feedback_key, { ...stats, comments: [] }]),
    ),
  });
}

/** Like `about`, with the details of usage. */
const aboutInDetail = (
  deps: Pick<TraceDeps, "clickhouse">,
  scope: RunScope,
  selection: ThreadSelection,
  threads: ThreadRow[],
) =>
  about(deps, scope, selection, threads, (bounded, names) =>
    readThreadTotals(deps.clickhouse, scope, { ...bounded, threads: names }),
  );

const money = (text: string | number | null | undefined): number | null => (text == null ? null : Number(text));

/** Bounds of the starts of the threads' turns. */
const boundsOf = (threads: readonly ThreadRow[]) => ({
  since: threads.map(({ first_start }) => first_start).toSorted()[0]!,
  until: threads
    .map(({ last_start }) => last_start)
    .toSorted()
    .at(-1)!,
});

/** Selects a page of threads in the order asked for; `end` is set if more follow. */
async function selectPage(
  deps: PageDeps,
  scope: RunScope,
  selection: ThreadSelection,
  page: PageOfThreads,
): Promise<{ threads: ThreadRow[]; end: ThreadPosition | undefined }> {
  const found = await selectThreads(deps, scope, selection, { ...page, limit: page.limit + 1 });
  const threads = found.slice(0, page.limit);
  return { threads, end: found.length > page.limit ? threads.at(-1) : undefined };
}

/** Returns the response of `POST /runs/group`. */
export async function groupByThread(
  deps: TraceDeps,
  scope: RunScope,
  selection: ThreadSelection,
  { order_by: sort, order, limit, offset }: Pick<GroupBody, "limit" | "offset" | "order_by" | "order">,
): Promise<{ groups: object[]; total: number }> {
  const [{ threads }, total] = await Promise.all([
    selectPage(deps, scope, selection, { sort, descending: order === "desc", limit, offset }),
    countThreads(deps, scope, selection),
  ]);
  const describeThread = await about(deps, scope, selection, threads, (bounded, groups) =>
    computeStats(deps, scope, {
      selection: { ...bounded, is_head: true, has_thread: true },
      metrics: ["total_tokens", "total_cost"],
      grouping: { attribute: "thread" },
      groups,
      maxGroups: groups.length,
    }),
  );
  const groups = threads.map((row) => {
    const { totals, feedback } = describeThread(row.thread);
    return {
      thread_id: row.thread,
      group_key: row.thread,
      filter: `eq(thread_id, ${JSON.stringify(row.thread)})`,
      count: row.turns,
      total_tokens: totals?.total_tokens ?? null,
      total_cost: money(totals?.total_cost),
      min_start_time: naive(row.first_start),
      max_start_time: naive(row.last_start),
      latency_p50: row.latency_p50,
      latency_p99: row.latency_p99,
      feedback_stats: feedback,
      first_inputs: row.first_inputs,
      last_outputs: row.last_outputs,
      last_error: row.last_error,
    };
  });
  return { groups, total };
}

/** Returns a page of `POST /v2/threads/query`; properties without a value are omitted. */
export async function queryThreads(
  deps: TraceDeps,
  scope: RunScope,
  selection: ThreadSelection,
  { order_by: sort, sort_order, page_size: limit, cursor }: ThreadsBody,
): Promise<{ items: object[]; has_more: boolean; next_cursor?: string }> {
  const page = { sort, descending: sort_order === "DESC", limit, after: readThreadCursor(cursor, sort) };
  const { threads, end } = await selectPage(deps, scope, selection, page);
  const describeThread = await aboutInDetail(deps, scope, selection, threads);
  const items = threads.map((row) => {
    const { totals, feedback } = describeThread(row.thread);
    return present({
      thread_id: row.thread,
      count: row.turns,
      trace_id: row.last_trace,
      first_trace_id: row.first_trace,
      last_trace_id: row.last_trace,
      start_time: zulu(row.last_start),
      min_start_time: zulu(row.first_start),
      max_start_time: zulu(row.last_start),
      latency_p50: row.latency_p50,
      latency_p99: row.latency_p99,
      total_tokens: totals?.total_tokens,
      total_cost: money(totals?.total_cost),
      total_token_details: together(totals?.prompt_token_details, totals?.completion_token_details),
      total_cost_details: together(totals?.prompt_cost_details, totals?.completion_cost_details),
      feedback_stats: JSON.parse(serializeFeedback(feedback)) as object,
      first_inputs: row.first_inputs,
      last_outputs: row.last_outputs,
      last_error: row.last_error,
      num_errored_turns: row.errored_turns,
    });
  });
  return { items, has_more: end !== undefined, ...(end && { next_cursor: encodeThreadCursor(end, sort) }) };
}

/** Returns statistics over one thread, by the names that select them. Throws 404 when there is no such thread. */
export async function statsOfThread(
  deps: TraceDeps,
  scope: RunScope,
  selection: ThreadSelection,
  selects: readonly string[] | undefined,
): Promise<object> {
  const [row] = await selectThreads(deps, scope, selection, { sort: "start_time", descending: true, limit: 1 });
  if (!row) throw notFound("Thread not found");
  const { totals, feedback } = (await aboutInDetail(deps, scope, selection, [row]))(row.thread);
  const raw = (details: ThreadTotals[DetailColumn] | undefined) => ({ raw: together(details, undefined) });
  const statistics: Record<(typeof STATS)[number], [string, unknown]> = {
    TURNS: ["turns", row.turns],
    FIRST_START_TIME: ["first_start_time", zulu(row.first_start)],
    LAST_START_TIME: ["last_start_time", zulu(row.last_start)],
    LAST_END_TIME: ["last_end_time", row.last_end === null ? null : zulu(row.last_end)],
    LATENCY_P50: ["latency_p50_seconds", row.latency_p50],
    LATENCY_P99: ["latency_p99_seconds", row.latency_p99],
    PROMPT_TOKENS: ["prompt_tokens", totals?.prompt_tokens],
    PROMPT_COST: ["prompt_cost", money(totals?.prompt_cost)],
    COMPLETION_TOKENS: ["completion_tokens", totals?.completion_tokens],
    COMPLETION_COST: ["completion_cost", money(totals?.completion_cost)],
    TOTAL_TOKENS: ["total_tokens", totals?.total_tokens],
    TOTAL_COST: ["total_cost", money(totals?.total_cost)],
    PROMPT_TOKEN_DETAILS: ["prompt_token_details", raw(totals?.prompt_token_details)],
    COMPLETION_TOKEN_DETAILS: ["completion_token_details", raw(totals?.completion_token_details)],
    PROMPT_COST_DETAILS: ["prompt_cost_details", raw(totals?.prompt_cost_details)],
    COMPLETION_COST_DETAILS: ["completion_cost_details", raw(totals?.completion_cost_details)],
    FEEDBACK_STATS: ["feedback_stats", JSON.parse(serializeFeedback(feedback))],
  };
  const selected = Object.entries(statistics).filter(([name]) => selects?.includes(name) ?? false);
  return present(Object.fromEntries(selected.map(([, entry]) => entry)));
}

const present = (values: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));

/** Adds whole numbers or decimal text by category, exactly. */
function together(a: ThreadTotals[DetailColumn] = {}, b: ThreadTotals[DetailColumn] = {}): Record<string, number> {
  const sums = new Map<string, bigint>();
  for (const [key, value] of [...Object.entries(a), ...Object.entries(b)])
    sums.set(key, (sums.get(key) ?? 0n) + (parseDecimal(value) ?? 0n));
  return Object.fromEntries(Array.from(sums, ([key, sum]) => [key, Number(formatDecimal(sum))]));
}

const encodeThreadCursor = ({ last_start, hash, sort_value }: ThreadPosition, sort: ThreadSortKey): string =>
  Buffer.from(JSON.stringify([last_start, hash, ...(sort_value === undefined ? [] : [sort, sort_value])])).toString(
    "base64url",
  );

function readThreadCursor(text: string | undefined, sort: ThreadSortKey): ThreadPosition | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const [at, hash, key = "start_time", sort_value = null] = JSON.parse(Buffer.from(text, "base64url").toString()) as [
      string,
      string,
      string?,
      (number | null)?,
    ];
    const last_start = parseTime(at);
    const isValue = sort_value === null || Number.isFinite(sort_value);
    if (last_start !== undefined && typeof hash === "string" && key === sort && isValue)
      return { last_start, hash, sort_value };
  } catch {
    // falls through
  }
  throw new AppError(400, "Invalid cursor: it must come from an earlier response to the same query");
}
