/**
 * A review is one transaction: its feedback, the example of a correction, and the reviewer's status of the item. The ids
 * of all follow from the item and the reviewer, so a review that is sent again after a lost answer changes nothing, and
 * a changed one replaces the earlier one.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid5 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { prepareExample } from "../examples/example-from-run.ts";
import { readSourceRuns } from "../examples/source-runs.ts";
import { findExampleDatasets } from "../examples/sql.ts";
import { addExamples, changeExamples } from "../examples/write-examples.ts";
import { findConfigs } from "../feedback-configs/sql.ts";
import { type NewFeedback, upsertFeedback } from "../feedback/sql.ts";
import { checkAnswers } from "./check-answers.ts";
import { findItem, type ItemRow, lockQueue } from "./item-sql.ts";
import { checkReviewer, NO_ITEM } from "./review-item.ts";
import type { ReviewAnswer, ReviewBody } from "./review-schema.ts";
import { completeReview, noteReviewed, settleItems } from "./review-sql.ts";
import { findQueueRow, type QueueRow } from "./sql.ts";

/** Key of feedback that consists of a comment or a correction alone. */
const NOTE = "note";

export interface Reviewer {
  tenantId: string;
  /** Identity under which the caller reviews. */
  id: string;
  userId: string | null;
}

export interface Reviewed {
  queue_item_id: string;
  status: "completed";
  is_archived: boolean;
  feedback_ids: string[];
  example_id: string | null;
}

/**
 * Stores a review, all of it or nothing.
 * @throws 403 for a queue of other reviewers, 404 for an unknown item or dataset, 409 for a deleted run, 422 for answers
 * that the rubric excludes, or a correction that the dataset's schemas exclude
 */
export async function submitReview(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "feedback" | "masking">,
  reviewer: Reviewer,
  queueId: string,
  itemId: string,
  review: ReviewBody,
): Promise<Reviewed> {
  const { tenantId } = reviewer;
  const known = await findItem(deps.sql, tenantId, reviewer.id, itemId);
  if (known?.queue_id !== queueId) throw notFound(NO_ITEM);
  const source = (await readSourceRuns(deps, tenantId, [known.run_id])).get(known.run_id);
  if (!source) throw conflict("The run was deleted. Skip it, or remove it from the queue.");
  const masking = await deps.masking.find(tenantId);
  const result = (await deps.sql.begin(async (tx) => {
    if ((await lockQueue(tx, tenantId, queueId)) === undefined) throw notFound(NO_ITEM);
    await checkReviewer(tx, tenantId, reviewer.id, queueId);
    const item = await findItem(tx, tenantId, reviewer.id, itemId);
    const queue = await findQueueRow(tx, tenantId, queueId);
    if (!item || !queue) throw notFound(NO_ITEM);
    await check(tx, tenantId, queue, review);
    const feedback = buildFeedback(reviewer, queue, item, review);
    for (const row of feedback) masking?.feedback(row);
    if (feedback.length > 0) await storeFeedback(tx, feedback);
    const datasetId = review.correction ? (review.dataset_id ?? queue.default_dataset) : null;
    const example_id = datasetId === null ? null : await storeExample(tx, reviewer, item, datasetId, source, review);
    const key = { tenantId, itemId, identityId: reviewer.id };
    await completeReview(tx, key);
    await noteReviewed(tx, tenantId, itemId);
    await settleItems(tx, tenantId, queueId, itemId);
    const after = await findItem(tx, tenantId, reviewer.id, itemId);
    return {
      queue_item_id: itemId,
      status: "completed" as const,
      is_archived: after!.archived_at !== null,
      feedback_ids: feedback.map((row) => row.feedback_id),
      example_id,
    };
  })) as Reviewed;
  await deps.feedback.flush();
  return result;
}

async function check(tx: Transaction, tenantId: string, queue: QueueRow, review: ReviewBody): Promise<void> {
  const isPairwise = queue.queue_type === "pairwise";
  const wrong = review.answers.find((answer) => (answer.preferred !== undefined) !== isPairwise);
  if (wrong) {
    throw unprocessable(
      `"${wrong.feedback_key}": ${isPairwise ? "a pair is judged by preferred: a, b or tie" : "preferred is for pairs of runs"}.`,
    );
  }
  if (isPairwise && review.correction) throw unprocessable("correction: is not for pairs of runs.");
  const keys = review.answers.map((answer) => answer.feedback_key);
  checkAnswers(queue.rubric_items ?? [], await findConfigs(tx, tenantId, keys), review.answers);
}

/** Builds the feedback of a review; the comment and the correction belong to its first entry, or are a note. */
function buildFeedback(reviewer: Reviewer, queue: QueueRow, item: ItemRow, review: ReviewBody): NewFeedback[] {
  const comment = review.comment?.trim() || null;
  const correction = review.correction ?? null;
  const given: ReviewAnswer[] =
    review.answers.length > 0 || (comment === null && correction === null)
      ? review.answers
      : [{ feedback_key: NOTE, score: null, value: null }];
  return given.flatMap((answer, index) => {
    const group = feedbackId(reviewer, item, answer.feedback_key);
    const texts = {
      comment: answer.comment?.trim() || (index === 0 ? comment : null),
      correction: index === 0 ? correction : null,
    };
    const base = { key: answer.feedback_key, ...texts, queue };
    if (answer.preferred === undefined || item.other_run_id === null) {
      return [toRow(reviewer, item, { ...base, id: group, score: answer.score, value: answer.value })];
    }
    const score = { a: 1, b: 0, tie: 0.5 }[answer.preferred];
    const other = {
      run_id: item.other_run_id,
      project_id: item.other_project_id!,
      trace_id: item.other_trace_id!,
      start_time: item.other_start_time!,
    };
    const shared = { ...base, value: null, group };
    return [
      toRow(reviewer, item, { ...shared, id: uuid5("a", group), score }),
      toRow(reviewer, { ...item, ...other }, { ...shared, comment: null, id: uuid5("b", group), score: 1 - score }),
    ];
  });
}

const feedbackId = (reviewer: Reviewer, item: ItemRow, key: string): string =>
  uuid5(`review ${reviewer.id} ${key}`, item.queue_run_id);

interface Entry {
  id: string;
  key: string;
  score: number | null;
  value: unknown;
  comment: string | null;
  correction: unknown;
  queue: QueueRow;
  group?: string;
}

const toRow = (
  reviewer: Reviewer,
  item: ItemRow,
  { id, key, score, value, comment, correction, queue, group }: Entry,
): NewFeedback => ({
  tenant_id: reviewer.tenantId,
  feedback_id: id,
  key,
  run_id: item.run_id,
  session_id: item.project_id,
  trace_id: item.trace_id,
  start_time: `${item.start_time.replace(" ", "T")}Z`,
  score,
  value,
  comment,
  correction,
  extra: null,
  source_type: "app",
  source_metadata: {
    annotation_queue_id: queue.queue_id,
    queue_item_id: item.queue_run_id,
    ...(item.thread_id !== null && { thread_id: item.thread_id }),
    ...(reviewer.userId === null && { reviewer_id: reviewer.id }),
  },
  user_id: reviewer.userId,
  comparative_experiment_id: group === undefined ? null : queue.comparative_experiment_id,
  feedback_group_id: group ?? null,
  token_id: null,
  token_parameters: null,
  created_at: null,
  extends_retention: true,
});

async function storeFeedback(tx: Sql | Transaction, rows: NewFeedback[]): Promise<void> {
  const written = await upsertFeedback(tx, rows);
  if (written.length < rows.length) throw conflict("Feedback of this review already exists for another run.");
}

/** Stores the correction as an example; that of the reviewer's earlier review of the item is changed. */
async function storeExample(
  tx: Transaction,
  { tenantId, id }: Reviewer,
  item: ItemRow,
  datasetId: string,
  source: Parameters<typeof prepareExample>[1],
  review: ReviewBody,
): Promise<string> {
  const dataset = await findDatasetRow(tx, tenantId, datasetId, "lock");
  if (!dataset) throw notFound("Dataset not found");
  const exampleId = uuid5(`review ${id} ${datasetId}`, item.queue_run_id);
  const { inputs, outputs, metadata } = prepareExample(dataset, source, null, { outputs: review.correction! });
  const example = { id: exampleId, inputs, outputs, metadata, source_run_id: item.run_id };
  const [existing] = await findExampleDatasets(tx, tenantId, [exampleId]);
  if (existing) await changeExamples(tx, tenantId, datasetId, [example]);
  else await addExamples(tx, tenantId, datasetId, [example]);
  return exampleId;
}
