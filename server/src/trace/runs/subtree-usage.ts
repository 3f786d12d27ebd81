/** Usage of a run with its descendants, for `include_subtree_usage` of v2. */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { RunScope } from "./run-scope.ts";
import type { Row } from "./select-page.ts";
import { firstToken, readTraceRuns, sumUsage } from "./trace-runs.ts";
import { SUMMED } from "./trace-sums.ts";

/** Sets the usage of runs with descendants to that of their subtree, and their first token to its earliest. */
export async function addSubtreeUsage(clickhouse: ClickHouse, scope: RunScope, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const projects = [...new Set(rows.map((row) => row.project_id))];
  const traces = [...new Set(rows.flatMap((row) => row.trace_id ?? []))];
  const runs = await readTraceRuns(clickhouse, scope, { projects, traces });
  const known = new Map(runs.map((run) => [run.id, run]));
  for (const row of rows) {
    const order = known.get(row.id)?.dotted_order;
    const below = order ? runs.filter((run) => run.dotted_order?.startsWith(`${order}.`)) : [];
    if (below.length === 0) continue;
    const head = known.get(row.id)!;
    const subtree = [head, ...below];
    const sums = Object.fromEntries(SUMMED.map((name) => [name, sumUsage(subtree, [head], name) ?? undefined]));
    Object.assign(row, sums, { first_token_time: firstToken(subtree) });
  }
}
