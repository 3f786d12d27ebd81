import { unknownDeployment } from "./not-found.ts";
import { type DeleteOptions, lockDeployment, markDeleting } from "./sql.ts";
import { stateError } from "./validate.ts";
import type { ControlDeps } from "../deps.ts";
import { interruptAll } from "../revisions/sql.ts";

/**
 * Marks a deployment for deletion; it accepts no more requests. The worker stops its instances and removes its data,
 * retrying until nothing is left. Repeating this is harmless.
 */
export async function deleteDeployment(
  deps: ControlDeps,
  tenantId: string,
  id: string,
  wishes: DeleteOptions = { deleteTracingProject: false, force: false },
): Promise<void> {
  if (wishes.deleteTracingProject && (await knownTraces(deps)) === null) {
    throw stateError("delete_tracing_project: this installation has no trace platform.");
  }
  await deps.sql.begin(async (tx) => {
    const row = await lockDeployment(tx, tenantId, id);
    if (!row) throw unknownDeployment(id);
    if (wishes.force && row.status !== "AWAITING_DELETE") {
      throw stateError(`Deployment ID ${id} is active: force applies only to a deletion that is stuck.`);
    }
    await markDeleting(tx, id, wishes);
    await interruptAll(tx, id);
  });
  await deps.table.refresh();
  deps.worker.wake();
}

/** Resolves to undefined while the trace platform is starting. */
const knownTraces = ({ traces }: ControlDeps) => Promise.race([traces, Promise.resolve(undefined)]);

/** Deletes several deployments. 404 when none of them exists. */
export async function deleteMany(
  deps: ControlDeps,
  tenantId: string,
  ids: string[],
): Promise<{ deleted: string[]; failed: { id: string; detail: string }[] }> {
  const deleted: string[] = [];
  const failed: { id: string; detail: string }[] = [];
  for (const id of new Set(ids)) {
    try {
      await deleteDeployment(deps, tenantId, id);
      deleted.push(id);
    } catch (error) {
      const unknown = unknownDeployment(id);
      if ((error as Error).message !== unknown.message) throw error;
      failed.push({ id, detail: unknown.message });
    }
  }
  if (deleted.length === 0) throw unknownDeployment(failed[0]!.id);
  return { deleted, failed };
}
