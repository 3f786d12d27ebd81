import type { Sql } from "../../base/db/connect.ts";

export async function findBaseline(sql: Sql, tenantId: string, datasetId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string | null }[]>`
    select baseline_experiment_id as id from datasets where tenant_id = ${tenantId} and dataset_id = ${datasetId}`;
  return row?.id ?? undefined;
}

/** Sets the baseline of a dataset. @returns false when there is no such dataset */
export async function updateBaseline(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  experimentId: string | null,
): Promise<boolean> {
  const rows = await sql`
    update datasets set baseline_experiment_id = ${experimentId},
      modified_at = greatest(modified_at, date_trunc('milliseconds', clock_timestamp()))
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} returning 1`;
  return rows.length > 0;
}
