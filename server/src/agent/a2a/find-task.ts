import type { Principal } from "../../base/auth/principal.ts";
import { isUuid } from "../../base/ids.ts";
import { isThreadPermitted } from "../custom-auth/sql.ts";
import type { AgentDeps } from "../deps.ts";
import { taskNotFound } from "./errors.ts";
import { selectTask, type TaskRow } from "./sql.ts";

/** Finds a task of this assistant. Answers "not found" when the project's own rules hide its thread from the caller. */
export async function findTask(
  deps: AgentDeps,
  { assistantId, principal }: { assistantId: string; principal: Principal },
  taskId: string,
): Promise<TaskRow> {
  const row = isUuid(taskId) ? await selectTask(deps.sql, assistantId, taskId) : undefined;
  if (!row) throw taskNotFound(taskId);
  const sees = await deps.access.ask(principal, "threads:read", { thread_id: row.thread_id });
  if (sees.length > 0 && !(await isThreadPermitted(deps.sql, row.thread_id, sees))) throw taskNotFound(taskId);
  return row;
}
