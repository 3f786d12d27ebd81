import type { Principal } from "../../base/auth/principal.ts";
import type { AgentDeps } from "../deps.ts";
import { selectPermittedThreads } from "./sql.ts";

/** Filters threads by the project's own rules. The handler is called once per thread. */
export async function permittedThreads(
  { sql, access }: Pick<AgentDeps, "sql" | "access">,
  principal: Principal | null,
  event: "threads:update" | "threads:delete",
  ids: string[],
): Promise<string[]> {
  if (!access.isOn || principal === null) return ids;
  const requestedThreads = [];
  for (const id of new Set(ids)) {
    requestedThreads.push({ thread_id: id, conditions: await access.ask(principal, event, { thread_id: id }) });
  }
  return selectPermittedThreads(sql, requestedThreads);
}
