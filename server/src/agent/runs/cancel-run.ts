import type { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { conflict, forbidden, notFound } from "../../base/errors.ts";
import { requireThread } from "../custom-auth/require-thread.ts";
import { selectThreadOfRun } from "../custom-auth/sql.ts";
import type { AgentDeps } from "../deps.ts";
import { cancelOnLeave } from "./respond-to-creation.ts";
import type { cancelManyBody } from "./schema.ts";
import { selectCancellable } from "./sql.ts";

export interface Cancellation {
  threadId: string;
  runId: string;
  action: "interrupt" | "rollback";
  wait: boolean;
  reason?: string | undefined;
}

/** Throws `hidden`, or 403, where the project's own rules do not let the caller cancel a run. */
export async function requireCancellation(
  deps: Pick<AgentDeps, "sql" | "access">,
  principal: Principal | null,
  { threadId, runId, action }: Pick<Cancellation, "threadId" | "runId" | "action">,
  hidden: Error = notFound("Run not found"),
): Promise<void> {
  const authValue = { thread_id: threadId, action, metadata: { run_ids: [runId], status: "pending" } };
  await requireThread(deps, principal, "threads:update", authValue, hidden);
}

/**
 * Returns what cancels a run when its reader leaves; undefined where the reader has not asked for it.
 * @param threadId null: that of the run
 * @throws AppError 403 for a reader that may not cancel the run
 */
export async function cancelOnLeaving(
  deps: AgentDeps,
  principal: Principal,
  threadId: string | null,
  runId: string,
  isEnabled: boolean,
): Promise<(() => void) | undefined> {
  if (!isEnabled) return undefined;
  if (!principal.permissions.has("runs:create")) {
    throw forbidden("Forbidden: cancel_on_disconnect requires the permission runs:create.");
  }
  const ofRun = threadId ?? (await selectThreadOfRun(deps.sql, runId));
  if (ofRun === undefined) return undefined;
  await requireCancellation(deps, principal, { threadId: ofRun, runId, action: "interrupt" });
  return cancelOnLeave(deps, ofRun, runId, true);
}

/**
 * Cancels a run. `interrupt` keeps the run and its checkpoints, `rollback` deletes both. With `wait` it returns after
 * the run has stopped. Errors: 404 unknown run, 409 when it has already finished.
 */
export async function cancelOne(
  deps: AgentDeps,
  principal: Principal | null,
  cancellation: Cancellation,
): Promise<void> {
  const { threadId, runId, action, wait, reason } = cancellation;
  await requireCancellation(deps, principal, cancellation);
  const outcome = await deps.queue.cancel(threadId, runId, action, reason ?? "cancelled by the caller");
  if (outcome === "not_found") throw notFound("Run not found");
  if (outcome === "finished") throw conflict("Run has finished already.");
  if (outcome === "signalled" && wait) {
    const stream = deps.queue.has(runId) ? deps.streams.open(runId) : deps.follower.follow(runId, true);
    await stream.done.promise;
  }
}

/** Cancels all matching runs; 404 when there are none. Runs that end in the meantime are ignored. */
export async function cancelMany(
  deps: AgentDeps,
  principal: Principal | null,
  selection: z.output<typeof cancelManyBody>,
  action: "interrupt" | "rollback",
): Promise<void> {
  const ofThread = "thread_id" in selection ? { thread_id: selection.thread_id } : {};
  const metadata =
    "status" in selection ? { status: selection.status } : { run_ids: selection.run_ids, status: "pending" };
  const sees = await deps.access.ask(principal, "threads:update", { ...ofThread, action, metadata });
  const runs = await selectCancellable(
    deps.sql,
    "status" in selection
      ? { statuses: selection.status === "all" ? ["pending", "running"] : [selection.status] }
      : { threadId: selection.thread_id, runIds: selection.run_ids, statuses: ["pending", "running"] },
    sees,
  );
  if (runs.length === 0) throw notFound("No runs found to cancel");
  for (const run of runs) await deps.queue.cancel(run.thread_id, run.run_id, action, "cancelled by the caller");
}
