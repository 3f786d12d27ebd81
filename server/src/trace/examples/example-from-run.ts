/**
 * Examples from runs: the fields of a run are mapped to an example, the dataset's transformations are applied, and the
 * result is stored unless the dataset already has it. Used by rules, annotation queues and the console.
 */
import type { Transaction } from "../../base/db/connect.ts";
import { notFound } from "../../base/errors.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { type DatasetRow, findDatasetRow } from "../datasets/sql.ts";
import { digestInputs } from "./canonical-inputs.ts";
import { addDigests, type Duplicate, findDuplicate } from "./duplicates-sql.ts";
import { type MappedExample, mapRun, type SourceRun } from "./map-run.ts";
import type { OnDuplicate, RunMapping } from "../datasets/mapping-schema.ts";
import { transformExample } from "./transform-example.ts";
import { addExamples, changeExamples } from "./write-examples.ts";

export interface FromRunOptions {
  /** What happens to a run that the dataset has, or whose inputs it has: nothing by default. */
  onDuplicate?: OnDuplicate | undefined;
  /** Outputs to be stored instead of the run's: a correction. */
  outputs?: Record<string, unknown> | undefined;
  /** Added to the mapped metadata. */
  metadata?: Record<string, unknown> | undefined;
  split?: string | string[] | null | undefined;
  /** Id of a new example. With the same id a repetition changes nothing. */
  exampleId?: string | undefined;
}

export interface FromRunResult {
  outcome: "added" | "replaced" | "skipped";
  example_id: string;
  /** Why it was replaced or skipped. */
  duplicate_of: Duplicate["reason"] | null;
  /** Paths of the mapping that the run does not have. */
  missing: string[];
}

export interface PreparedExample {
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
  missing: string[];
}

/** Maps and transforms a run. `mapping` null: that of the dataset, else the run's inputs and outputs. */
export function prepareExample(
  dataset: DatasetRow,
  run: SourceRun,
  mapping: RunMapping | null | undefined,
  { outputs, metadata }: Pick<FromRunOptions, "outputs" | "metadata"> = {},
): PreparedExample {
  // Postgres stores no null characters
  const mapped = cleanStrings(mapRun(run, mapping ?? dataset.run_mapping)) as MappedExample;
  const example = { ...mapped, ...(outputs && { outputs }), metadata: { ...mapped.metadata, ...metadata } };
  return transformExample(example, dataset.transformations ?? [], {
    tools: run.tools ?? [],
    schemas: { inputs: dataset.inputs_schema_definition, outputs: dataset.outputs_schema_definition },
  });
}

/**
 * Makes an example of a run within a transaction. Locks the dataset.
 * @param mapping null: the one that the dataset remembers, else the run's inputs and outputs
 * @throws 404 for an unknown dataset, 422 for an example that its schemas exclude
 */
export async function addExampleFromRun(
  tx: Transaction,
  { tenantId, id }: { tenantId: string; id: string },
  run: SourceRun,
  mapping: RunMapping | null,
  options: FromRunOptions = {},
): Promise<FromRunResult> {
  const dataset = await findDatasetRow(tx, tenantId, id, "lock");
  if (!dataset) throw notFound("Dataset not found");
  const { inputs, outputs, metadata, missing } = prepareExample(dataset, run, mapping, options);
  const { onDuplicate = "skip", split, exampleId } = options;
  const duplicate = onDuplicate === "add" ? undefined : await findSame(tx, tenantId, id, run.id, inputs);
  if (duplicate && onDuplicate === "skip") {
    return { outcome: "skipped", example_id: duplicate.example_id, duplicate_of: duplicate.reason, missing };
  }
  if (duplicate) {
    const change = { id: duplicate.example_id, inputs, outputs, metadata, split, source_run_id: run.id };
    await changeExamples(tx, tenantId, id, [change]);
    return { outcome: "replaced", example_id: duplicate.example_id, duplicate_of: duplicate.reason, missing };
  }
  const example = { id: exampleId, inputs, outputs, metadata, split, source_run_id: run.id };
  const { example_ids } = await addExamples(tx, tenantId, id, [example]);
  return { outcome: "added", example_id: example_ids[0]!, duplicate_of: null, missing };
}

/** Finds what a dataset, which must be locked, has of a run or of inputs. */
export async function findSame(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  sourceRunId: string | null,
  inputs: Record<string, unknown>,
): Promise<Duplicate | undefined> {
  while (await addDigests(tx, tenantId, datasetId, digestInputs));
  return findDuplicate(tx, tenantId, datasetId, { sourceRunId, digest: digestInputs(inputs) });
}
