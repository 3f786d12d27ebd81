import type { Sql } from "../../base/db/connect.ts";

/** Returns the dataset of each example. Served by dataset_examples_current. */
export async function findExampleDatasets(
  sql: Sql,
  tenantId: string,
  exampleIds: string[],
): Promise<Map<string, string>> {
  if (exampleIds.length === 0) return new Map();
  const rows = await sql<{ example_id: string; dataset_id: string }[]>`
    select distinct example_id, dataset_id from dataset_examples
    where tenant_id = ${tenantId} and example_id = any(${exampleIds}::uuid[])`;
  return new Map(rows.map((row) => [row.example_id, row.dataset_id]));
}

/** Returns the given runs that are the source of an example. */
export async function findExamplesFrom(sql: Sql, tenantId: string, runIds: string[]): Promise<Set<string>> {
  if (runIds.length === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    select distinct source_run_id as id from dataset_examples
    where tenant_id = ${tenantId} and source_run_id = any(${runIds}::uuid[]) and replaced_at is null`;
  return new Set(rows.map((row) => row.id));
}
