import type { Principal } from "../../base/auth/principal.ts";
import { unknownDeployment, unknownRevision } from "../deployments/not-found.ts";
import { lockDeployment } from "../deployments/sql.ts";
import { stateError } from "../deployments/validate.ts";
import type { ControlDeps } from "../deps.ts";
import { insertAgain } from "./insert-again.ts";
import { findDeploying, findRevision, interruptRevision } from "./sql.ts";
import { statesBefore } from "./status.ts";

/** Creates a new revision from an older one, with its environment, and its build if that still exists: a rollback. */
export async function redeploy(
  deps: ControlDeps,
  { workspaceId: tenantId, actor }: Principal,
  deploymentId: string,
  id: string,
): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const row = await lockDeployment(tx, tenantId, deploymentId);
    if (!row) throw unknownDeployment(deploymentId);
    const old = await findRevision(tx, deploymentId, id);
    if (!old) throw unknownRevision(deploymentId, id);
    if (row.status === "AWAITING_DELETE") throw stateError(`Deployment ID ${deploymentId} is being deleted.`);
    await insertAgain(deps, tx, row, old, actor.name);
    // a rollback does not wait for a revision that may never become ready
    for (const { id: deploying } of await findDeploying(tx, deploymentId)) {
      await interruptRevision(
        tx,
        deploying,
        statesBefore("interrupted"),
        `Interrupted by the rollback to revision ${id}.`,
      );
    }
  });
  deps.worker.wake();
}

/** Interrupts the work on a revision. 400 when there is none. */
export async function interrupt(deps: ControlDeps, tenantId: string, deploymentId: string, id: string): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const row = await lockDeployment(tx, tenantId, deploymentId);
    if (!row) throw unknownDeployment(deploymentId);
    const revision = await findRevision(tx, deploymentId, id);
    if (!revision) throw unknownRevision(deploymentId, id);
    if (!(await interruptRevision(tx, id, statesBefore("interrupted")))) {
      throw stateError(`Revision ID ${id} is ${revision.status}: there is nothing to interrupt.`);
    }
  });
  deps.worker.wake();
}
