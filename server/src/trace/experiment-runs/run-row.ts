/**
 * Executes one row. The target's answer is stored with the row before its runs are stored and judged: after a crash the
 * target is called again only if its answer was not stored, and everything after follows from the stored answer, under
 * the same ids.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import type { LoadedEvaluator } from "../evaluators/schema.ts";
import { ingestRuns, onlyRuns } from "../ingest/ingest-runs.ts";
import { readBatch } from "../ingest/read-messages.ts";
import type { ReadyTarget, TargetAnswer, TargetInput } from "./answer.ts";
import { judgeRow } from "./judge-row.ts";
import type { ClaimedJob } from "./queue-sql.ts";
import { composeResult, type RowResult, rowRunId } from "./row-runs.ts";
import * as rows from "./row-sql.ts";

export interface RowContext {
  deps: TraceDeps;
  principal: Principal;
  job: ClaimedJob;
  target: ReadyTarget;
  evaluators: readonly LoadedEvaluator[];
  signal: AbortSignal;
}

/** `lost`: another process has the row. */
export type RowOutcome =
  | { kind: "done" | "lost" }
  | { kind: "failed"; error: string }
  | { kind: "stop"; reason: string };

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/** Executes a row up to its end. Rejects when the signal is aborted; the row then waits again. */
export async function runRow(context: RowContext, row: rows.OpenRow): Promise<RowOutcome> {
  const { deps, job } = context;
  const place = { tenant_id: job.tenant_id, project_id: job.project_id, row_index: row.row_index };
  if (row.status === "ran") {
    const stored = parseJson(row.result!) as RowResult;
    return finishRow(context, row, { ...place, claims: row.claims }, stored);
  }
  const claims = await rows.claimRow(deps.sql, job, row.row_index);
  if (claims === undefined) return { kind: "lost" };
  const claim = { ...place, claims };
  if (row.inputs === null) {
    const error = "The example was erased from the dataset.";
    await rows.endRow(deps.sql, claim, { ...NOTHING, status: "failed", error });
    return { kind: "failed", error };
  }
  let result: RowResult;
  try {
    const input: TargetInput = {
      inputs: parseJson(row.inputs) as Record<string, unknown>,
      metadata: row.metadata ?? {},
      example_id: row.example_id,
      repetition: row.repetition,
    };
    const id = rowRunId(job.project_id, row);
    const { answer, tries } = await callTarget(context, input, id);
    if (answer.error?.stop !== undefined) {
      await rows.unclaimRow(deps.sql, claim);
      return { kind: "stop", reason: answer.error.stop };
    }
    const { name, metadata } = context.target;
    const given = { ...job.metadata, ...metadata };
    result = composeResult(input, answer, { id, name, projectId: job.project_id, tries, metadata: given });
  } catch (error) {
    await rows.unclaimRow(deps.sql, claim);
    throw error;
  }
  if (!(await rows.storeResult(deps.sql, claim, JSON.stringify(result)))) return { kind: "lost" };
  return finishRow(context, row, claim, result);
}

const NOTHING = {
  run_id: null,
  error: null,
  judge_errors: null,
  scores: null,
  latency_ms: null,
  total_tokens: null,
  cost_usd: null,
  judge_cost_usd: null,
};

/** Calls the target, again after transient failures. */
async function callTarget(
  { target, job, signal }: RowContext,
  input: TargetInput,
  id: string,
): Promise<{ answer: TargetAnswer; tries: number }> {
  for (let tries = 1; ; tries++) {
    const answer = await target.call(input, { id, attempt: tries }, signal);
    if (!answer.error?.retryable || tries > job.options.retries) return { answer, tries };
    const own = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
    const asked = (answer.error.retryAfterSeconds ?? 0) * 1000;
    await sleep(Math.max(own, Math.min(asked, 10 * LONGEST_PAUSE_MS)), undefined, { signal });
  }
}

/** Stores the runs of a row, judges it, and ends it. Repeating this changes nothing. */
async function finishRow(
  { deps, principal, evaluators, signal }: RowContext,
  row: rows.OpenRow,
  claim: rows.RowClaim,
  result: RowResult,
): Promise<RowOutcome> {
  const { run, children, latency_ms, total_tokens, cost_usd } = result;
  const measured = { run_id: run.id, latency_ms, total_tokens, cost_usd };
  try {
    await ingestRuns(deps, principal, onlyRuns(readBatch(JSON.stringify({ post: [run, ...children] }))));
  } catch (failure) {
    if (!(failure instanceof AppError) || failure.status >= 500) throw failure;
    const error = `The run could not be stored: ${failure.message}`;
    await rows.endRow(deps.sql, claim, { ...NOTHING, ...measured, status: "failed", error });
    return { kind: "failed", error };
  }
  if (run.error !== null) {
    await rows.endRow(deps.sql, claim, { ...NOTHING, ...measured, status: "failed", error: run.error });
    return { kind: "failed", error: run.error };
  }
  const reference = {
    inputs: run.inputs,
    outputs: row.outputs === null ? null : parseJson(row.outputs),
    metadata: row.metadata ?? {},
  };
  const judged = await judgeRow(deps, principal, evaluators, result, reference, signal);
  const { scores, errors, cost_usd: judge_cost_usd } = judged;
  await rows.endRow(deps.sql, claim, {
    ...NOTHING,
    ...measured,
    status: errors.length > 0 ? "unjudged" : "done",
    judge_errors: errors.length > 0 ? errors : null,
    scores,
    judge_cost_usd,
  });
  return { kind: "done" };
}
