/** The runs of whole traces, with what sums over them and their trees need. */
import { bind, ch, raw } from "../../base/clickhouse/fragment.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { groupBy } from "../../base/group-by.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { isHead } from "../run-rows/clickhouse.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import type { Row } from "./select-page.ts";
import { fromRuns, ONE_TRACE } from "./selection.ts";
import { earliestRun, SUMMED, type Summed } from "./trace-sums.ts";
import type { TraceTotals } from "./trace-totals.ts";

/** Runs that are read, at most. */
export const MAX_TRACE_RUNS = 200_000;

/** Columns of `runs as r`, besides the key. */
export const TRACE_RUN_COLUMNS =
  `r.parent_run_id r.provisional_root r.dotted_order r.run_type r.repeats_usage r.first_token_time
  r.total_tokens r.prompt_tokens r.completion_tokens r.total_cost r.prompt_cost r.completion_cost`.split(/\s+/);

/** Reads the runs of these traces, ordered by their place in the tree; `since` is the start of the first head. */
export const readTraceRuns = (
  clickhouse: ClickHouse,
  scope: RunScope,
  { projects, traces, since }: { projects: string[]; traces: string[]; since?: MicroTime | undefined },
): Promise<Row[]> =>
  readRows<Row>(
    clickhouse.forTenant(scope.tenantId),
    "runs.trace_runs",
    ch`select r.start_time, r.id, r.trace_id, ${raw(TRACE_RUN_COLUMNS.join(", "))}
      ${fromRuns(scope, { projects, traces, since: since && earliestRun(since) })}
      order by r.dotted_order limit ${bind("UInt32", MAX_TRACE_RUNS)}`,
    traces.length === 1 ? ONE_TRACE : {},
  );

const isCall = ({ run_type, repeats_usage }: Row): boolean =>
  (run_type === "llm" || run_type === "embedding") && repeats_usage !== true;

/**
 * Sums a column over the runs of a trace or of a subtree by the rule of TRACE_SUMS: over model calls if any reports a
 * value, since chains around them often repeat it; else the value of a head; else over all. Null without any value.
 */
export function sumUsage(runs: readonly Row[], heads: readonly Row[], name: Summed): number | string | null {
  const reporting = runs.filter((run) => run[name] != null);
  const calls = reporting.filter(isCall);
  const head = heads.find((run) => run[name] != null);
  const counted = calls.length > 0 ? calls : head ? [head] : reporting;
  if (counted.length === 0) return null;
  return name.endsWith("_cost")
    ? formatDecimal(counted.reduce((sum, run) => sum + (parseDecimal(run[name]) ?? 0n), 0n))
    : counted.reduce((sum, run) => sum + Number(run[name]), 0);
}

/** Returns the earliest first token of these runs. */
export const firstToken = (runs: readonly Row[]): MicroTime | undefined =>
  runs.flatMap((run) => run.first_token_time ?? []).toSorted()[0] as MicroTime | undefined;

/** Sums whole traces, as `readTraceTotals` does in the engine. */
export function sumTraces(runs: readonly Row[]): Map<string, TraceTotals> {
  const traces = groupBy(runs, (run) => run.trace_id!);
  return new Map(
    Array.from(traces, ([trace, own]) => {
      const heads = own.filter(isHead);
      const sums = Object.fromEntries(SUMMED.map((name) => [`trace_${name}`, sumUsage(own, heads, name)]));
      return [trace, { trace, first_token: firstToken(own) ?? null, ...sums } as TraceTotals];
    }),
  );
}
