import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { actorName } from "../legal-holds/actor-name.ts";
import { HeldError } from "../legal-holds/check-holds.ts";
import { findProjectIds } from "../projects/sql.ts";
import { type EraseDeps, erase, type ErasureRequest, recordErasure, rejectHeld, toJob } from "./erase.ts";
import { withdrawErasure } from "./sql.ts";

const BATCH = 10_000;

/**
 * Deletes traces while the caller waits; their disk space is given back by the next sweep.
 *
 * @returns the id of the erasure, of the last one if there are several; undefined when there was nothing to delete
 * @throws 409 while one of them is under legal hold
 */
export async function eraseTraces(
  deps: TraceDeps,
  principal: Principal,
  traces: string[],
  projects: string[] | undefined,
  datasetCopies: boolean,
): Promise<string | undefined> {
  const common = { scope: "traces", projects, datasetCopies, requestedBy: actorName(principal) } as const;
  await rejectHeld(deps.sql, deps, toJob(principal.workspaceId, "", { ...common, traces }));
  let last: string | undefined;
  for (let i = 0; i < traces.length; i += BATCH) {
    const outcome = `${i} of ${traces.length} traces had been deleted before it was placed.`;
    last = await eraseNow(
      deps,
      principal,
      { ...common, traces: traces.slice(i, i + BATCH) },
      i > 0 ? outcome : undefined,
    );
  }
  return last;
}

/** Deletes projects while the caller waits. @returns the deleted ones, and the id of the erasure */
export async function eraseProjects(
  deps: EraseDeps,
  principal: Principal,
  ids: string[],
  datasetCopies: boolean,
): Promise<{ deleted: string[]; erasure_id?: string }> {
  const deleted = await findProjectIds(deps.sql, principal.workspaceId, ids);
  if (deleted.length === 0) return { deleted };
  const request = { scope: "project", projects: deleted, datasetCopies, requestedBy: actorName(principal) } as const;
  await rejectHeld(deps.sql, deps, toJob(principal.workspaceId, "", request));
  return { deleted, erasure_id: await eraseNow(deps, principal, request) };
}

/** @param outcome what was done before, for the error when a hold prevents the rest */
async function eraseNow(
  deps: EraseDeps,
  { workspaceId }: Pick<Principal, "workspaceId">,
  request: ErasureRequest,
  outcome?: string,
): Promise<string> {
  const { id } = await recordErasure(deps.sql, workspaceId, request, false);
  try {
    await erase(deps, toJob(workspaceId, id, request));
  } catch (error) {
    if (!(error instanceof HeldError)) throw error;
    // a caller who got 409 does not expect it to continue when the hold is released
    if (await withdrawErasure(deps.sql, id)) throw outcome === undefined ? error : error.afterStart(outcome);
    throw error.afterStart(`Erasure ${id} had begun, and continues when the hold is released.`);
  }
  return id;
}
