import { uuid7 } from "../../base/ids.ts";
import { readEnvironment, storeEnvironment } from "../deployment-records/environment-secret.ts";
import { withOwnerLabels } from "../deployment-records/owner-labels.ts";
import { unknownDeployment, unknownRevision } from "../deployment-records/not-found.ts";
import type { Transaction } from "../../base/db/connect.ts";
import { type DeploymentRow, lockDeployment } from "../deployment-records/sql.ts";
import { stateError } from "../deployment-records/validate.ts";
import type { ControlDeps } from "../deps.ts";
import { placement } from "../kubernetes/placement.ts";
import { checkDriver } from "./check-driver.ts";
import { findDeploying, findRevision, insertRevision, interruptRevision, type RevisionRow } from "./sql.ts";
import { statesBefore } from "./status.ts";
import { describeVariables } from "./variable-changes.ts";
import type { WorkDeps } from "./work-deps.ts";

/** Creates a new revision from an older one, with its environment, and its build if that still exists: a rollback. */
export async function redeploy(deps: ControlDeps, tenantId: string, deploymentId: string, id: string): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const row = await lockDeployment(tx, tenantId, deploymentId);
    if (!row) throw unknownDeployment(deploymentId);
    const old = await findRevision(tx, deploymentId, id);
    if (!old) throw unknownRevision(deploymentId, id);
    if (row.status === "AWAITING_DELETE") throw stateError(`Deployment ID ${deploymentId} is being deleted.`);
    await insertAgain(deps, tx, row, old);
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

/**
 * Inserts a new revision with the source, environment and build of an older one. The deployment must be locked.
 * @returns its id
 */
export async function insertAgain(
  deps: WorkDeps,
  tx: Transaction,
  deployment: DeploymentRow,
  old: RevisionRow,
): Promise<string> {
  const environment = await readEnvironment(deps.secrets, { purpose: "revision-env", id: old.id }, tx);
  const id = uuid7();
  const cluster = placement(deps.settings, old.source_config);
  // a build can be reused only where it was made
  const isThere = cluster === old.cluster;
  const made = { artifact_id: isThere ? old.artifact_id : null, built_image: isThere ? old.built_image : null };
  const hasImage = made.built_image !== null;
  // labels that are no longer allowed are left out, and its log names them
  const { config } = withOwnerLabels(old.source_config, deps.settings.ownerLabels);
  const { source, secret_references: references } = old;
  if (cluster !== null) checkDriver(deps, { id: deployment.id, source, config, references }, { hasImage });
  const described = await describeVariables(deps, tx, deployment.id, environment);
  await insertRevision(tx, { ...old, ...described, id, cluster, ...made });
  await storeEnvironment(deps.secrets, { purpose: "revision-env", id }, deployment.tenant_id, environment, tx);
  return id;
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
