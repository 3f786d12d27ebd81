import type { Sql, Transaction } from "../../base/db/connect.ts";

/** Returns the dataset of that id, else of that name. */
export async function findDatasetId(
  sql: Sql,
  tenantId: string,
  { id, name }: { id: string | undefined; name: string | undefined },
): Promise<string | undefined> {
  const [row] = await sql<{ dataset_id: string }[]>`
    select dataset_id from datasets where tenant_id = ${tenantId}
      and ${id === undefined ? sql`name = ${name!}` : sql`dataset_id = ${id}`}`;
  return row?.dataset_id;
}

export interface UploadedExperiment {
  id: string;
  dataset: string | null;
  /** Digest of the upload that created it; null for other projects. */
  digest: string | null;
}

export async function findUploaded(
  sql: Sql | Transaction,
  tenantId: string,
  name: string,
): Promise<UploadedExperiment | undefined> {
  const [row] = await sql<UploadedExperiment[]>`
    select project_id as id, reference_dataset_id as dataset, experiment ->> 'upload_digest' as digest
    from projects where tenant_id = ${tenantId} and name = ${name}`;
  return row;
}
