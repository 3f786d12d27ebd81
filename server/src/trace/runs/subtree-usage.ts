/** Usage of a run with its descendants, for `include_subtree_usage` of v2. */
import { bind, ch } from "../../base/clickhouse/fragment.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import type { Row } from "./select-page.ts";
import { fromRuns } from "./selection.ts";

const TOKENS = ["total_tokens", "prompt_tokens", "completion_tokens"] as const;
const COSTS = ["total_cost", "prompt_cost", "completion_cost"] as const;

/** Runs of the traces that are read, at most. */
const MAX_RUNS = 200_000;

/**
 * Sets the usage of runs with descendants to that of their subtree, and their first token to its earliest. As for a
 * whole trace, model calls count if any reports a value, since chains around them often repeat it; else the run's own
 * value; else all runs.
 */
export async function addSubtreeUsage(clickhouse: ClickHouse, scope: RunScope, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const traces = {
    projects: [...new Set(rows.map((row) => row.project_id))],
    traces: [...new Set(rows.flatMap((row) => row.trace_id ?? []))],
  };
  const statement = ch`select r.id, r.trace_id, r.dotted_order, r.run_type, r.repeats_usage, r.total_tokens, r.prompt_tokens,
    r.completion_tokens, r.total_cost, r.prompt_cost, r.completion_cost, r.first_token_time
    ${fromRuns(scope, traces)} order by r.dotted_order limit ${bind("UInt32", MAX_RUNS)}`;
  const runs = await readRows<Row>(clickhouse.forTenant(scope.tenantId), "runs.subtrees", statement);
  const known = new Map(runs.map((run) => [run.id, run]));
  for (const row of rows) {
    const order = known.get(row.id)?.dotted_order;
    const below = order ? runs.filter((run) => run.dotted_order?.startsWith(`${order}.`)) : [];
    if (below.length === 0) continue;
    const subtree = [known.get(row.id)!, ...below];
    for (const name of TOKENS) row[name] = counted(subtree, name)?.reduce((sum, run) => sum + Number(run[name]), 0);
    for (const name of COSTS) {
      const costs = counted(subtree, name)?.map((run) => parseDecimal(run[name]) ?? 0n);
      row[name] = costs && formatDecimal(costs.reduce((sum, cost) => sum + cost));
    }
    row.first_token_time = subtree.flatMap((run) => run.first_token_time ?? []).toSorted()[0];
  }
}

function counted(subtree: Row[], name: (typeof TOKENS | typeof COSTS)[number]): Row[] | undefined {
  const reporting = subtree.filter((run) => run[name] != null);
  const isModel = ({ run_type }: Row) => run_type === "llm" || run_type === "embedding";
  const calls = reporting.filter((run) => isModel(run) && run.repeats_usage !== true);
  if (calls.length > 0) return calls;
  if (reporting[0] === subtree[0] && reporting[0]) return [reporting[0]];
  return reporting.length > 0 ? reporting : undefined;
}
