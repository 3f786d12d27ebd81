import type { Principal } from "../../base/auth/principal.ts";
import type { AgentDeps } from "../deps.ts";
import type { Event } from "./events.ts";
import { isThreadPermitted } from "./sql.ts";

/**
 * Throws `hidden` when the project's own rules hide the thread from the caller. A thread that does not exist gets the
 * same answer, so that callers cannot tell the two apart. For routes whose `auth` is `handler`.
 * @param value fields for handlers, with `thread_id`; their changes to them take effect
 */
export async function requireThread(
  { sql, access }: Pick<AgentDeps, "sql" | "access">,
  principal: Principal | null,
  event: Event,
  value: { thread_id: string; [more: string]: unknown },
  hidden: Error,
): Promise<void> {
  const sees = await access.ask(principal, event, value);
  if (sees.length > 0 && !(await isThreadPermitted(sql, value.thread_id, sees))) throw hidden;
}
