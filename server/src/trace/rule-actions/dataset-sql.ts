import type { Sql, Transaction } from "../../base/db/connect.ts";

/** Current example of a dataset that a new one may repeat. */
export interface KnownExample {
  example_id: string;
  source_run_id: string | null;
  /** Hash of the inputs' JSON text. */
  inputs_hash: string;
}

/**
 * Finds current examples of these runs, or with these inputs as JSON text. Served by dataset_examples_by_source and
 * dataset_examples_by_inputs.
 */
export const findKnownExamples = (
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  runIds: string[],
  hashes: string[],
): Promise<KnownExample[]> => tx<KnownExample[]>`
  select example_id, source_run_id, md5(inputs::text) as inputs_hash from dataset_examples
  where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null
    and source_run_id = any(${runIds}::uuid[])
  union all
  select example_id, source_run_id, md5(inputs::text) from dataset_examples
  where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null
    and md5(inputs::text) = any(${hashes}::text[])`;

/** Returns the newest correction of each run. */
export async function findCorrections(sql: Sql, tenantId: string, runIds: string[]): Promise<Map<string, unknown>> {
  const rows = await sql<{ run_id: string; correction: unknown }[]>`
    select distinct on (run_id) run_id, correction from feedback
    where tenant_id = ${tenantId} and run_id = any(${runIds}::uuid[]) and correction is not null
    order by run_id, modified_at desc, feedback_id desc`;
  return new Map(rows.map((row) => [row.run_id, row.correction]));
}
