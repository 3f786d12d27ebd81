import type { Principal } from "../../base/auth/principal.ts";
import { uuid7 } from "../../base/ids.ts";
import type { ControlDeps } from "../deps.ts";
import { follow } from "../watches/sql.ts";
import { addRevision } from "../revisions/create-revision.ts";
import { checkRepository } from "./check-repository.ts";
import { checkListener } from "./check-listener.ts";
import { storeEnvironment } from "./environment-secret.ts";
import type { CreateBody } from "./schema.ts";
import { findDeployment, insertDeployment } from "./sql.ts";
import {
  checkCommitSha,
  checkCreate,
  checkName,
  checkSecrets,
  findMasked,
  maskProblem,
  invalid,
  readRevisionConfig,
  type RevisionInput,
  stateError,
} from "./validate.ts";

/**
 * Creates a deployment, and its first revision when the body names a source to build or run. Command-line clients name
 * none: their first revision comes with a later change.
 * @returns its id
 */
export async function createDeployment(
  deps: ControlDeps,
  { workspaceId: tenantId, actor }: Principal,
  body: CreateBody,
): Promise<string> {
  const { settings } = deps;
  checkName(body.name);
  const revision = readRevisionConfig(body.source_revision_config);
  checkCreate(body.source, body.source_config, revision, settings.installation);
  checkCommitSha(body.source_revision_config, null);
  checkSecrets(body.secrets, settings);
  const masked = findMasked(body.secrets, []);
  if (masked !== undefined) throw invalid(["secrets"], maskProblem(masked));
  if (revision.source_tarball_path !== null) {
    // upload paths belong to a deployment, and this one does not exist yet
    const loc = ["source_revision_config", "source_tarball_path"];
    throw invalid(loc, "source_tarball_path must be obtained from the upload-url endpoint");
  }
  const isGit = body.source === "github";
  if (isGit) await checkRepository(deps, tenantId, body.source_config);
  const id = uuid7();
  return deps.sql.begin(async (tx) => {
    await checkListener(tx, tenantId, body.source_config);
    const references = body.secret_references ?? null;
    const deployment = { id, tenant_id: tenantId, name: body.name, source: body.source };
    const isNew = await insertDeployment(tx, {
      ...deployment,
      source_config: body.source_config,
      secret_references: references,
      git_ref: isGit ? revision.repo_ref : null,
      git_config_path: isGit ? revision.langgraph_config_path : null,
    });
    if (!isNew) throw stateError(`Deployment with name '${body.name}' already exists.`);
    await follow(tx, id, isGit && body.source_config.build_on_push === true);
    await storeEnvironment(deps.secrets, { purpose: "deployment-env", id }, tenantId, body.secrets, tx);
    if (isComplete(body.source, revision)) {
      const row = (await findDeployment(tx, tenantId, id))!;
      const { source, source_config: config, secrets: environment } = body;
      await addRevision(deps, tx, row, { source, config, references, revision, environment, createdBy: actor.name });
    }
    return id;
  });
}

const isComplete = (source: CreateBody["source"], revision: RevisionInput): boolean =>
  source === "github" || revision.image_uri !== null;
