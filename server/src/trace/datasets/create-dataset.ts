import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { checkSchema } from "./check-examples.ts";
import type { DatasetCreate } from "./schema.ts";
import { insertDataset } from "./sql.ts";

/** @returns the id. @throws 409 when the workspace already has a dataset with that name or id, 422 for an unusable schema */
export async function createDataset(sql: Sql | Transaction, tenantId: string, given: DatasetCreate): Promise<string> {
  checkSchema("inputs_schema_definition", given.inputs_schema_definition);
  checkSchema("outputs_schema_definition", given.outputs_schema_definition);
  const dataset_id = given.id ?? uuid7();
  const inserted = await insertDataset(sql, {
    dataset_id,
    tenant_id: tenantId,
    name: given.name,
    description: given.description ?? null,
    data_type: given.data_type ?? "kv",
    inputs_schema_definition: given.inputs_schema_definition ?? null,
    outputs_schema_definition: given.outputs_schema_definition ?? null,
    metadata: given.metadata ?? given.extra?.metadata ?? null,
    created_at: given.created_at ?? new Date().toISOString(),
  });
  if (!inserted) throw conflict(`A dataset named "${given.name}" already exists.`);
  return dataset_id;
}
