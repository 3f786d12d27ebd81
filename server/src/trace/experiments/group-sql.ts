import type { Sql } from "../../base/db/connect.ts";

/** Returns the examples of a dataset by the value of a metadata key. Lists and objects are no groups. */
export async function groupExamplesByMetadata(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  key: string,
): Promise<{ value: string | number; examples: string[] }[]> {
  const rows = await sql<{ value: unknown; examples: string[] }[]>`
    select metadata -> ${key} as value, array_agg(example_id::text) as examples from dataset_examples
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null and metadata ? ${key}
    group by 1 order by 1`;
  return rows.flatMap(({ value, examples }) => {
    if (typeof value === "boolean") return [{ value: String(value), examples }];
    return typeof value === "string" || typeof value === "number" ? [{ value, examples }] : [];
  });
}
