import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import type { Judgement, LoadedEvaluator, Subject } from "./schema.ts";

export interface EvaluateOptions {
  signal: AbortSignal;
  /** Metadata of the judge's trace and of the feedback's source, such as `rule_id`. */
  metadata?: Record<string, unknown>;
}

/** Judges a subject. Never throws for a failing model or code: `error` says what failed, `retryable` whether to retry. */
export async function evaluate(
  _deps: TraceDeps,
  _principal: Principal,
  evaluator: LoadedEvaluator,
  _subject: Subject,
  { metadata = {} }: EvaluateOptions,
): Promise<Judgement & { retryable: boolean }> {
  return Promise.resolve({
    evaluator_id: evaluator.id,
    evaluator_name: evaluator.name,
    version: evaluator.version,
    feedback: [],
    cost_usd: null,
    judge_run_id: null,
    error: "Evaluators do not judge yet.",
    metadata,
    retryable: false,
  });
}
