import { createHash } from "node:crypto";

import { notFound } from "../../base/errors.ts";
import { uuid5 } from "../../base/ids.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { addExamples, type NewExample } from "../examples/write-examples.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import {
  type ActionContext,
  actInTransaction,
  type Item,
  MATCH_NAMESPACE,
  skipped,
  success,
} from "./action-context.ts";
import { findCorrections, findKnownExamples } from "./dataset-sql.ts";
import { mapExample } from "./map-example.ts";
import type { DatasetMapping } from "./mapping-schema.ts";
import type { Outcome } from "./match-sql.ts";

export interface DatasetOrder {
  datasetId: string;
  prefersCorrection: boolean;
  mapping: DatasetMapping | null;
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
    const wanted = held.map((item) => {
      const { inputs, outputs, metadata } = mapExample(item.run, mapping, corrections.get(item.match.run_id));
      const example: NewExample = {
        id: uuid5(`example ${item.match.match_id}`, MATCH_NAMESPACE),
        inputs,
        outputs,
        metadata: { ...metadata, rule_id: rule.rule_id },
        source_run_id: item.match.run_id,
      };
      return { item, example, hash: md5(JSON.stringify(inputs)) };
    });
    const known = await findKnownExamples(
      tx,
      tenantId,
      datasetId,
      wanted.map(({ item }) => item.match.run_id),
      wanted.map(({ hash }) => hash),
    );
    const sources = new Map(known.flatMap((row) => (row.source_run_id ? [[row.source_run_id, row.example_id]] : [])));
    const inputs = new Map(known.map((row) => [row.inputs_hash, row.example_id]));
    const added: NewExample[] = [];
    const outcomes = wanted.map(({ item, example, hash }): readonly [Item, Outcome] => {
      const source = sources.get(item.match.run_id);
      if (source !== undefined) return [item, repeated(`Example ${source} of the dataset is from this run.`, source)];
      const same = inputs.get(hash);
      if (same !== undefined) return [item, repeated(`Example ${same} of the dataset has the same inputs.`, same)];
      inputs.set(hash, example.id!);
      added.push(example);
      return [item, success({ dataset_id: datasetId, example_id: example.id })];
    });
    if (added.length > 0) await addExamples(tx, tenantId, datasetId, added);
    return outcomes;
  });
}

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

function repeated(reason: string, exampleId: string): Outcome {
  const { payload } = skipped(reason);
  return { outcome: "skipped", payload: { ...payload, example_id: exampleId } };
}
