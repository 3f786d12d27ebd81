import { AppError, conflict, notFound } from "../../base/errors.ts";
import type { AgentDeps } from "../deps.ts";
import { refreshThreadHead } from "../runs/refresh-thread.ts";
import { lockStateRow, settleUpdatedState } from "./sql.ts";
import type { StateUpdate } from "./state-schema.ts";

/** Limit for the host's part, during which the thread stays locked. */
export const UPDATE_TIMEOUT_MS = 15_000;

/**
 * Writes a checkpoint from given values. The thread's row stays locked until then: a run accepted at the same time waits
 * and then starts from the updated state, and the second of two updates sees the first.
 * @returns `{"checkpoint": …}` as JSON text
 */
export async function updateState(
  deps: Pick<AgentDeps, "sql" | "hosts" | "log">,
  threadId: string,
  update: StateUpdate,
): Promise<string> {
  const settle = deps.sql.begin(async (tx) => {
    const thread = await lockStateRow(tx, threadId);
    if (!thread) throw notFound(`Thread with ID ${threadId} not found`);
    if (thread.busy) throw conflict("Thread is busy");
    if (thread.graph_id === null) throw new AppError(400, `Thread ${threadId} has no graph ID`);
    const checkpoint = { ...(update.checkpoint_id && { checkpoint_id: update.checkpoint_id }), ...update.checkpoint };
    const write = { values: update.values ?? null, ...(update.as_node && { as_node: update.as_node }) };
    const result = await deps.hosts.call(
      "state.update",
      {
        graph_id: thread.graph_id,
        thread_id: threadId,
        config: thread.config,
        ...(Object.keys(checkpoint).length > 0 && { checkpoint }),
        supersteps: [{ updates: [write] }],
      },
      { timeoutMs: UPDATE_TIMEOUT_MS },
    );
    return `{"checkpoint":${await settleUpdatedState(tx, threadId, result.toString())}}`;
  });
  return settle.catch((error: unknown) => {
    // the host may have written, or may still; if the refresh fails, stale-threads.ts updates the thread's row later
    if (!(error instanceof AppError) || error.status >= 500) {
      refreshThreadHead(deps.sql, deps.hosts, threadId).catch((cause: unknown) =>
        deps.log.debug({ err: cause, thread_id: threadId }, "could not read the thread's state after an update"),
      );
    }
    throw error;
  });
}
