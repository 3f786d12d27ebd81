import type { Principal } from "../../base/auth/principal.ts";
import type { AppError } from "../../base/errors.ts";
import type { AgentDeps } from "../deps.ts";
import type { Event } from "./events.ts";
import { isThreadPermitted } from "./sql.ts";

/**
 * For what asks by itself: throws `hidden` when the project's own rules keep the thread from the caller. A thread
 * that there is not is no different, so that nobody can tell.
 * @param value what handlers see, with `thread_id`; what they change in it counts
 */
export async function requireThread(
  { sql, access }: Pick<AgentDeps, "sql" | "access">,
  principal: Principal | null,
  event: Event,
  value: { thread_id: string; [more: string]: unknown },
  hidden: AppError,
): Promise<void> {
  const sees = await access.ask(principal, event, value);
  if (sees.length > 0 && !(await isThreadPermitted(sql, value.thread_id, sees))) throw hidden;
}
