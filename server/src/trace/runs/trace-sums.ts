/** Usage of a whole trace, as SQL over its runs. */
import { type MicroTime, parseTime } from "../run-rows/times.ts";
import { IS_CALL, IS_HEAD } from "../run-rows/clickhouse.ts";

export const SUMMED = [
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "total_cost",
  "prompt_cost",
  "completion_cost",
] as const;
export type Summed = (typeof SUMMED)[number];

/** Difference between the clocks of machines up to which a run may begin before the root of its trace. */
const SKEW_MS = 60_000;

/** Returns the time from which runs may belong to traces whose heads begin at `since` or later. */
export const earliestRun = (since: MicroTime): MicroTime | undefined =>
  parseTime(Date.parse(`${since.replace(" ", "T")}Z`) - SKEW_MS);

/**
 * Sums over the runs of a trace, for a statement grouped by trace: over model calls if any reports a value, since
 * chains around them often repeat it; else the root's value; else over all runs. Columns are named `trace_total_tokens`
 * and so on, because an alias must not hide a column.
 */
export const TRACE_SUMS = SUMMED.map((name) => `${sumOfTrace(name)} as trace_${name}`).join(", ");

/** Builds one of these sums. */
export function sumOfTrace(name: Summed): string {
  return `coalesce(sumIf(r.${name}, ${IS_CALL}), anyIf(r.${name}, ${IS_HEAD}), sum(r.${name}))`;
}
