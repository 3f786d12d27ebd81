import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { tagNew } from "../resource-tags/change-tags.ts";
import { checkSchema } from "./check-examples.ts";
import type { DatasetCreate } from "./schema.ts";
import { insertDataset } from "./sql.ts";

/** @returns the id. @throws 409 when the workspace already has a dataset with that name or id, 422 for an unusable schema */
export async function createDataset(sql: Sql | Transaction, tenantId: string, dataset: DatasetCreate): Promise<string> {
  checkSchema("inputs_schema_definition", dataset.inputs_schema_definition);
  checkSchema("outputs_schema_definition", dataset.outputs_schema_definition);
  const dataset_id = dataset.id ?? uuid7();
  const inserted = await insertDataset(sql, {
    dataset_id,
    tenant_id: tenantId,
    name: dataset.name,
    description: dataset.description ?? null,
    data_type: dataset.data_type ?? "kv",
    inputs_schema_definition: dataset.inputs_schema_definition ?? null,
    outputs_schema_definition: dataset.outputs_schema_definition ?? null,
    metadata: dataset.metadata ?? dataset.extra?.metadata ?? null,
    transformations: dataset.transformations ?? null,
    created_at: dataset.created_at ?? new Date().toISOString(),
  });
  if (!inserted) throw conflict(`A dataset named "${dataset.name}" already exists.`);
  await tagNew(sql, tenantId, dataset_id, "dataset", dataset.tag_value_ids);
  return dataset_id;
}
