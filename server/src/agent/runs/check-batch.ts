import type { Principal } from "../../base/auth/principal.ts";
import type { AgentDeps } from "../deps.ts";
import { checkRun, unknownAssistant } from "./create-run.ts";
import type { RunBody } from "./schema.ts";

/**
 * Validates a whole batch first: if one run would be rejected, none starts, because a caller that repeats the batch
 * would start the others twice.
 */
export async function checkBatch(deps: AgentDeps, bodies: RunBody[], principal: Principal): Promise<void> {
  const given = new Map<string, string>();
  for (const body of bodies) given.set(await checkRun(deps, body, principal), body.assistant_id);
  const rows = await deps.sql<{ id: string }[]>`
    select assistant_id as id from assistants where assistant_id = any(${[...given.keys()]}::uuid[])`;
  for (const { id } of rows) given.delete(id);
  for (const unknown of given.values()) throw unknownAssistant(unknown);
}
