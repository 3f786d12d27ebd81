import type { Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import type { Definition } from "./definition.ts";
import { evaluateCode } from "./evaluate-code.ts";
import { failed, judge, type Verdict } from "./judge.ts";
import type { Judgement, LoadedEvaluator, Subject } from "./schema.ts";
import { addFeedbackKeys, addSpending } from "./sql.ts";

export interface EvaluateOptions {
  signal: AbortSignal;
  /** Metadata of the judge's trace and of the feedback's source, such as `rule_id`. */
  metadata?: Record<string, unknown>;
}

/**
 * Judges a subject. Never throws for a failing model or code: `error` says what failed, `retryable` whether to retry.
 * Adds to the evaluator's spending.
 */
export async function evaluate(
  deps: TraceDeps,
  principal: Principal,
  evaluator: LoadedEvaluator,
  subject: Subject,
  { signal, metadata = {} }: EvaluateOptions,
): Promise<Judgement & { retryable: boolean }> {
  const { id, name, version, definition, feedback_keys: known } = evaluator;
  const verdict = await evaluateOnce(deps, principal, { name, definition }, subject, {
    signal,
    evaluatorId: id,
    metadata: { ...metadata, evaluator_id: id, evaluator_version: version },
  });
  const spent = { tenant_id: principal.workspaceId, evaluator_id: id, version };
  await addSpending(deps.sql, { ...spent, isError: verdict.error !== null, usd: verdict.cost_usd ?? "0" });
  const more = verdict.feedback.map(({ key }) => key).filter((key) => !known.includes(key));
  if (more.length > 0) await addFeedbackKeys(deps.sql, principal.workspaceId, id, more);
  const { feedback, cost_usd, judge_run_id, judge_project_id, error, retryable } = verdict;
  return {
    evaluator_id: id,
    evaluator_name: name,
    version,
    feedback,
    cost_usd,
    judge_run_id,
    judge_project_id,
    error,
    metadata,
    retryable,
  };
}

/** Judges a subject by a definition, which may not be saved, and says what was sent. Never throws for its failure. */
export async function evaluateOnce(
  deps: TraceDeps,
  principal: Principal,
  { name, definition }: { name: string; definition: Definition },
  subject: Subject,
  options: {
    signal: AbortSignal;
    evaluatorId: string | null;
    metadata: Record<string, unknown>;
    values?: Record<string, string> | undefined;
  },
): Promise<Verdict> {
  const { signal, evaluatorId, values } = options;
  try {
    if (definition.type === "code") {
      return await evaluateCode(deps, principal.workspaceId, definition, subject, { name, signal });
    }
    const metadata = { ...options.metadata, judged_run_id: subject.run.id, judged_trace_id: subject.run.trace_id };
    return await judge(deps, principal, definition, subject, { signal, name, metadata, values });
  } catch (error) {
    if (error instanceof AppError) return failed(error.message, error.status >= 500);
    deps.log.error({ err: error, evaluator_id: evaluatorId }, "an evaluator failed");
    return failed("The evaluator failed by an internal error; the server's log has its cause.", true);
  }
}
