import type { Sql, Transaction } from "../../base/db/connect.ts";

/** Examples without a digest that get one at a time. */
const BATCH = 500;

export interface Duplicate {
  example_id: string;
  reason: "source_run" | "inputs";
}

/**
 * Finds the current example of a dataset that was taken from a run, else the oldest one with these inputs. Served by
 * dataset_examples_by_source and dataset_examples_by_inputs.
 */
export async function findDuplicate(
  sql: Sql | Transaction,
  tenantId: string,
  datasetId: string,
  { sourceRunId, digest }: { sourceRunId: string | null; digest: string },
): Promise<Duplicate | undefined> {
  const [row] = await sql<Duplicate[]>`
    (select example_id, 'source_run' as reason from dataset_examples
      where tenant_id = ${tenantId} and source_run_id = ${sourceRunId} and dataset_id = ${datasetId}
        and replaced_at is null order by created_at, example_id limit 1)
    union all
    (select example_id, 'inputs' from dataset_examples
      where tenant_id = ${tenantId} and dataset_id = ${datasetId} and inputs_digest = decode(${digest}, 'hex')
        and replaced_at is null order by created_at, example_id limit 1)
    limit 1`;
  return row;
}

/** Stores the digests of examples from before digests were kept. @returns false when all have one */
export async function addDigests(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  digest: (inputs: unknown) => string,
): Promise<boolean> {
  const rows = await tx<{ example_id: string; inputs: unknown }[]>`
    select example_id, inputs from dataset_examples
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and inputs_digest is null and replaced_at is null
    limit ${BATCH}`;
  if (rows.length === 0) return false;
  const digests = rows.map((row) => digest(row.inputs));
  await tx`
    update dataset_examples x set inputs_digest = decode(n.digest, 'hex')
    from unnest(${rows.map((row) => row.example_id)}::uuid[], ${digests}::text[]) as n (example_id, digest)
    where x.tenant_id = ${tenantId} and x.example_id = n.example_id and x.replaced_at is null`;
  return rows.length === BATCH;
}
