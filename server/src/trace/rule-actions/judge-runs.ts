import { setTimeout as sleep } from "node:timers/promises";

import { bind, ch } from "../../base/clickhouse/fragment.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { evaluate } from "../evaluators/evaluate.ts";
import { loadEvaluator } from "../evaluators/load-evaluator.ts";
import { type EvaluatedKey, readEvaluatedRuns } from "../evaluators/read-evaluated-runs.ts";
import type { EvaluatedRun, LoadedEvaluator, Reference, Subject } from "../evaluators/schema.ts";
import { storeJudgement } from "../evaluators/store-judgement.ts";
import { findExample } from "../examples/sql.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import { fromRuns } from "../runs/selection.ts";
import { type ActionContext, failed, type Item, skipped, success } from "./action-context.ts";
import { lockHeld, type Outcome, recordOutcomes } from "./match-sql.ts";
import { reserveSpending, type SpendLimit } from "./spend-limit.ts";
import { addSpent, deleteReservation } from "./spend-sql.ts";

/** Judgements of a batch in progress at once. */
const AT_ONCE = 8;
/** Turns of a thread that evaluators get: the last ones. */
const MAX_TURNS = 100;
/** Pause before the spend limit is asked again, while other judgements may use it up. */
const BUSY_MS = 250;

export interface JudgeOrder {
  evaluatorIds: readonly string[];
  limit: SpendLimit | null;
}

/** Judgement of one evaluator, as the log shows it. */
interface JudgedBy {
  evaluator_id: string;
  evaluator_name?: string;
  version?: number;
  feedback?: { key: string; score: unknown; value: unknown }[];
  cost_usd?: string | null;
  judge_run_id?: string | null;
  error?: string | null;
  retryable?: boolean;
}

/**
 * Judges the runs and stores the judgements as feedback, whose ids follow from match and evaluator. Judgements that
 * succeeded are not repeated. What each match cost is recorded with its outcome, in the window of the spend limit.
 */
export async function judgeRuns(context: ActionContext, order: JudgeOrder, items: readonly Item[]): Promise<void> {
  const { deps, batch } = context;
  const evaluators: (LoadedEvaluator | string)[] = [];
  for (const id of order.evaluatorIds) evaluators.push((await loadEvaluator(deps, batch.tenant_id, id)) ?? id);
  const queue = new FairQueue({ capacity: AT_ONCE });
  const results = await Promise.allSettled(
    items.map((item) => queue.run(() => judgeItem(context, order, evaluators, item))),
  );
  const broken = results.find((result) => result.status === "rejected");
  if (broken) throw broken.reason;
}

async function judgeItem(
  context: ActionContext,
  { limit }: JudgeOrder,
  evaluators: readonly (LoadedEvaluator | string)[],
  item: Item,
): Promise<void> {
  const { signal } = context;
  const { match } = item;
  if (limit) {
    const grant = await waitForGrant(context, limit, match.match_id);
    if (grant !== undefined) return finish(context, item, skipped(grant), null);
  }
  let spent = 0n;
  const judged: JudgedBy[] = [];
  const before = (match.outcomes["evaluators"]?.payload?.["judgements"] ?? []) as JudgedBy[];
  for (const evaluator of evaluators) {
    signal.throwIfAborted();
    const id = typeof evaluator === "string" ? evaluator : evaluator.id;
    const known = before.find((one) => one.evaluator_id === id && !one.error);
    if (known) judged.push(known);
    else if (typeof evaluator === "string") judged.push({ evaluator_id: id, error: `Evaluator ${id} was deleted.` });
    else {
      const judgement = await judgeBy(context, evaluator, item);
      spent += parseDecimal(judgement.cost_usd ?? "0") ?? 0n;
      judged.push(judgement);
    }
  }
  await finish(context, item, outcomeOf(judged), limit || spent > 0n ? formatDecimal(spent) : null);
}

function outcomeOf(judged: readonly JudgedBy[]): Outcome {
  const judgements = judged as unknown as Record<string, unknown>[];
  const broken = judged.filter((one) => one.error);
  if (broken.length === 0) return success({ judgements });
  const error = broken.map((one) => `${one.evaluator_name ?? one.evaluator_id}: ${one.error}`).join("; ");
  const isBudget = broken.every((one) => /model budget of this workspace/.test(one.error ?? ""));
  if (isBudget && broken.length === judged.length)
    return { outcome: "skipped", payload: { reason: error, judgements } };
  return failed(error, { judgements, ...(broken.some((one) => one.retryable) && { retryable: true }) });
}

/** @returns why the match must not be judged; undefined when it may be */
async function waitForGrant(
  { deps, batch, signal }: ActionContext,
  limit: SpendLimit,
  matchId: string,
): Promise<string | undefined> {
  for (;;) {
    signal.throwIfAborted();
    const grant = await reserveSpending(deps, batch, matchId, limit);
    if (grant.grant === "granted") return undefined;
    if (grant.grant === "exhausted") return grant.reason;
    await sleep(BUSY_MS, undefined, { signal });
  }
}

/** Records the outcome of a match and what it cost, if the lease still holds it, and ends its reservation. */
async function finish(
  { deps, batch, fault }: ActionContext,
  { match }: Item,
  outcome: Outcome,
  cost: string | null,
): Promise<void> {
  fault("rule-after-evaluators");
  await deps.sql.begin(async (tx) => {
    const held = await lockHeld(tx, batch.lease_id, [match]);
    if (held.size === 0) return;
    const { match_id } = match;
    await recordOutcomes(tx, batch.lease_id, [{ match_id, outcomes: { evaluators: outcome }, cost_usd: cost }]);
    if (cost !== null) await addSpent(tx, match_id, cost);
    await deleteReservation(tx, match_id, batch.lease_id);
  });
  match.outcomes["evaluators"] = outcome;
}

async function judgeBy(context: ActionContext, evaluator: LoadedEvaluator, { match, run }: Item): Promise<JudgedBy> {
  const { deps, principal, rule, signal, batch } = context;
  const subject = await readSubject(context, evaluator, run, match.thread_id);
  const metadata = { rule_id: rule.rule_id, rule_name: rule.display_name, match_id: match.match_id };
  const { retryable, ...judgement } = await evaluate(deps, principal, evaluator, subject, { signal, metadata });
  signal.throwIfAborted();
  context.fault("rule-judged");
  await storeJudgement(deps, principal, judgement, run, {
    idempotencyKey: `${match.match_id} ${evaluator.id}`,
    extra: { rule_id: batch.rule_id },
  });
  const { evaluator_id, version, cost_usd, judge_run_id, error } = judgement;
  return {
    evaluator_id,
    evaluator_name: evaluator.name,
    version,
    feedback: judgement.feedback.map(({ key, score, value }) => ({ key, score, value })),
    cost_usd,
    judge_run_id,
    error,
    ...(retryable && { retryable }),
  };
}

async function readSubject(
  context: ActionContext,
  evaluator: LoadedEvaluator,
  run: EvaluatedRun,
  threadId: string | null,
): Promise<Subject> {
  const { deps, batch } = context;
  const { needs, definition } = evaluator;
  const [whole = run] = needs.children
    ? await readEvaluatedRuns(deps, batch.tenant_id, [run], { children: true })
    : [run];
  const thread = threadId ?? run.thread_id;
  const turns = needs.thread && thread !== null ? await readTurns(context, run, thread) : undefined;
  const reference = needs.reference ? await readReference(context, run) : undefined;
  return {
    kind: definition.subject,
    run: whole,
    ...(reference && { reference }),
    ...(turns && { thread: turns }),
  };
}

/** Reads the turns of a thread up to a run, oldest first. */
async function readTurns({ deps, batch }: ActionContext, run: EvaluatedRun, threadId: string): Promise<EvaluatedRun[]> {
  const scope = RunScope.ofTenant(batch.tenant_id);
  const statement = ch`select r.id, r.project_id, r.start_time, r.trace_id
    ${fromRuns(scope, { projects: [run.project_id], threads: [threadId], is_head: true })}
    order by r.start_time desc, r.id desc limit ${bind("UInt32", MAX_TURNS)}`;
  const keys = await readRows<EvaluatedKey>(deps.clickhouse.forTenant(batch.tenant_id), "rules.turns", statement);
  return readEvaluatedRuns(deps, batch.tenant_id, keys.toReversed());
}

async function readReference({ deps, batch }: ActionContext, run: EvaluatedRun): Promise<Reference | undefined> {
  if (run.reference_example_id === null) return undefined;
  const found = await findExample(deps.sql, batch.tenant_id, run.reference_example_id, "latest");
  if (!found) return undefined;
  const { inputs, outputs, metadata } = JSON.parse(found.item) as Reference;
  return { inputs, outputs, metadata: metadata ?? {} };
}
