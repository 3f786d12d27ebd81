import { setTimeout as sleep } from "node:timers/promises";

import type { Principal } from "../../base/auth/principal.ts";
import { notFound, unavailable } from "../../base/errors.ts";
import { permittedThreads } from "../custom-auth/permitted-threads.ts";
import type { AgentDeps } from "../deps.ts";
import { deleteThread } from "../threads/delete-thread.ts";
import { assistantExists, cancelRunsOfAssistant, deleteAssistantRow, selectThreadsOfAssistant } from "./sql.ts";

const STOP_MS = 10_000;

/**
 * Stops the assistant's runs, then deletes it with its versions and runs, and on request the threads that have its id.
 * Nothing is deleted before all runs have stopped: if one does not stop, everything stays.
 */
export async function deleteAssistant(
  deps: AgentDeps,
  principal: Principal | null,
  id: string,
  withThreads: boolean,
): Promise<void> {
  if (!(await assistantExists(deps.sql, id))) throw notFound("Assistant not found");
  const deadline = performance.now() + STOP_MS;
  while ((await cancelRunsOfAssistant(deps.sql, id)) > 0) {
    if (performance.now() > deadline)
      throw unavailable("A run of the assistant did not stop in time. Try again later.", 5);
    await sleep(50);
  }
  if (withThreads) {
    const all = await selectThreadsOfAssistant(deps.sql, id);
    for (const threadId of await permittedThreads(deps, principal, "threads:delete", all)) {
      await deleteThread(deps, threadId);
    }
  }
  if (!(await deleteAssistantRow(deps.sql, id))) throw notFound("Assistant not found");
}
