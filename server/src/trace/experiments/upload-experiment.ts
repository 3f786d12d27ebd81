/**
 * Stores an experiment that ran elsewhere: dataset, examples, runs, scores. A repeated upload with the same content
 * stores nothing twice, and completes one that was interrupted: the project's row holds a digest of the upload, and the
 * ids of runs and feedback derive from the project's id and the row's place. So everything is validated before the first
 * write.
 */
import { createHash } from "node:crypto";

import type { Principal } from "../../base/auth/principal.ts";
import { conflict } from "../../base/errors.ts";
import { uuid5, uuid7 } from "../../base/ids.ts";
import { takeTurns } from "../../base/take-turns.ts";
import { createDataset } from "../datasets/create-dataset.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { findExampleDatasets } from "../examples/sql.ts";
import { addExamples } from "../examples/write-examples.ts";
import { storeFeedback } from "../feedback/create-feedback.ts";
import type { FeedbackCreate } from "../feedback/schema.ts";
import { ingestRuns, onlyRuns } from "../ingest/ingest-runs.ts";
import type { RunMessage } from "../ingest/run-piece.ts";
import { insertProject } from "../projects/sql.ts";
import type { ExperimentUpload, UploadedRow, UploadedScore } from "./upload-schema.ts";
import { findDatasetId, findUploaded, type UploadedExperiment } from "./upload-sql.ts";

const BATCH = 500;

/**
 * @throws 404 for an unknown project or comparison in a score, 409 when another project has the experiment's name or an
 * example is in another dataset, 422 for examples that the dataset's schemas exclude
 */
export async function uploadExperiment(
  deps: TraceDeps,
  principal: Principal,
  upload: ExperimentUpload,
): Promise<{ datasetId: string; experimentId: string }> {
  const tenantId = principal.workspaceId;
  const digest = createHash("sha256").update(canonical(upload)).digest("hex");
  checkUploaded(await findUploaded(deps.sql, tenantId, upload.experiment_name), digest, upload.experiment_name);
  const datasetId = await ensureDataset(deps, tenantId, upload);
  const examples = upload.results.map((row) => exampleId(datasetId, row));
  await ensureExamples(deps, tenantId, datasetId, upload.results, examples);
  const experimentId = await ensureExperiment(deps, tenantId, datasetId, upload, digest);
  const runs = upload.results.map((_, i) => uuid5(`run ${i}`, experimentId));
  const turn = takeTurns();
  for (let at = 0; at < runs.length; at += BATCH) {
    const messages: RunMessage[] = [];
    for (const [i, row] of upload.results.slice(at, at + BATCH).entries()) {
      await turn();
      messages.push(toMessage(row, runs[at + i]!, examples[at + i]!, experimentId));
    }
    await ingestRuns(deps, principal, onlyRuns(messages));
  }
  const author = { tenantId, userId: principal.actor.userId };
  const feedback = [
    ...upload.results.flatMap((row, i) =>
      (row.evaluation_scores ?? []).map((score, n) => {
        const on = { run_id: runs[i]!, trace_id: runs[i]!, session_id: experimentId, start_time: row.start_time };
        return toFeedback(score, uuid5(`score ${i} ${n}`, experimentId), on);
      }),
    ),
    ...(upload.summary_experiment_scores ?? []).map((score, n) =>
      toFeedback(score, uuid5(`summary ${n}`, experimentId), { session_id: experimentId }),
    ),
  ];
  for (let at = 0; at < feedback.length; at += BATCH) await storeFeedback(deps, author, feedback.slice(at, at + BATCH));
  await deps.feedback.flush();
  return { datasetId, experimentId };
}

async function ensureDataset({ sql }: TraceDeps, tenantId: string, upload: ExperimentUpload): Promise<string> {
  const id = upload.dataset_id ?? undefined;
  const name = upload.dataset_name ?? undefined;
  const known = await findDatasetId(sql, tenantId, { id, name });
  if (known !== undefined) return known;
  try {
    const order = { id, name: name ?? `dataset ${id}`, description: upload.dataset_description };
    return await createDataset(sql, tenantId, order);
  } catch (error) {
    // a concurrent upload may have created it
    const created = await findDatasetId(sql, tenantId, { id, name });
    if (created === undefined) throw error;
    return created;
  }
}

/** Rows without an id have the example of other rows with the same inputs and expected outputs. */
const exampleId = (datasetId: string, { row_id, inputs, expected_outputs }: UploadedRow): string =>
  row_id ?? uuid5(canonical([inputs, expected_outputs ?? null]), datasetId);

async function ensureExamples(
  { sql }: TraceDeps,
  tenantId: string,
  datasetId: string,
  rows: UploadedRow[],
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql.begin(async (tx) => {
    await findDatasetRow(tx, tenantId, datasetId, "lock");
    const existing = await findExampleDatasets(tx, tenantId, [...new Set(ids)]);
    const elsewhere = existing.find((row) => row.dataset_id !== datasetId);
    if (elsewhere) throw conflict(`Example ${elsewhere.example_id} is in another dataset, ${elsewhere.dataset_id}.`);
    const known = new Set(existing.map((row) => row.example_id));
    const added = new Map(
      ids.flatMap((id, i) => {
        if (known.has(id)) return [];
        return [[id, { id, inputs: rows[i]!.inputs, outputs: rows[i]!.expected_outputs ?? null }] as const];
      }),
    );
    if (added.size > 0) await addExamples(tx, tenantId, datasetId, [...added.values()]);
  });
}

async function ensureExperiment(
  { sql }: TraceDeps,
  tenantId: string,
  datasetId: string,
  upload: ExperimentUpload,
  digest: string,
): Promise<string> {
  const created = await insertProject(sql, tenantId, {
    id: uuid7(),
    name: upload.experiment_name,
    description: upload.experiment_description,
    extra: { metadata: upload.experiment_metadata ?? {} },
    start_time: upload.experiment_start_time,
    end_time: upload.experiment_end_time,
    reference_dataset_id: datasetId,
    experiment: {
      num_examples: new Set(upload.results.map((row) => exampleId(datasetId, row))).size,
      upload_digest: digest,
    },
  });
  if (created) return created.id;
  const known = await findUploaded(sql, tenantId, upload.experiment_name);
  checkUploaded(known, digest, upload.experiment_name);
  // deleted since it was inserted by another request
  if (!known) throw conflict("The experiment is being deleted. Upload it again.");
  return known.id;
}

function checkUploaded(known: UploadedExperiment | undefined, digest: string, name: string): void {
  if (!known || known.digest === digest) return;
  const why = known.digest === null ? "and was not uploaded" : "with other content";
  throw conflict(`A project named "${name}" already exists ${why}. Upload the experiment under another name.`);
}

function toMessage(row: UploadedRow, id: string, example: string, experimentId: string): RunMessage {
  const order = row.start_time.replaceAll(/[-:.]/g, "");
  const isCompact = /^\d{8}T\d{6}\d{6}Z$/.test(order);
  return {
    kind: "post",
    id,
    run: {
      id,
      trace_id: id,
      session_id: experimentId,
      name: row.run_name || "uploaded",
      run_type: "chain",
      start_time: row.start_time,
      end_time: row.end_time,
      reference_example_id: example,
      ...(isCompact && { dotted_order: `${order}${id}` }),
    },
    raw: {
      inputs: JSON.stringify(row.inputs),
      ...(row.actual_outputs && { outputs: JSON.stringify(row.actual_outputs) }),
      ...(row.error != null && { error: JSON.stringify(row.error) }),
      ...(row.run_metadata && { extra: JSON.stringify({ metadata: row.run_metadata }) }),
    },
  };
}

type Subject = Partial<Pick<FeedbackCreate, "run_id" | "trace_id" | "session_id" | "start_time">>;

const toFeedback = (score: UploadedScore, id: string, subject: Subject): FeedbackCreate =>
  ({ ...score, id: score.id ?? id, ...subject }) as FeedbackCreate;

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    item !== null && typeof item === "object" && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
