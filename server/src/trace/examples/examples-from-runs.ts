import { AppError, notFound } from "../../base/errors.ts";
import type { Transaction } from "../../base/db/connect.ts";
import { checkExamples } from "../datasets/check-examples.ts";
import { type DatasetRow, findDatasetRow, updateRunMapping } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { addExampleFromRun, findSame, prepareExample } from "./example-from-run.ts";
import type { FromRunsAnswer, FromRunsBody } from "./from-run-schema.ts";
import type { SourceRun } from "./map-run.ts";
import { readSourceRuns } from "./source-runs.ts";

type Result = FromRunsAnswer["results"][number];

/** Runs read at a time, because their inputs and outputs may be large. */
const BATCH = 50;

/**
 * Makes examples of runs, in order. A run that fails (unknown, excluded by the dataset's schemas) is reported and keeps
 * no other from being added. With `dry_run` nothing is stored, and the answer has the examples.
 *
 * @throws 404 for an unknown dataset
 */
export async function examplesFromRuns(
  deps: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  datasetId: string,
  body: FromRunsBody,
): Promise<FromRunsAnswer> {
  const dataset = await findDatasetRow(deps.sql, tenantId, datasetId);
  if (!dataset) throw notFound("Dataset not found");
  if (body.remember_mapping && !body.dry_run)
    await updateRunMapping(deps.sql, tenantId, datasetId, body.mapping ?? null);
  const ids = [...new Set(body.run_ids)];
  const results: Result[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH);
    const runs = await readSourceRuns(deps, tenantId, batch);
    for (const id of batch) results.push(await takeRun(deps, { tenantId, dataset, body }, id, runs.get(id)));
  }
  const count = (outcome: Result["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  return {
    added: count("added"),
    replaced: count("replaced"),
    skipped: count("skipped"),
    failed: count("failed"),
    results,
  };
}

interface Order {
  tenantId: string;
  dataset: DatasetRow;
  body: FromRunsBody;
}

async function takeRun(
  { sql }: Pick<TraceDeps, "sql">,
  order: Order,
  run_id: string,
  run: SourceRun | undefined,
): Promise<Result> {
  const empty = { run_id, example_id: null, duplicate_of: null, missing: [], error: null, example: null };
  if (!run) return { ...empty, outcome: "failed", error: "Run not found" };
  try {
    return (await sql.begin((tx) => (order.body.dry_run ? preview(tx, order, run) : store(tx, order, run)))) as Result;
  } catch (error) {
    // what the caller can correct; the others are ours
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return { ...empty, outcome: "failed", error: error.message };
  }
}

async function store(tx: Transaction, { tenantId, dataset, body }: Order, run: SourceRun): Promise<Result> {
  const result = await addExampleFromRun(tx, { tenantId, id: dataset.dataset_id }, run, body.mapping ?? null, {
    onDuplicate: body.on_duplicate,
    split: body.split,
    metadata: body.metadata ?? undefined,
  });
  return { run_id: run.id, ...result, error: null, example: null };
}

async function preview(tx: Transaction, { tenantId, dataset, body }: Order, run: SourceRun): Promise<Result> {
  const { missing, ...example } = prepareExample(dataset, run, body.mapping, { metadata: body.metadata ?? undefined });
  const same =
    body.on_duplicate === "add" ? undefined : await findSame(tx, tenantId, dataset.dataset_id, run.id, example.inputs);
  let error: string | null = null;
  try {
    checkExamples(dataset, [{ ...example, example_id: run.id }]);
  } catch (problem) {
    if (!(problem instanceof AppError)) throw problem;
    error = problem.message;
  }
  const outcome = error !== null ? "failed" : !same ? "added" : body.on_duplicate === "skip" ? "skipped" : "replaced";
  return {
    run_id: run.id,
    outcome,
    example_id: same?.example_id ?? null,
    duplicate_of: same?.reason ?? null,
    missing,
    error,
    example,
  };
}
