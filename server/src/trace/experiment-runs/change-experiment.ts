import type { Principal } from "../../base/auth/principal.ts";
import { conflict, notFound } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { eraseTraces } from "../erasures/erase-at-request.ts";
import { findTraces } from "../runs/delete-clickhouse.ts";
import { RunScope } from "../runs/run-scope.ts";
import { changeJob } from "./queue-sql.ts";
import { retryRows } from "./row-sql.ts";
import { findJobStatus } from "./sql.ts";

export const NOT_FOUND = "Experiment run not found";

/** Cancels or resumes an experiment. @throws 404, and 409 when its status does not permit it */
export async function changeExperiment(
  { sql, experimentRuns }: Pick<TraceDeps, "sql" | "experimentRuns">,
  tenantId: string,
  id: string,
  event: "cancel" | "resume",
): Promise<void> {
  if (!(await changeJob(sql, tenantId, id, event))) throw await rejection(sql, tenantId, id, event);
  experimentRuns.wake();
}

/**
 * Executes the failed rows again, under new runs, and judges the unjudged ones. The traces of the failed ones are
 * deleted.
 * @returns the number of rows
 * @throws 404, and 409 for an experiment that is still executed, and for runs under a legal hold
 */
export async function retryFailed(deps: TraceDeps, principal: Principal, id: string): Promise<number> {
  const { sql } = deps;
  const tenantId = principal.workspaceId;
  const { retried, runs } = await sql.begin(async (tx) => {
    const result = await retryRows(tx, tenantId, id);
    if (!(await changeJob(tx, tenantId, id, "retry"))) throw await rejection(sql, tenantId, id, "retry");
    return result;
  });
  if (runs.length > 0) {
    const found = await findTraces(deps.clickhouse, RunScope.of(principal), { projects: [id], traces: runs });
    if (found.length > 0) await eraseTraces(deps, principal, found, [id], false);
  }
  deps.experimentRuns.wake();
  return retried;
}

async function rejection(sql: TraceDeps["sql"], tenantId: string, id: string, event: string): Promise<Error> {
  const status = await findJobStatus(sql, tenantId, id);
  if (status === undefined) return notFound(NOT_FOUND);
  const verbs: Record<string, string> = { cancel: "cancelled", resume: "resumed", retry: "retried" };
  return conflict(`The experiment is ${status}, so it cannot be ${verbs[event]}.`);
}
