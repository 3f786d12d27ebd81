/**
 * Tokens and costs of runs as lists show them: of the head of a trace the sums of its trace, of all other runs their own
 * (contract §1.9). Filters, sorting and histograms use them, so that they mean what a reader sees.
 */
import { ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { IS_HEAD } from "../run-rows/clickhouse.ts";
import type { RunScope } from "./run-scope.ts";
import { fromRuns, type RunSelection, selectTraceSums } from "./selection.ts";
import type { Summed } from "./trace-sums.ts";

/**
 * Builds the source of the selected runs with their shown usage: columns `project_id`, `start_time`, `id` and `shown`,
 * a nullable Float64. Aggregates the traces of the selection's time range and later.
 */
export function fromShownUsage(scope: RunScope, selection: RunSelection, name: Summed): Fragment {
  return ch`from (
    select k.project_id as project_id, k.start_time as start_time, k.id as id,
      toFloat64(if(k.is_head, u.whole, k.own)) as shown
    from (
      select r.project_id, r.start_time, r.id, r.trace_id, ${raw(IS_HEAD)} as is_head, ${raw(`r.${name}`)} as own
      ${fromRuns(scope, selection)}) as k
    left any join (${selectTraceSums(scope, selection, name)}) as u on u.usage_trace = k.trace_id)`;
}
