import { setTimeout as sleep } from "node:timers/promises";

import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { judgeExperimentRun } from "../evaluators/judge-experiment-run.ts";
import type { EvaluatedRun, LoadedEvaluator, Reference, Score } from "../evaluators/schema.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import type { RowResult } from "./row-runs.ts";

const MAX_TRIES = 3;
const PAUSE_MS = 1000;

export interface RowJudgement {
  /** Scores by feedback key: a number, or a category's name. */
  scores: Record<string, number | string | null>;
  errors: { evaluator: string; error: string }[];
  cost_usd: string | null;
}

/** Judges the run of a row by each evaluator, and stores the feedback. A row that is judged again has no other feedback. */
export async function judgeRow(
  deps: TraceDeps,
  principal: Principal,
  evaluators: readonly LoadedEvaluator[],
  result: RowResult,
  reference: Reference,
  signal: AbortSignal,
): Promise<RowJudgement> {
  const judged: RowJudgement = { scores: {}, errors: [], cost_usd: null };
  const run = toEvaluated(result);
  const { session_id: project, ...place } = result.run;
  let cost: bigint | undefined;
  for (const evaluator of evaluators) {
    const subject = {
      kind: evaluator.definition.subject,
      run: evaluator.needs.children ? { ...run, children: result.children.map(toChild(result)) } : run,
      reference,
    };
    const options = {
      signal,
      metadata: { heddle_experiment_id: project, heddle_example_id: place.reference_example_id },
    };
    for (let tries = 1; ; tries++) {
      const judgement = await judgeExperimentRun(deps, principal, evaluator, subject, options);
      if (judgement.cost_usd !== null) cost = (cost ?? 0n) + (parseDecimal(judgement.cost_usd) ?? 0n);
      if (judgement.error === null) {
        for (const score of judgement.feedback) judged.scores[score.key] = scoreOf(score);
        break;
      }
      if (!judgement.retryable || tries >= MAX_TRIES) {
        judged.errors.push({ evaluator: evaluator.name, error: judgement.error });
        break;
      }
      await sleep(PAUSE_MS * tries * tries, undefined, { signal });
    }
  }
  judged.cost_usd = cost === undefined ? null : formatDecimal(cost);
  return judged;
}

const scoreOf = ({ score, value }: Score): number | string | null =>
  typeof score === "boolean" ? Number(score) : (score ?? (value === null ? null : String(value).slice(0, 200)));

function toEvaluated({ run, total_tokens, cost_usd }: RowResult): EvaluatedRun {
  const { id, trace_id, name, run_type, start_time, end_time, inputs, outputs, error, extra } = run;
  return {
    ...{ id, trace_id, name, run_type, start_time, end_time, inputs, outputs, error },
    project_id: run.session_id,
    metadata: extra.metadata,
    tags: [],
    thread_id: null,
    reference_example_id: run.reference_example_id,
    parent_run_id: null,
    total_tokens,
    total_cost: cost_usd,
  };
}

const toChild =
  (result: RowResult) =>
  (child: object): EvaluatedRun => ({
    ...toEvaluated(result),
    ...(child as Partial<EvaluatedRun>),
    parent_run_id: result.run.id,
    reference_example_id: null,
  });
