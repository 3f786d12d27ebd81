import { data, traceApi } from "../../api/clients.ts";
import type { Answers } from "./rubric.ts";

export interface ReviewedRun {
  id: string;
  trace_id?: string | null;
  session_id?: string;
}

export interface Review {
  answers: Answers;
  comment: string;
  /** Corrected outputs. */
  correction?: Record<string, unknown> | undefined;
}

/** Key of feedback that consists of a comment alone. */
const NOTE = "note";

/**
 * Submits the review of a queue's item: feedback, a correction as an example, and the status, all or nothing. Sending it
 * again changes nothing. `isSwapped`: the runs of a pair are shown in the other order.
 */
export async function submitReview(queueId: string, itemId: string, review: Review, isSwapped = false): Promise<void> {
  const { answers, comment, correction } = review;
  const swap = { a: "b", b: "a", tie: "tie" } as const;
  const body = {
    answers: Object.entries(answers).map(([feedback_key, { score, value, preferred }]) => ({
      feedback_key,
      score,
      value,
      ...(preferred && { preferred: isSwapped ? swap[preferred] : preferred }),
    })),
    comment: comment.trim() || null,
    correction: correction ?? null,
  };
  const params = { path: { queue_id: queueId, queue_run_id: itemId } };
  await data(traceApi.POST("/api/v1/annotation-queues/{queue_id}/runs/{queue_run_id}/review", { params, body }));
}

/** Saves the rating of a run outside of queues as feedback; a comment belongs to it, or is a note. */
export async function saveRating(run: ReviewedRun, review: Review): Promise<void> {
  const { answers, comment } = review;
  const text = comment.trim() || null;
  const given = Object.entries(answers);
  const entries = given.length > 0 || text === null ? given : [[NOTE, { score: null, value: null }] as const];
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
      correction: null,
      feedback_source: { type: "app" as const },
    };
    await data(traceApi.POST("/api/v1/feedback", { body }));
  }
}
