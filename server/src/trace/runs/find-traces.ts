import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { ch } from "../../base/clickhouse/fragment.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import { fromRuns, type RunSelection } from "./selection.ts";

/** Returns the traces that have a run in the selection. */
export async function findTraces(clickhouse: ClickHouse, scope: RunScope, selection: RunSelection): Promise<string[]> {
  const rows = await readRows<{ trace: string }>(
    clickhouse.askedBy(scope.tenantId),
    "runs.traces",
    ch`select distinct r.trace_id as trace ${fromRuns(scope, selection)}`,
  );
  return rows.map((row) => row.trace);
}
