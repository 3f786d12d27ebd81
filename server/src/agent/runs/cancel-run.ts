import type { z } from "zod";

import { conflict, notFound } from "../../base/errors.ts";
import type { AgentDeps } from "../deps.ts";
import type { cancelManyBody } from "./schema.ts";
import { selectCancellable } from "./sql.ts";

export interface Cancellation {
  threadId: string;
  runId: string;
  action: "interrupt" | "rollback";
  wait: boolean;
  reason?: string | undefined;
}

/**
 * Cancels a run. `interrupt` keeps it and its checkpoints, `rollback` deletes both. With `wait` it returns when
 * the run has stopped. Errors: 404 unknown run, 409 when it has finished already.
 */
export async function cancelOne(deps: AgentDeps, cancellation: Cancellation): Promise<void> {
  const { threadId, runId, action, wait, reason } = cancellation;
  const outcome = await deps.queue.cancel(threadId, runId, action, reason ?? "cancelled by the caller");
  if (outcome === "not_found") throw notFound("Run not found");
  if (outcome === "finished") throw conflict("Run has finished already.");
  if (outcome === "signalled" && wait) {
    const stream = deps.queue.has(runId) ? deps.streams.open(runId) : deps.follower.follow(runId, threadId);
    await stream.done.promise;
  }
}

/** Cancels all runs that match; 404 when none does. Runs that end in between are no error. */
export async function cancelMany(
  deps: AgentDeps,
  which: z.output<typeof cancelManyBody>,
  action: "interrupt" | "rollback",
): Promise<void> {
  const runs = await selectCancellable(
    deps.sql,
    "status" in which
      ? { statuses: which.status === "all" ? ["pending", "running"] : [which.status] }
      : { threadId: which.thread_id, runIds: which.run_ids, statuses: ["pending", "running"] },
  );
  if (runs.length === 0) throw notFound("No runs found to cancel");
  for (const run of runs) await deps.queue.cancel(run.thread_id, run.run_id, action, "cancelled by the caller");
}
