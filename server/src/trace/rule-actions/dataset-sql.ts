import type { Sql } from "../../base/db/connect.ts";

/** Returns the newest correction of each run. */
export async function findCorrections(sql: Sql, tenantId: string, runIds: string[]): Promise<Map<string, unknown>> {
  const rows = await sql<{ run_id: string; correction: unknown }[]>`
    select distinct on (run_id) run_id, correction from feedback
    where tenant_id = ${tenantId} and run_id = any(${runIds}::uuid[]) and correction is not null
    order by run_id, modified_at desc, feedback_id desc`;
  return new Map(rows.map((row) => [row.run_id, row.correction]));
}
