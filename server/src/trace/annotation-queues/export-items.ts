import { csvLine } from "../dataset-transfers/csv.ts";
import type { TraceDeps } from "../deps.ts";
import { listFeedbackOfRuns } from "../feedback/sql.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { type ItemFilter, type ItemRow, listItemsFrom } from "./item-sql.ts";
import { listFeedbackKeys } from "./review-sql.ts";
import { readItemRuns } from "./serialize-items.ts";

const BATCH = 50;

interface Feedback {
  key: string;
  score: number | null;
  value: unknown;
  comment: string | null;
  correction: unknown;
  modified_at: string;
  feedback_source: { type: string; user_id: string | null };
}

export interface ExportRequest {
  format: "csv" | "json";
  /** Whether each key has the single judgements with their authors beside the summary. */
  detail: boolean;
  added: Pick<ItemFilter, "added_since" | "added_until">;
}

/**
 * Exports the items of a queue with their runs and feedback as chunks of CSV with a header line, or of a JSON array. A
 * key's column has the mean of its scores, or its latest value when it has no scores.
 */
export async function* exportItems(
  deps: TraceDeps,
  scope: RunScope,
  me: string,
  queueId: string,
  { format, detail, added }: ExportRequest,
): AsyncGenerator<string> {
  const keys = await listFeedbackKeys(deps.sql, scope.tenantId, queueId);
  const columns = [
    ...["queue_run_id", "run_id", "name", "status", "added_at", "completed_at", "reviewers", "inputs", "outputs"],
    ...keys.flatMap((key) => [`feedback.${key}`, ...(detail ? [`feedback.${key}.details`] : [])]),
    "comments",
  ];
  const isCsv = format === "csv";
  if (isCsv) yield csvLine(columns);
  let separator = "[";
  let from: Parameters<typeof listItemsFrom>[5]["from"];
  for (;;) {
    const page = { limit: BATCH, from, backward: false };
    const items = await listItemsFrom(deps.sql, scope.tenantId, me, queueId, added, page);
    const records = await toRecords(deps, scope, items, keys, detail);
    for (const record of records) {
      if (isCsv) yield csvLine(columns.map((column) => record[column]));
      else yield separator + JSON.stringify(record);
      separator = ",";
    }
    const last = items.at(-1);
    if (last === undefined || items.length < BATCH) break;
    from = { at: last.effective_added_at, id: last.queue_run_id, inclusive: false };
  }
  if (!isCsv) yield separator === "[" ? "[]" : "]";
}

async function toRecords(
  deps: TraceDeps,
  scope: RunScope,
  items: ItemRow[],
  keys: readonly string[],
  detail: boolean,
): Promise<Record<string, unknown>[]> {
  const ids = items.map((item) => item.run_id);
  const [runs, feedback] = await Promise.all([
    readItemRuns(deps, scope, items, ["r.name", "r.inputs", "r.outputs"]),
    listFeedbackOfRuns(deps.sql, scope.tenantId, ids, undefined),
  ]);
  return items.map((item) => {
    const run = runs.get(item.run_id);
    const given = JSON.parse(feedback.get(item.run_id) ?? "[]") as Feedback[];
    const record: Record<string, unknown> = {
      queue_run_id: item.queue_run_id,
      run_id: item.run_id,
      name: run?.name ?? null,
      status: run ? item.section : "deleted",
      added_at: item.added_at,
      completed_at: item.archived_at,
      reviewers: item.completed_by.length,
      inputs: parsed(run?.inputs),
      outputs: parsed(run?.outputs),
      comments: given.flatMap(({ comment }) => comment ?? []).join("\n") || null,
    };
    for (const key of keys) {
      const ofKey = given.filter((each) => each.key === key);
      record[`feedback.${key}`] = summary(ofKey);
      if (detail) record[`feedback.${key}.details`] = ofKey.map(toDetail);
    }
    return record;
  });
}

/** @param given newest first */
function summary(given: Feedback[]): unknown {
  const scores = given.flatMap(({ score }) => score ?? []);
  if (scores.length > 0) return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return given.find(({ value }) => value !== null)?.value ?? null;
}

const toDetail = ({ score, value, comment, correction, modified_at, feedback_source: source }: Feedback) => ({
  user_id: source.user_id,
  source: source.type,
  score,
  value,
  comment,
  correction,
  modified_at,
});

const parsed = (text: string | null | undefined): unknown => (text == null ? null : JSON.parse(text));
