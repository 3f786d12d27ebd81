/**
 * Judges the pairs of a comparison by an evaluator. A pair is done when its feedback exists, whose ids follow from
 * comparison, example and evaluator, so a job that is resumed after a crash continues and stores nothing twice.
 */
import { uuid5 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { evaluate } from "../evaluators/evaluate.ts";
import { loadEvaluator } from "../evaluators/load-evaluator.ts";
import { loadSubjects } from "../evaluators/load-subjects.ts";
import type { LoadedEvaluator, Score, Subject } from "../evaluators/schema.ts";
import { storeJudgement } from "../evaluators/store-judgement.ts";
import { systemPrincipal } from "../evaluators/system-principal.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { type ClaimedJob, recordProgress } from "./judge-sql.ts";
import { isSwapped, loadReview } from "./review-pairs.ts";
import { readPreferences } from "./sql.ts";

/** How an attempt ended. `pause`: to be continued later. */
export type Outcome = { kind: "done" } | { kind: "failed" | "pause"; error: string };

/** Pairs that are judged at once. */
const CONCURRENCY = 4;
/** Pairs in a row whose failure ends the attempt: then it is the evaluator or the model that fails. */
const MAX_FAILURES = 5;

export async function judgePairs(deps: TraceDeps, job: ClaimedJob, signal: AbortSignal): Promise<Outcome> {
  const { tenant_id: tenantId, comparative_experiment_id: comparisonId } = job;
  const evaluator = await loadEvaluator(deps, tenantId, job.evaluator_id, job.evaluator_version ?? undefined);
  if (!evaluator) return { kind: "failed", error: "The evaluator was deleted." };
  const { pairs } = await loadReview(deps, tenantId, comparisonId);
  const preferences = await readPreferences(deps.sql, tenantId, comparisonId);
  const scored = new Map<string | null, Set<string>>();
  for (const { group_id: group, run_id: run } of preferences) {
    scored.set(group, (scored.get(group) ?? new Set()).add(run));
  }
  // after a crash, a pair may have the score of one run only
  const isDone = (example: string) => (scored.get(groupId(comparisonId, example, evaluator.id))?.size ?? 0) > 1;
  const waiting = [...pairs].filter(([example]) => !isDone(example));
  const progress = { total: pairs.size, judged: pairs.size - waiting.length, failed: 0 };
  let failures = 0;
  let stopped: Outcome | undefined;
  const work = async () => {
    for (let next = waiting.shift(); next && !stopped && !signal.aborted; next = waiting.shift()) {
      const [example, runs] = next;
      const failure = await judgeOne(deps, evaluator, comparisonId, example, runs, signal);
      if (signal.aborted) return;
      if (failure === null) {
        failures = 0;
        progress.judged++;
      } else {
        failures++;
        progress.failed++;
        if (failures >= MAX_FAILURES) {
          stopped = { kind: failure.retryable ? "pause" : "failed", error: failure.error };
        }
      }
      await recordProgress(deps.sql, job, progress);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  // those of pairs that ended together may have been stored in any order
  if (!signal.aborted) await recordProgress(deps.sql, job, progress);
  await deps.feedback.flush();
  return stopped ?? { kind: "done" };
}

const groupId = (comparisonId: string, example: string, evaluatorId: string): string =>
  uuid5(`${example} judge ${evaluatorId}`, comparisonId);

/** Judges one pair, in an order that does not tell the experiment. @returns null after success */
async function judgeOne(
  deps: TraceDeps,
  evaluator: LoadedEvaluator,
  comparisonId: string,
  example: string,
  runs: [string, string],
  signal: AbortSignal,
): Promise<{ error: string; retryable: boolean } | null> {
  const tenantId = evaluator.tenant_id;
  const keys = await findRunKeys(deps.clickhouse, tenantId, runs);
  const order = isSwapped(comparisonId, evaluator.id, example) ? runs.toReversed() : runs;
  const places = order.flatMap((id) => keys.find((key) => key.id === id && !key.deleted) ?? []);
  if (places.length < 2) return { error: "A run of the pair was deleted.", retryable: false };
  const [first, second] = await loadSubjects(deps, tenantId, { kind: "pair", needs: evaluator.needs }, places);
  if (!first || !second) return { error: "A run of the pair was deleted.", retryable: false };
  const subject: Subject = { ...first, other: second.run };
  const principal = systemPrincipal(tenantId);
  const metadata = { comparative_experiment_id: comparisonId };
  const judgement = await evaluate(deps, principal, evaluator, subject, { signal, metadata });
  if (judgement.error !== null) return { error: judgement.error, retryable: judgement.retryable };
  const group = groupId(comparisonId, example, evaluator.id);
  const store = (index: 0 | 1, feedback: Score[]) =>
    storeJudgement(deps, principal, { ...judgement, feedback }, places[index]!, {
      idempotencyKey: `${group} ${order[index]}`,
      comparativeExperimentId: comparisonId,
      feedbackGroupId: group,
    });
  await store(1, judgement.feedback.map(invert));
  await store(
    0,
    judgement.feedback.map((score) => ({ ...score, value: null })),
  );
  return null;
}

/** Returns the score of the other run: evaluators of pairs score the first one between 0 (worse) and 1 (better). */
const invert = (score: Score): Score => ({
  ...score,
  value: null,
  score: score.score === null ? null : 1 - Number(score.score),
});
