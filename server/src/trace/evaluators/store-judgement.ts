import type { Principal } from "../../base/auth/principal.ts";
import { uuid5 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { createFeedback } from "../feedback/create-feedback.ts";
import { createBody } from "../feedback/schema.ts";
import type { Judgement } from "./schema.ts";

/** Namespace of the ids of judgements' feedback. */
const NAMESPACE = "0f4c1b2e-6d55-5e0a-9a35-6a1f3a3f7c10";

export interface StoreOptions {
  /** The same key again changes nothing but the time: the feedback's ids follow from it. */
  idempotencyKey: string;
  extra?: Record<string, unknown>;
  /** Default true, as for all feedback. */
  extendRetention?: boolean;
  /** Comparison of the experiments of a pair. */
  comparativeExperimentId?: string;
  feedbackGroupId?: string;
}

export const judgementFeedbackId = (idempotencyKey: string, key: string): string =>
  uuid5(`${idempotencyKey}\n${key}`, NAMESPACE);

/** Stores a judgement as feedback on a run. A judgement that failed stores nothing. */
export async function storeJudgement(
  deps: Pick<TraceDeps, "sql" | "projects" | "feedback" | "feedbackWriter">,
  principal: Principal,
  judgement: Judgement,
  run: { id: string; trace_id: string; project_id: string; start_time: string },
  options: StoreOptions,
): Promise<void> {
  if (judgement.error !== null || judgement.feedback.length === 0) return;
  const source = {
    type: "model" as const,
    metadata: {
      ...judgement.metadata,
      evaluator_id: judgement.evaluator_id,
      evaluator_name: judgement.evaluator_name,
      version: judgement.version,
      ...(judgement.cost_usd !== null && { cost_usd: judgement.cost_usd }),
      // the second is where LangSmith's clients put and look for the evaluator's run
      ...(judgement.judge_run_id !== null && {
        judge_run_id: judgement.judge_run_id,
        judge_project_id: judgement.judge_project_id,
        __run: { run_id: judgement.judge_run_id },
      }),
    },
  };
  const inputs = judgement.feedback.map(({ key, score, value, comment }) =>
    createBody.parse({
      id: judgementFeedbackId(options.idempotencyKey, key),
      key,
      run_id: run.id,
      trace_id: run.trace_id,
      session_id: run.project_id,
      start_time: run.start_time,
      score,
      value,
      comment,
      feedback_source: source,
      extra: options.extra ?? null,
      extend_trace_retention: options.extendRetention ?? true,
      comparative_experiment_id: options.comparativeExperimentId ?? null,
      feedback_group_id: options.feedbackGroupId ?? null,
    }),
  );
  await createFeedback(deps, { tenantId: principal.workspaceId, userId: null }, inputs);
}
