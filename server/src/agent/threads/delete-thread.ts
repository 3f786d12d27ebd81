import { setTimeout as sleep } from "node:timers/promises";

import { retryWhileUnavailable } from "../../base/db/retry.ts";
import type { AgentDeps } from "../deps.ts";
import { selectCancellable, threadExists } from "../runs/sql.ts";
import { deleteThreadStreams } from "../streams/sql.ts";
import { deleteThreadRows } from "./sql.ts";

/**
 * Stops the thread's runs, then deletes it with all its data.
 * @returns false when it does not exist
 */
export async function deleteThread(deps: Pick<AgentDeps, "sql" | "queue">, threadId: string): Promise<boolean> {
  if (!(await threadExists(deps.sql, threadId))) return false;
  await stopThread(deps, threadId);
  // idempotent, so it is repeated when the answer was lost
  await retryWhileUnavailable(() => deleteThreadRows(deps.sql, threadId));
  await retryWhileUnavailable(() => deleteThreadStreams(deps.sql, threadId));
  return true;
}

/** Cancels all runs of the thread. Resolves when none is pending or running. */
async function stopThread({ sql, queue }: Pick<AgentDeps, "sql" | "queue">, threadId: string): Promise<void> {
  const cancelled = new Set<string>();
  for (let pause = 20; ; pause = Math.min(pause * 1.5, 250)) {
    const rows = await selectCancellable(sql, { threadId, statuses: ["pending", "running"] });
    if (rows.length === 0) return;
    // youngest first, so that none of them starts because its predecessor ended
    for (const { run_id: runId } of rows.reverse()) {
      if (cancelled.has(runId)) continue;
      await queue.cancel(threadId, runId, "interrupt", "the thread is being deleted");
      cancelled.add(runId);
    }
    await sleep(pause);
  }
}
