import type { Sql, Transaction } from "../../base/db/connect.ts";
import { AppError } from "../../base/errors.ts";
import { createDataset } from "../datasets/create-dataset.ts";
import { findCorrectionsDataset } from "./correction-sql.ts";
import type { Definition } from "./definition.ts";

/**
 * Gives a judge that learns from corrections the dataset of its corrections, unless it names one: the one it had before,
 * or a new one.
 */
export async function withCorrectionsDataset(
  sql: Sql,
  tenantId: string,
  evaluator: { id: string; name: string },
  definition: Definition,
): Promise<Definition> {
  if (definition.type !== "llm" || definition.few_shot === null || definition.few_shot.dataset_id !== null) {
    return definition;
  }
  const dataset_id =
    (await findCorrectionsDataset(sql, tenantId, evaluator.id)) ?? (await create(sql, tenantId, evaluator));
  return { ...definition, few_shot: { ...definition.few_shot, dataset_id } };
}

async function create(sql: Sql | Transaction, tenantId: string, { id, name }: { id: string; name: string }) {
  const title = `Corrections of ${name}`;
  const description = `Judgements of the evaluator "${name}" that people corrected. The judge sees the newest of them.`;
  try {
    return await createDataset(sql, tenantId, { name: title, description });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    return createDataset(sql, tenantId, { name: `${title} (${id})`, description });
  }
}
