import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { HeldError, rejectHeldProjects } from "../legal-holds/check-holds.ts";
import { activeHolds } from "../legal-holds/sql.ts";
import { findTraces } from "../runs/delete-clickhouse.ts";
import { RunScope } from "../runs/run-scope.ts";

/** @throws 409 while one of the traces has a run in a held project, or the workspace is held */
export async function rejectHeldTraces(
  { sql, clickhouse }: { sql: Sql | Transaction; clickhouse: ClickHouse },
  tenantId: string,
  traces: readonly string[],
): Promise<void> {
  if (traces.length === 0) return;
  const holds = await activeHolds(sql, tenantId);
  if (holds.length === 0) return;
  await rejectHeldProjects(sql, tenantId, []);
  const scope = RunScope.ofTenant(tenantId);
  for (const hold of holds) {
    const [found] = await findTraces(clickhouse, scope, { projects: [hold.project_id!], traces });
    if (found !== undefined) throw new HeldError(`Trace ${found}, of project ${hold.project_id},`, hold);
  }
}
