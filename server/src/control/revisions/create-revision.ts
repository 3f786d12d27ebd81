import type { Transaction } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { replaceSecrets, readEnvironment, storeEnvironment } from "../deployments/environment-secret.ts";
import type { RevisionBody, Secret, Source, SourceConfig } from "../deployments/schema.ts";
import { type DeploymentRow, updateDeployment } from "../deployments/sql.ts";
import {
  checkBuildOnPush,
  checkCommitSha,
  checkConfig,
  checkFields,
  checkImmutable,
  checkSecrets,
  findMasked,
  invalid,
  isBuilt,
  maskProblem,
  readRevisionConfig,
  type RevisionInput,
  stateError,
} from "../deployments/validate.ts";
import { placement } from "../kubernetes/placement.ts";
import { useUpload } from "../uploads/sql.ts";
import { follow } from "../watches/sql.ts";
import { checkDriver, readImage } from "./check-driver.ts";
import { findRevision, insertRevision, type RevisionRow } from "./sql.ts";
import { describeVariables } from "./variable-changes.ts";
import type { WorkDeps } from "./work-deps.ts";

/** Validates a change as far as possible without stored data. */
export function checkRevisionBody(deps: Pick<WorkDeps, "settings">, body: RevisionBody): { revision: RevisionInput } {
  const revision = readRevisionConfig(body.source_revision_config);
  if (body.revision_source != null) checkFields(body.revision_source, revision);
  checkSecrets(body.secrets ?? [], deps.settings);
  return { revision };
}

/**
 * Applies a change to a locked deployment. A change creates at most one revision; changes of presentation or triggers
 * alone create none.
 * @returns the new revision's id
 */
export async function applyChange(
  deps: WorkDeps,
  tx: Transaction,
  row: DeploymentRow,
  body: RevisionBody & { display_name?: string | null | undefined },
  { always, createdBy }: { always: boolean; createdBy: string },
): Promise<string | null> {
  const { revision } = checkRevisionBody(deps, body);
  if (row.status === "AWAITING_DELETE") throw stateError(`Deployment ID ${row.id} is being deleted.`);
  checkImmutable(row, body);
  const source: Source = body.revision_source ?? row.source;
  checkFields(source, revision);
  checkCommitSha(body.source_revision_config, row.repo_commit_sha);
  const change = withoutNulls(body.source_config ?? {});
  const config = withoutEmptyCommands({ ...row.source_config, ...change });
  checkConfig(source, { ...change, deployment_type: config.deployment_type } as SourceConfig);
  if (source === "github" && config.repo_url == null) {
    throw stateError(
      "This deployment has no repository. Create a deployment with the source github to deploy from one.",
    );
  }
  const ref = revision.repo_ref ?? row.git_ref;
  checkBuildOnPush(row.source, config.build_on_push === true, ref, (_, text) => stateError(text));

  const before = await readEnvironment(deps.secrets, { purpose: "deployment-env", id: row.id }, tx);
  const environment = environmentAfter(before, body);
  const references = body.secret_references ?? row.secret_references;
  await updateDeployment(tx, row.id, {
    source_config: config,
    secret_references: references,
    display_name: body.display_name ?? row.display_name,
    git_ref: ref,
    git_config_path:
      source === "github" ? (revision.langgraph_config_path ?? row.git_config_path) : row.git_config_path,
  });
  await follow(tx, row.id, row.source === "github" && config.build_on_push === true);
  await storeEnvironment(deps.secrets, { purpose: "deployment-env", id: row.id }, row.tenant_id, environment, tx);
  if (!always && !wantsRevision(body, revision, row)) return null;
  const built = await reusableBuild(deps, tx, row, body, { source, config, revision });
  return addRevision(deps, tx, row, { source, config, references, revision, environment, createdBy, built });
}

/**
 * Finds the build of the latest revision where a change concerns only how it runs: resources, variables. Builds get
 * neither. A request that changes nothing asks for a new build.
 */
async function reusableBuild(
  { settings }: WorkDeps,
  tx: Transaction,
  row: DeploymentRow,
  body: RevisionBody,
  { source, config, revision }: Pick<RevisionParams, "source" | "config" | "revision">,
): Promise<RevisionRow | undefined> {
  const concernsRun =
    body.source_config?.resource_spec != null ||
    Boolean(body.secrets?.length) ||
    body.clear_secrets === true ||
    body.secret_references != null;
  const namesSource = Object.values(revision).some((value) => value !== null);
  if (!isBuilt(source) || !concernsRun || namesSource || row.latest_revision_id === null) return undefined;
  const latest = await findRevision(tx, row.id, row.latest_revision_id);
  if (!latest || latest.artifact_id === null || latest.source !== source) return undefined;
  const commands = ({ install_command: install, build_command: build }: SourceConfig) =>
    JSON.stringify([install ?? null, build ?? null]);
  const isSame = commands(latest.source_config) === commands(config) && latest.cluster === placement(settings, config);
  return isSame ? latest : undefined;
}

/**
 * Computes the new secrets. An empty list leaves them unchanged; clear_secrets removes
 * all.
 */
function environmentAfter(before: Secret[], { secrets, clear_secrets: clear }: RevisionBody): Secret[] {
  const masked = findMasked(secrets ?? [], before);
  if (masked !== undefined) throw stateError(`${maskProblem(masked)}. Enter it again.`);
  if (secrets?.length) return replaceSecrets(before, secrets);
  return clear === true ? [] : before;
}

const withoutNulls = (config: object): object =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value != null));

/** Removes commands that are set to an empty text: the default applies again. */
function withoutEmptyCommands(config: SourceConfig): SourceConfig {
  const { install_command: install, build_command: build } = config;
  return { ...config, ...(install === "" && { install_command: null }), ...(build === "" && { build_command: null }) };
}

function wantsRevision(body: RevisionBody, revision: RevisionInput, row: DeploymentRow): boolean {
  if (Object.values(revision).some((value) => value !== null)) return true;
  if (body.secrets?.length || body.clear_secrets === true || body.secret_references != null)
    return row.latest_revision_id !== null;
  const config = body.source_config;
  if (config?.resource_spec != null) return row.latest_revision_id !== null;
  // a command that is removed takes effect at the next build
  const isChanged = (name: "install_command" | "build_command") =>
    Boolean(config?.[name]) && config![name] !== row.source_config[name];
  return row.latest_revision_id !== null && (isChanged("install_command") || isChanged("build_command"));
}

interface RevisionParams {
  source: Source;
  config: SourceConfig;
  references: DeploymentRow["secret_references"];
  /** Nulls are filled from the latest revision. */
  revision: RevisionInput;
  environment: Secret[];
  createdBy: string;
  /** Commit of a repository, if already resolved. */
  commitSha?: string;
  /** Revision of the same source, whose build is used again. */
  built?: RevisionRow | undefined;
}

/** Adds a revision. @returns its id. 422 for an unknown upload, 400 for a source that no driver here can run. */
export async function addRevision(
  deps: WorkDeps,
  tx: Transaction,
  row: DeploymentRow,
  { source, config, references, revision, environment, createdBy, commitSha, built }: RevisionParams,
): Promise<string> {
  const hasImage = built?.built_image != null;
  checkDriver(deps, { id: row.id, source, config, references }, { hasImage });
  const id = uuid7();
  const before = source === "github" ? row.git_config_path : row.langgraph_config_path;
  const path = revision.langgraph_config_path ?? before;
  if (isBuilt(source) && path === null) {
    throw invalid(["source_revision_config", "langgraph_config_path"], "is required for sources that are built");
  }
  let tarball = revision.source_tarball_path;
  if (tarball !== null) await useUpload(tx, row.id, tarball);
  else if (source === "internal_source") tarball = row.source_tarball_path;
  if (source === "internal_source" && tarball === null) {
    throw invalid(
      ["source_revision_config", "source_tarball_path"],
      "is required: the deployment has no earlier upload",
    );
  }
  await insertRevision(tx, {
    id,
    deployment_id: row.id,
    source,
    source_config: config,
    secret_references: references,
    repo_ref: source === "github" ? (built?.repo_ref ?? revision.repo_ref ?? row.git_ref) : null,
    langgraph_config_path: isBuilt(source) ? path : null,
    image_uri: isBuilt(source) ? null : readImage(deps, row.id, source, revision.image_uri ?? row.image_uri),
    source_tarball_path: tarball,
    repo_commit_sha: commitSha ?? built?.repo_commit_sha ?? null,
    artifact_id: built?.artifact_id ?? null,
    built_image: built?.built_image ?? null,
    cluster: placement(deps.settings, config),
    created_by: createdBy,
    redeploy_of: null,
    ...(await describeVariables(deps, tx, row.id, environment)),
  });
  await storeEnvironment(deps.secrets, { purpose: "revision-env", id }, row.tenant_id, environment, tx);
  return id;
}
