import { notFound } from "../../base/errors.ts";
import { uuid5 } from "../../base/ids.ts";
import type { RunMapping } from "../datasets/mapping-schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { addExampleFromRun, type FromRunResult } from "../examples/example-from-run.ts";
import { asObject } from "../examples/map-run.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import {
  type ActionContext,
  actInTransaction,
  type Item,
  MATCH_NAMESPACE,
  skipped,
  success,
} from "./action-context.ts";
import { findCorrections } from "./dataset-sql.ts";
import type { Outcome } from "./match-sql.ts";

export interface DatasetOrder {
  datasetId: string;
  prefersCorrection: boolean;
  /** Null: the one that the dataset remembers. */
  mapping: RunMapping | null;
}

/**
 * Adds the runs to a dataset as examples, whose ids follow from the matches. A run that is the source of an example of
 * the dataset, or whose inputs an example has, is skipped.
 */
export async function addToDataset(
  context: ActionContext,
  { datasetId, prefersCorrection, mapping }: DatasetOrder,
  items: readonly Item[],
): Promise<void> {
  const { deps, batch, rule } = context;
  const tenantId = batch.tenant_id;
  await extendTraces(
    deps,
    tenantId,
    items.map(({ match }) => match),
  );
  const runIds = items.map(({ match }) => match.run_id);
  const corrections = prefersCorrection
    ? await findCorrections(deps.sql, tenantId, runIds)
    : new Map<string, unknown>();
  await actInTransaction(context, "add_to_dataset", items, async (tx, held) => {
    if (!(await findDatasetRow(tx, tenantId, datasetId, "lock"))) throw notFound("Dataset not found");
    const outcomes: (readonly [Item, Outcome])[] = [];
    for (const item of held) {
      const correction = corrections.get(item.match.run_id);
      const options = {
        exampleId: uuid5(`example ${item.match.match_id}`, MATCH_NAMESPACE),
        metadata: { rule_id: rule.rule_id },
        outputs: asObject(correction, "output") ?? undefined,
      };
      const result = await addExampleFromRun(tx, { tenantId, id: datasetId }, item.run, mapping, options);
      outcomes.push([item, describe(datasetId, result)]);
    }
    return outcomes;
  });
}

function describe(datasetId: string, { outcome, example_id: id, duplicate_of: why }: FromRunResult): Outcome {
  if (outcome !== "skipped") return success({ dataset_id: datasetId, example_id: id });
  const same = why === "source_run" ? "is from this run" : "has the same inputs";
  const { payload } = skipped(`Example ${id} of the dataset ${same}.`);
  return { outcome: "skipped", payload: { ...payload, example_id: id } };
}
