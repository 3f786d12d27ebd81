import type { Transaction } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { readEnvironment, storeEnvironment } from "../deployments/environment-secret.ts";
import { withOwnerLabels } from "../deployments/owner-labels.ts";
import type { DeploymentRow } from "../deployments/sql.ts";
import { placement } from "../kubernetes/placement.ts";
import { checkDriver } from "./check-driver.ts";
import { insertRevision, type RevisionRow } from "./sql.ts";
import { describeVariables } from "./variable-changes.ts";
import type { WorkDeps } from "./work-deps.ts";

/**
 * Inserts a new revision with the source, environment and build of an older one. The deployment must be locked.
 * @returns its id
 */
export async function insertAgain(
  deps: WorkDeps,
  tx: Transaction,
  deployment: DeploymentRow,
  old: RevisionRow,
  createdBy: string,
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
  await insertRevision(tx, { ...old, ...described, id, cluster, ...made, created_by: createdBy, redeploy_of: old.id });
  await storeEnvironment(deps.secrets, { purpose: "revision-env", id }, deployment.tenant_id, environment, tx);
  return id;
}
