import { data, traceApi } from "../../api/clients.ts";
import type { Answers } from "./rubric.ts";

export interface ReviewedRun {
  id: string;
  trace_id?: string | null;
  session_id?: string;
  inputs?: unknown;
}

export interface Review {
  answers: Answers;
  comment: string;
  /** Corrected outputs. */
  correction?: Record<string, unknown> | undefined;
}

/** Key of feedback that consists of a comment or a correction alone. */
const NOTE = "note";

/**
 * Saves a review as feedback, one for each answer; the comment and the correction belong to the first, or are a note.
 * A correction also becomes an example of the dataset.
 */
export async function saveReview(run: ReviewedRun, review: Review, datasetId: string | null): Promise<void> {
  const { answers, comment, correction } = review;
  const text = comment.trim() || null;
  const given = Object.entries(answers);
  const entries =
    given.length > 0 || (text === null && !correction) ? given : [[NOTE, { score: null, value: null }] as const];
  for (const [index, [key, { score, value }]] of entries.entries()) {
    const isFirst = index === 0;
    const body = {
      key,
      run_id: run.id,
      ...(run.trace_id != null && { trace_id: run.trace_id }),
      ...(run.session_id !== undefined && { session_id: run.session_id }),
      score,
      value,
      comment: isFirst ? text : null,
      correction: isFirst ? (correction ?? null) : null,
      feedback_source: { type: "app" as const },
    };
    await data(traceApi.POST("/api/v1/feedback", { body }));
  }
  if (correction && datasetId !== null) {
    const inputs = (run.inputs ?? {}) as Record<string, unknown>;
    const body = { dataset_id: datasetId, inputs, outputs: correction, source_run_id: run.id };
    await data(traceApi.POST("/api/v1/examples", { body }));
  }
}
