import { retryWhileUnavailable } from "../../base/db/retry.ts";
import type { AgentDeps } from "../deps.ts";
import { threadExists } from "../runs/sql.ts";
import { deleteThreadStreams } from "../streams/sql.ts";
import { deleteThreadRows } from "./sql.ts";

/**
 * Stops the thread's runs, then deletes it with all its data.
 * @returns false when it does not exist
 */
export async function deleteThread(deps: Pick<AgentDeps, "sql" | "queue">, threadId: string): Promise<boolean> {
  if (!(await threadExists(deps.sql, threadId))) return false;
  await deps.queue.stopThread(threadId);
  // idempotent, so it is repeated when the answer was lost
  await retryWhileUnavailable(() => deleteThreadRows(deps.sql, threadId));
  await retryWhileUnavailable(() => deleteThreadStreams(deps.sql, threadId));
  return true;
}
