import type { Principal } from "../../base/auth/principal.ts";
import type { Transaction } from "../../base/db/connect.ts";
import { AppError } from "../../base/errors.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { TraceDeps } from "../deps.ts";
import type { EvaluatedRun } from "../evaluators/schema.ts";
import type { Rule } from "../rules/sql.ts";
import { type ClaimedMatch, lockHeld, type MatchBatch, type Outcome, recordOutcomes } from "./match-sql.ts";

export type ActionName =
  | "add_to_annotation_queue"
  | "add_to_dataset"
  | "tags"
  | "feedback"
  | "extend_only"
  | "evaluators"
  | "alignment_queue"
  | "webhooks"
  | "alerts";

/** A match with the run that it is about. */
export interface Item {
  match: ClaimedMatch;
  run: EvaluatedRun;
}

/** Common input of actions. */
export interface ActionContext {
  deps: TraceDeps;
  principal: Principal;
  rule: Rule;
  batch: MatchBatch;
  signal: AbortSignal;
  fault: FaultPoint;
}

export const success = (payload: Record<string, unknown> | null = null): Outcome => ({ outcome: "success", payload });
export const skipped = (reason: string): Outcome => ({ outcome: "skipped", payload: { reason } });
export const failed = (error: string, more: Record<string, unknown> = {}): Outcome => ({
  outcome: "error",
  payload: { error, ...more },
});

/** Whether a recorded outcome is final: a failure that may pass is tried again. */
export const isFinal = (outcome: Outcome | undefined): boolean =>
  outcome !== undefined && !(outcome.outcome === "error" && outcome.payload?.["retryable"] === true);

/** Records the same kind of outcome of several matches. */
export async function record(
  { deps, batch }: ActionContext,
  name: ActionName,
  outcomes: readonly (readonly [Item, Outcome])[],
  tx?: Transaction,
): Promise<void> {
  await recordOutcomes(
    tx ?? deps.sql,
    batch.lease_id,
    outcomes.map(([{ match }, outcome]) => ({ match_id: match.match_id, outcomes: { [name]: outcome } })),
  );
  if (!tx) apply(name, outcomes);
}

const apply = (name: ActionName, outcomes: readonly (readonly [Item, Outcome])[]): void => {
  for (const [{ match }, outcome] of outcomes) match.outcomes[name] = outcome;
};

/**
 * Performs an action on Postgres: its effect and its outcomes are one commit, of the matches that the lease still holds.
 * If the action is rejected, the batch is halved until each rejected match is alone.
 */
export async function actInTransaction(
  context: ActionContext,
  name: ActionName,
  items: readonly Item[],
  work: (tx: Transaction, held: readonly Item[]) => Promise<readonly (readonly [Item, Outcome])[]>,
): Promise<void> {
  if (items.length === 0) return;
  const { deps, batch, fault } = context;
  try {
    const outcomes = (await deps.sql.begin(async (tx) => {
      const held = await lockHeld(
        tx,
        batch.lease_id,
        items.map(({ match }) => match),
      );
      const own = items.filter(({ match }) => held.has(match.match_id));
      if (own.length === 0) return [];
      const done = await work(tx, own);
      await record(context, name, done, tx);
      return done;
    })) as (readonly [Item, Outcome])[];
    apply(name, outcomes);
    fault(`rule-after-${name}`);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    if (items.length === 1) return record(context, name, [[items[0]!, failed(error.message)]]);
    const half = items.length >> 1;
    await actInTransaction(context, name, items.slice(0, half), work);
    await actInTransaction(context, name, items.slice(half), work);
  }
}

/** Namespace of the ids that follow from a match. */
export const MATCH_NAMESPACE = "5f0d0a4c-7f1e-5d0b-9d5c-2c1f6c0e8a11";
