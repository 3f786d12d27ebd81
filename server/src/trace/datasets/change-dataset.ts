import type { Sql } from "../../base/db/connect.ts";
import { conflict, notFound } from "../../base/errors.ts";
import { checkExamples, checkSchema } from "./check-examples.ts";
import type { DatasetPatch } from "./schema.ts";
import { findDatasetRow, selectStates, updateDataset } from "./sql.ts";

/** Examples validated against a new schema per batch. */
const BATCH = 500;

/**
 * Changes a dataset.
 * @throws 404 without such a dataset, 409 for a name already in use, 422 for an unusable schema or one that examples of
 * the dataset violate
 */
export async function changeDataset(sql: Sql, tenantId: string, id: string, patch: DatasetPatch): Promise<void> {
  checkSchema("inputs_schema_definition", patch.inputs_schema_definition);
  checkSchema("outputs_schema_definition", patch.outputs_schema_definition);
  try {
    await sql.begin(async (tx) => {
      // locked, so that no example validated against the old schema is added in between
      if (!(await findDatasetRow(tx, tenantId, id, "lock"))) throw notFound("Dataset not found");
      await updateDataset(tx, tenantId, id, patch);
      if (!patch.inputs_schema_definition && !patch.outputs_schema_definition) return;
      const changed = (await findDatasetRow(tx, tenantId, id))!;
      for (let after: string | null = null; ;) {
        const states: Awaited<ReturnType<typeof selectStates>> = await selectStates(tx, tenantId, id, after, BATCH);
        checkExamples(changed, states);
        if (states.length < BATCH) return;
        after = states.at(-1)!.example_id;
      }
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "23505") throw error;
    throw conflict(`A dataset named "${String(patch.name)}" already exists.`);
  }
}
