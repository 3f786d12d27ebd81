/**
 * Every change of examples creates a version of the dataset: changed states end at the version's time, new ones begin
 * there. Writers of one dataset are serialized by a lock on its row, so that versions are ordered and states never
 * overlap.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { TraceDeps } from "../deps.ts";
import { AppError, conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { checkExamples } from "../datasets/check-examples.ts";
import { rejectHeldWorkspace } from "../legal-holds/check-holds.ts";
import type { AttachmentsOperations } from "./schema.ts";
import {
  type Attachments,
  endExamples,
  eraseExamples,
  type ExampleState,
  findExampleDatasets,
  insertExamples,
} from "./sql.ts";
import { type DatasetRow, findDatasetRow } from "../datasets/sql.ts";
import { beginVersion } from "../datasets/version-sql.ts";

export interface Written {
  count: number;
  example_ids: string[];
  as_of: string;
}

export interface NewExample {
  id?: string | null | undefined;
  inputs?: Record<string, unknown> | null | undefined;
  outputs?: Record<string, unknown> | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  split?: string | string[] | null | undefined;
  source_run_id?: string | null | undefined;
  created_at?: string | null | undefined;
  attachments?: Attachments | null | undefined;
}

/** Null or absent fields stay unchanged. */
export interface ExampleChange {
  id: string;
  inputs?: Record<string, unknown> | null | undefined;
  outputs?: Record<string, unknown> | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  split?: string | string[] | null | undefined;
  attachments?: Attachments | null | undefined;
  attachments_operations?: AttachmentsOperations | null | undefined;
  source_run_id?: string | undefined;
}

/** Split of examples without an explicit split. */
const DEFAULT_SPLIT = "base";

/**
 * Creates examples. @throws 404 without such a dataset, 409 for an id already in use, 422 for examples that the
 * dataset's schemas exclude
 */
export async function createExamples(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  examples: NewExample[],
): Promise<Written> {
  return sql.begin((tx) => addExamples(tx, tenantId, datasetId, examples)) as Promise<Written>;
}

/** Creates examples within a transaction. */
export async function addExamples(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  examples: NewExample[],
): Promise<Written> {
  const states = examples.map(newState);
  const ids = states.map((state) => state.example_id);
  if (new Set(ids).size < ids.length) throw unprocessable("Two examples have the same id.");
  const dataset = await lock(tx, tenantId, datasetId);
  checkExamples(dataset, states);
  const as_of = await beginVersion(tx, tenantId, datasetId);
  const inserted = new Set(await insertExamples(tx, tenantId, datasetId, as_of, states));
  const existing = ids.find((id) => !inserted.has(id));
  if (existing !== undefined) throw conflict(`Example ${existing} already exists.`);
  return { count: ids.length, example_ids: ids, as_of };
}

/**
 * Updates examples. @throws 404 without such a dataset or example, 409 for an example of another dataset, 422 for examples that the dataset's schemas
 * exclude
 */
export async function updateExamples(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  changes: ExampleChange[],
): Promise<Written> {
  return sql.begin((tx) => changeExamples(tx, tenantId, datasetId, changes)) as Promise<Written>;
}

/** Updates examples within a transaction. */
export async function changeExamples(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  changes: ExampleChange[],
): Promise<Written> {
  const byId = new Map(changes.map((change) => [change.id, change]));
  if (byId.size < changes.length) throw unprocessable("Two changes refer to the same example.");
  return rewriteExamples(tx, tenantId, datasetId, [...byId.keys()], (state) =>
    changedState(state, byId.get(state.example_id)!),
  );
}

/** Adds examples to a split, or removes them from it. @throws 404 without such a dataset or example in it */
export async function changeSplit(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  change: { split_name: string; examples: string[]; remove: boolean },
): Promise<string[]> {
  const { split_name: name, remove } = change;
  const ids = [...new Set(change.examples)];
  const { example_ids } = (await sql.begin((tx) =>
    rewriteExamples(tx, tenantId, datasetId, ids, (state) => {
      const others = (readSplits(state.metadata) ?? []).filter((split) => split !== name);
      return { ...state, metadata: { ...state.metadata, dataset_split: remove ? others : [...others, name] } };
    }),
  )) as Written;
  return example_ids;
}

async function rewriteExamples(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  ids: string[],
  rewrite: (state: ExampleState) => ExampleState,
): Promise<Written> {
  const dataset = await lock(tx, tenantId, datasetId);
  const as_of = await beginVersion(tx, tenantId, datasetId);
  const current = await endExamples(tx, tenantId, datasetId, as_of, ids);
  const existing = new Set(current.map((state) => state.example_id));
  const missing = ids.find((id) => !existing.has(id));
  if (missing !== undefined) throw await notInDataset(tx, tenantId, missing);
  const states = current.map(rewrite);
  checkExamples(dataset, states);
  await insertExamples(tx, tenantId, datasetId, as_of, states);
  return { count: ids.length, example_ids: ids, as_of };
}

async function notInDataset(tx: Transaction, tenantId: string, exampleId: string): Promise<AppError> {
  const [elsewhere] = await findExampleDatasets(tx, tenantId, [exampleId]);
  if (!elsewhere) return notFound(`Example ${exampleId} not found`);
  return conflict(`Example ${exampleId} is in another dataset, ${elsewhere.dataset_id}. Update it there.`);
}

/** Ends the examples; earlier versions keep them. @throws 404 when one of them does not exist */
export async function deleteExamples(sql: Sql, tenantId: string, ids: string[]): Promise<void> {
  const requestedIds = [...new Set(ids)];
  await sql.begin(async (tx) => {
    const found = await findExampleDatasets(tx, tenantId, requestedIds);
    const existing = new Set(found.map((row) => row.example_id));
    const missing = requestedIds.find((id) => !existing.has(id));
    if (missing !== undefined) throw notFound(`Example ${missing} not found`);
    // sorted by dataset, so that concurrent deletions acquire the locks in the same order
    for (const datasetId of new Set(found.map((row) => row.dataset_id))) {
      await lock(tx, tenantId, datasetId);
      const as_of = await beginVersion(tx, tenantId, datasetId);
      const inDataset = found.filter((row) => row.dataset_id === datasetId).map((row) => row.example_id);
      const ended = await endExamples(tx, tenantId, datasetId, as_of, inDataset);
      if (ended.length < inDataset.length)
        throw new AppError(409, "An example was changed by another request. Try again.");
    }
  });
}

/** Deletes all states of the examples. @returns the deleted ids and the files that are no longer referenced */
export async function eraseExamplesForGood(
  { deletions }: Pick<TraceDeps, "deletions">,
  tenantId: string,
  ids: string[],
): Promise<{ example_ids: string[]; blobs: string[] }> {
  const reject = (tx: Transaction) => rejectHeldWorkspace(tx, tenantId);
  return deletions.transaction(tenantId, reject, async (tx) => {
    const current = await findExampleDatasets(tx, tenantId, ids);
    for (const datasetId of new Set(current.map((row) => row.dataset_id))) {
      await lock(tx, tenantId, datasetId);
      await beginVersion(tx, tenantId, datasetId);
    }
    const erased = await eraseExamples(tx, tenantId, ids);
    const blobs = erased.flatMap(({ attachments }) => Object.values(attachments ?? {}).map((file) => file.blob));
    return { example_ids: [...new Set(erased.map((row) => row.example_id))], blobs: [...new Set(blobs)] };
  });
}

async function lock(tx: Transaction, tenantId: string, datasetId: string): Promise<DatasetRow> {
  const dataset = await findDatasetRow(tx, tenantId, datasetId, "lock");
  if (!dataset) throw notFound("Dataset not found");
  return dataset;
}

function newState(example: NewExample): ExampleState {
  if (!example.inputs) throw unprocessable("inputs: required, unless the example takes them from its source run.");
  const example_id = example.id ?? uuid7();
  return {
    example_id,
    name: `#${example_id.slice(-4)}`,
    created_at: example.created_at ?? null,
    inputs: example.inputs,
    outputs: example.outputs ?? null,
    metadata: withSplits(example.metadata ?? {}, example.split, [DEFAULT_SPLIT]),
    source_run_id: example.source_run_id ?? null,
    attachments: example.attachments ?? null,
  };
}

function changedState(state: ExampleState, change: ExampleChange): ExampleState {
  const splits = readSplits(state.metadata) ?? [DEFAULT_SPLIT];
  return {
    ...state,
    inputs: change.inputs ?? state.inputs,
    outputs: change.outputs ?? state.outputs,
    source_run_id: change.source_run_id ?? state.source_run_id,
    metadata: withSplits(change.metadata ?? state.metadata, change.split, splits),
    attachments: changedFiles(state.attachments ?? {}, change),
  };
}

/** Stores the splits in the metadata, as a list: `split`, else `dataset_split`, else `otherwise`. */
function withSplits(
  metadata: Record<string, unknown>,
  split: string | string[] | null | undefined,
  otherwise: string[],
): Record<string, unknown> {
  const splits = split == null ? (readSplits(metadata) ?? otherwise) : [split].flat();
  return { ...metadata, dataset_split: [...new Set(splits)] };
}

function readSplits({ dataset_split: splits }: Record<string, unknown>): string[] | undefined {
  if (typeof splits === "string") return [splits];
  return Array.isArray(splits) && splits.every((split) => typeof split === "string") ? splits : undefined;
}

/**
 * Returns the files after a change. With operations the files that they name stay, beside the new ones, which win a name
 * that both have. Without operations new files replace all, and a change without files keeps all.
 */
function changedFiles(current: Attachments, change: ExampleChange): Attachments | null {
  const { attachments: added, attachments_operations: operations } = change;
  let remaining = added ? {} : current;
  if (operations) {
    const file = (name: string) => {
      const found = Object.hasOwn(current, name) ? current[name] : undefined;
      if (!found) throw unprocessable(`The example ${change.id} has no attachment "${name}".`);
      return found;
    };
    const retain = operations.retain ?? [];
    const rename = operations.rename ?? {};
    const twice = retain.find((name) => Object.hasOwn(rename, name));
    if (twice !== undefined)
      throw unprocessable(`The attachment "${twice}" of example ${change.id} cannot be both retained and renamed.`);
    const retained = retain.map((name) => [name, file(name)] as const);
    const renamed = Object.entries(rename).map(([from, to]) => [to, file(from)] as const);
    const names = [...retained, ...renamed].map(([name]) => name);
    const taken = renamed.find(([name]) => names.indexOf(name) !== names.lastIndexOf(name));
    if (taken) throw unprocessable(`Two attachments of example ${change.id} would be named "${taken[0]}".`);
    remaining = Object.fromEntries([...retained, ...renamed]);
  }
  const files = { ...remaining, ...added };
  return Object.keys(files).length > 0 ? files : null;
}
