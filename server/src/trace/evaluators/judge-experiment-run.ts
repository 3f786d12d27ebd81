import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { evaluate, type EvaluateOptions } from "./evaluate.ts";
import type { LoadedEvaluator, Subject } from "./schema.ts";
import { judgementFeedbackId, storeJudgement } from "./store-judgement.ts";

const keyOf = ({ id, version }: LoadedEvaluator, runId: string): string => `experiment ${id} ${version} ${runId}`;

/** Id of the feedback that a version of an evaluator gives on the run of an experiment. */
export const experimentFeedbackId = (evaluator: LoadedEvaluator, runId: string, feedbackKey: string): string =>
  judgementFeedbackId(keyOf(evaluator, runId), feedbackKey);

/**
 * Judges a run of an experiment and stores the feedback, whose ids follow from run, evaluator and version: it is stored
 * once, whether the experiment's execution judged it or a later request, and however often. Never throws for a failing
 * judge; nothing is stored once `signal` has aborted.
 */
export async function judgeExperimentRun(
  deps: TraceDeps,
  principal: Principal,
  evaluator: LoadedEvaluator,
  subject: Subject,
  options: EvaluateOptions,
): ReturnType<typeof evaluate> {
  const judgement = await evaluate(deps, principal, evaluator, subject, options);
  options.signal.throwIfAborted();
  await storeJudgement(deps, principal, judgement, subject.run, { idempotencyKey: keyOf(evaluator, subject.run.id) });
  return judgement;
}
