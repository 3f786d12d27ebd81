import { pauseAfter } from "../../base/webhooks/backoff.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { TraceDeps } from "../deps.ts";
import { readEvaluatedRuns } from "../evaluators/read-evaluated-runs.ts";
import { systemPrincipal } from "../evaluators/system-principal.ts";
import { findRule, type Rule } from "../rules/sql.ts";
import { type ActionContext, type ActionName, isFinal, type Item } from "./action-context.ts";
import { addToAlignmentQueues } from "./add-to-alignment-queues.ts";
import { addToDataset } from "./add-to-dataset.ts";
import { addToQueue } from "./add-to-queue.ts";
import { extendRetention, giveFeedback, tagRuns } from "./change-runs.ts";
import { enqueueMessages } from "./enqueue-messages.ts";
import { judgeRuns } from "./judge-runs.ts";
import {
  type ClaimedMatch,
  endMatches,
  type EndedMatch,
  lockHeld,
  type MatchBatch,
  type Outcomes,
  postponeMatches,
  type PostponedMatch,
} from "./match-sql.ts";
import type { SpendLimit } from "./spend-limit.ts";

/** Attempts after which a match fails for good. The last comes about an hour after the first. */
const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 4000;

export const pauseAfterAttempt = (attempts: number): number => pauseAfter(attempts, FIRST_PAUSE_MS);

/**
 * Performs the actions of a batch of matches and ends those that are complete; the others are tried again later. Actions
 * that an earlier attempt completed are not repeated.
 */
export async function actOnBatch(
  deps: TraceDeps,
  fault: FaultPoint,
  batch: MatchBatch,
  signal: AbortSignal,
): Promise<void> {
  const { sql } = deps;
  fault("rule-claimed");
  const rule = await findRule(sql, batch.tenant_id, batch.rule_id);
  if (!rule) return;
  const skip = (matches: readonly ClaimedMatch[], reason: string) =>
    endMatches(
      sql,
      batch.lease_id,
      matches.map(({ match_id }) => ({ match_id, status: "skipped", reason, outcomes: {} })),
    );
  // those of a back-fill were asked for
  const stopped = rule.is_enabled ? [] : batch.matches.filter((match) => !match.is_backfill);
  await skip(stopped, `The rule was disabled before it acted on this run.${reasonOf(rule)}`);
  const exhausted = batch.matches.filter((match) => match.attempts > MAX_ATTEMPTS);
  await endMatches(
    sql,
    batch.lease_id,
    exhausted.map(({ match_id }) => ({
      match_id,
      status: "failed",
      reason: null,
      outcomes: {},
    })),
  );
  const left = batch.matches.filter((match) => !stopped.includes(match) && !exhausted.includes(match));
  if (!hasActions(rule)) {
    await endMatches(
      sql,
      batch.lease_id,
      left.map(({ match_id }) => ({ match_id, status: "done", reason: null, outcomes: {} })),
    );
    return;
  }
  const keys = left.map(({ run_id, ...key }) => ({ ...key, id: run_id }));
  const runs = new Map((await readEvaluatedRuns(deps, batch.tenant_id, keys)).map((run) => [run.id, run]));
  const items = left.flatMap((match): Item[] => {
    const run = runs.get(match.run_id);
    return run ? [{ match, run }] : [];
  });
  await skip(
    left.filter((match) => !runs.has(match.run_id)),
    "The run was deleted before the rule acted on it.",
  );
  const principal = systemPrincipal(batch.tenant_id);
  const context: ActionContext = { deps, principal, rule, batch, signal, fault };
  await perform(context, items);
  await end(context, items);
}

/** Whether a rule does more than to note its matches. */
const hasActions = (rule: Rule): boolean => {
  const { add_to_annotation_queue_id, add_to_dataset_id, add_tags, add_feedback, extend_only, webhooks, alerts } =
    rule.actions;
  return (
    evaluatorsOf(rule).length > 0 ||
    Boolean(add_to_annotation_queue_id) ||
    Boolean(add_to_dataset_id) ||
    extend_only === true ||
    [add_tags, add_feedback, webhooks, alerts].some((list) => (list?.length ?? 0) > 0)
  );
};

const reasonOf = ({ disabled_reason: reason }: Rule): string => (reason === null ? "" : ` ${reason}`);

async function perform(context: ActionContext, items: readonly Item[]): Promise<void> {
  const { rule, signal } = context;
  const { actions } = rule;
  const act = async (name: ActionName, work: (open: readonly Item[]) => Promise<void>) => {
    signal.throwIfAborted();
    const open = items.filter(({ match }) => !isFinal(match.outcomes[name]));
    if (open.length > 0) await work(open);
  };
  const { add_to_annotation_queue_id: queueId, add_to_dataset_id: datasetId, add_tags, add_feedback } = actions;
  if (queueId) await act("add_to_annotation_queue", (open) => addToQueue(context, queueId, open));
  if (datasetId) {
    const order = {
      datasetId,
      prefersCorrection: actions.add_to_dataset_prefer_correction ?? false,
      mapping: actions.dataset_mapping ?? null,
    };
    await act("add_to_dataset", (open) => addToDataset(context, order, open));
  }
  if (add_tags?.length) await act("tags", (open) => tagRuns(context, add_tags, open));
  if (add_feedback?.length) await act("feedback", (open) => giveFeedback(context, add_feedback, open));
  if (actions.extend_only) await act("extend_only", (open) => extendRetention(context, open));
  const evaluatorIds = evaluatorsOf(rule);
  if (evaluatorIds.length > 0) {
    const order = { evaluatorIds, limit: limitOf(rule) };
    await act("evaluators", (open) => judgeRuns(context, order, open));
    if (actions.create_alignment_queue) {
      await act("alignment_queue", (open) => addToAlignmentQueues(context, evaluatorIds, open));
    }
  }
}

/** The evaluators of a rule: the named one first. */
export const evaluatorsOf = ({ evaluator_id, actions }: Pick<Rule, "evaluator_id" | "actions">): string[] => [
  ...new Set([...(evaluator_id === null ? [] : [evaluator_id]), ...(actions.evaluator_ids ?? [])]),
];

const limitOf = ({ spend_limit_usd, actions }: Pick<Rule, "spend_limit_usd" | "actions">): SpendLimit | null => {
  if (spend_limit_usd === null) return null;
  return { limit_usd: spend_limit_usd, window: actions.spend_window ?? "weekly" };
};

/** Ends complete matches with their messages in one commit, and postpones the others. */
async function end(context: ActionContext, items: readonly Item[]): Promise<void> {
  const { deps, batch, fault } = context;
  const isOpen = ({ match }: Item) =>
    match.attempts < MAX_ATTEMPTS && Object.values(match.outcomes).some((outcome) => !isFinal(outcome));
  const complete = items.filter((item) => !isOpen(item));
  fault("rule-before-end");
  await deps.sql.begin(async (tx) => {
    const held = await lockHeld(
      tx,
      batch.lease_id,
      complete.map(({ match }) => match),
    );
    const own = complete.filter(({ match }) => held.has(match.match_id));
    const messages = await enqueueMessages(tx, context, own);
    await endMatches(
      tx,
      batch.lease_id,
      own.map(({ match }) => endOf(match, messages.get(match.match_id) ?? {})),
    );
    await postponeMatches(
      tx,
      batch.lease_id,
      items.filter(isOpen).map(({ match }): PostponedMatch => {
        return {
          match_id: match.match_id,
          pauseMs: pauseAfterAttempt(match.attempts),
          reason: errorsOf(match.outcomes),
          counts: true,
        };
      }),
    );
  });
  deps.ruleMessages.wake();
  fault("rule-after-end");
}

function endOf({ match_id, outcomes }: ClaimedMatch, messages: Outcomes): EndedMatch {
  const all = Object.values({ ...outcomes, ...messages });
  const errors = errorsOf(outcomes);
  if (errors !== null) return { match_id, status: "failed", reason: errors, outcomes: messages };
  const reasons = all.flatMap((outcome) =>
    outcome.outcome === "skipped" ? [String(outcome.payload?.["reason"])] : [],
  );
  const reason = reasons.length > 0 ? reasons.join(" ") : null;
  const isSkipped = all.length > 0 && all.every((outcome) => outcome.outcome === "skipped");
  return { match_id, status: isSkipped ? "skipped" : "done", reason, outcomes: messages };
}

function errorsOf(outcomes: Outcomes): string | null {
  const errors = Object.entries(outcomes).flatMap(([name, { outcome, payload }]) =>
    outcome === "error" ? [`${name}: ${String(payload?.["error"])}`] : [],
  );
  return errors.length > 0 ? errors.join("; ") : null;
}
