/**
 * Validates requests for deployments and revisions, in the order of LangSmith's control plane. Errors detectable from
 * the body alone are 422; those that depend on stored data are 400.
 */
import { AppError, type ValidationIssue } from "../../base/errors.ts";
import { narrowAllowances } from "../../base/outbound/policy.ts";
import { readGitRef } from "../git/git-ref.ts";
import { MASK } from "./environment-secret.ts";
import { reservedReason } from "./reserved-names.ts";
import type { ResourceSpec, RevisionBody, Secret, Source, SourceConfig, SourceRevisionConfigIn } from "./schema.ts";

export type Installation = "self_hosted" | "cloud";

/** Creates a 422 for one field. */
export function invalid(loc: (string | number)[], text: string): AppError {
  const issues = [{ type: "value_error", loc: ["body", ...loc], msg: `Value error, ${text}` }];
  return new AppError(422, text, { issues });
}

export const stateError = (text: string): AppError => new AppError(400, text);

/** Input for a revision; a null means "unchanged" in a change, and "none" in a creation. */
export interface RevisionInput {
  repo_ref: string | null;
  langgraph_config_path: string | null;
  image_uri: string | null;
  source_tarball_path: string | null;
}

const BUILT: readonly Source[] = ["github", "internal_source"];
export const isBuilt = (source: Source): boolean => BUILT.includes(source);

const IMAGES: readonly Source[] = ["external_docker", "internal_docker"];

export function checkName(name: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) {
    throw invalid(["name"], "must be 1 to 63 characters of a-z, 0-9 and -, and begin with a letter or digit");
  }
}

/** Reads the path, which has two names; both must agree. */
export function readRevisionConfig(config: SourceRevisionConfigIn | null | undefined): RevisionInput {
  const at = "source_revision_config";
  const { langgraph_config_path: configPath, graph_config_path: other } = config ?? {};
  if (configPath != null && other != null && configPath !== other) {
    throw invalid([at, "graph_config_path"], "differs from langgraph_config_path, which is the same setting");
  }
  const path = configPath ?? other ?? null;
  if (path !== null) checkPath([at, "langgraph_config_path"], path);
  if (config?.repo_ref != null && readGitRef(config.repo_ref) === null) {
    throw invalid([at, "repo_ref"], "must be the name of a branch, refs/tags/<tag>, or a full commit hash");
  }
  return {
    repo_ref: config?.repo_ref ?? null,
    langgraph_config_path: path,
    image_uri: config?.image_uri ?? null,
    source_tarball_path: config?.source_tarball_path ?? null,
  };
}

/** Validates a file path inside the project. */
function checkPath(loc: string[], path: string): void {
  const parts = path.split("/");
  const escapes = path.startsWith("/") || /^[a-z]:/i.test(path) || parts.includes("..");
  // oxlint-disable-next-line no-control-regex -- these are what must not be there
  if (path === "" || escapes || /[\\\x00-\x1f]/.test(path)) {
    throw invalid(loc, "must be a path inside the project, relative and without ..");
  }
}

/** Rejects fields that do not belong to the source. */
export function checkFields(source: Source, revision: RevisionInput): void {
  const at = "source_revision_config";
  const only = (name: keyof RevisionInput, isAllowed: boolean, where: string) => {
    if (revision[name] !== null && !isAllowed) throw invalid([at, name], `is only valid for ${where}`);
  };
  only("langgraph_config_path", isBuilt(source), "the sources github and internal_source");
  only("image_uri", IMAGES.includes(source), "the sources external_docker and internal_docker");
  only("source_tarball_path", source === "internal_source", "the source internal_source");
  only("repo_ref", source === "github", "the source github");
}

export function checkCommitSha(config: SourceRevisionConfigIn | null | undefined, stored: string | null): void {
  const sha = config?.repo_commit_sha;
  if (sha != null && sha !== stored) {
    throw invalid(["source_revision_config", "repo_commit_sha"], "is read-only");
  }
}

export function checkCreate(
  source: Source,
  config: SourceConfig,
  revision: RevisionInput,
  installation: Installation,
): void {
  const inRevision = (name: string, text: string) => invalid(["source_revision_config", name], text);
  const inConfig = (name: string, text: string) => invalid(["source_config", name], text);
  if (source === "github") {
    if (!config.repo_url) throw inConfig("repo_url", "is required for the source github");
    if (installation === "cloud" && !config.integration_id) {
      throw inConfig("integration_id", "is required for the source github");
    }
    if (revision.repo_ref === null) throw inRevision("repo_ref", "is required for the source github");
  }
  if (source === "internal_template") {
    throw invalid(["source"], "internal_template is not supported");
  }
  const isToBeBuilt = source === "github" || (isBuilt(source) && revision.source_tarball_path !== null);
  if (isToBeBuilt && revision.langgraph_config_path === null) {
    throw inRevision("langgraph_config_path", "is required for sources that are built");
  }
  if (source === "external_docker") {
    if (installation === "cloud") {
      throw invalid(["source"], "external_docker is for self-hosted installations only");
    }
    if (revision.image_uri === null) throw inRevision("image_uri", "is required for the source external_docker");
    if (!config.resource_spec) throw inConfig("resource_spec", "is required for the source external_docker");
    if (config.deployment_type != null) {
      throw inConfig("deployment_type", "must be left out for the source external_docker");
    }
  }
  checkFields(source, revision);
  checkBuildOnPush(source, config.build_on_push === true, revision.repo_ref);
  checkConfig(source, config);
}

/** @throws 422; for a change, the merged state is checked, which is 400 */
export function checkBuildOnPush(source: Source, isOn: boolean, ref: string | null, error = invalid): void {
  if (!isOn) return;
  const loc = ["source_config", "build_on_push"];
  if (source !== "github") throw error(loc, "build_on_push is only valid for GitHub");
  const kind = ref === null ? undefined : readGitRef(ref)?.kind;
  if (kind !== undefined && kind !== "branch") {
    throw error(loc, `build_on_push must be false when repo_ref is a ${kind}`);
  }
}

/** Matches shell syntax other than commands joined by `&&`. */
const UNSAFE_COMMAND = /["`\\\n\r\0\t|;$><]|(?<!&)&(?:&&)*(?!&)/;

/** Validates a new or changed configuration of the source. */
export function checkConfig(source: Source, config: SourceConfig): void {
  if (config.custom_url != null && source !== "external_docker") {
    throw invalid(["source_config", "custom_url"], "can only be set for the source external_docker");
  }
  if (config.custom_url != null && !isWebAddress(config.custom_url)) {
    throw invalid(["source_config", "custom_url"], "must be an http or https URL without a user name");
  }
  for (const name of ["install_command", "build_command"] as const) {
    const command = config[name];
    if (command != null && UNSAFE_COMMAND.test(command)) {
      throw invalid(["source_config", name], "must not contain quotes, pipes, redirections, variables or line breaks");
    }
  }
  if (config.resource_spec) checkResources(config.resource_spec, config.deployment_type ?? "prod");
}

/** Clients send requests to it, and pages link to it. */
function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

/**
 * Fields of resource_spec that have no meaning here: servers execute their own runs, and databases are part of the
 * platform's.
 */
const NOT_BUILT = /^(queue|redis|db|orchestrator|executor)_/;

function checkResources(spec: ResourceSpec, deploymentType: string): void {
  const loc = (name: string) => ["source_config", "resource_spec", name];
  for (const [name, value] of Object.entries(spec)) {
    if (value == null || !NOT_BUILT.test(name)) continue;
    throw invalid(
      loc(name),
      `${name} is not supported: agent servers execute their own runs, and there are no databases or queues of a deployment's own. Remove it`,
    );
  }
  const { min_scale: min, max_scale: max } = spec;
  if (min === 0 && !deploymentType.endsWith("_zero")) throw invalid(loc("min_scale"), "must be at least 1");
  if (min === 0 && max !== 0) {
    throw invalid(loc("min_scale"), "0 is not supported: servers do not start on demand. Set it to 1 or more");
  }
  if ((min ?? 1) > (max ?? min ?? 1)) throw invalid(loc("max_scale"), "must not be less than min_scale");
}

/** Validates names and their uniqueness, and that allowances are among the operator's. Reports all errors at once. */
export function checkSecrets(
  secrets: Secret[],
  { installation, outboundAllow }: { installation: Installation; outboundAllow: string },
): void {
  const seen = new Set<string>();
  const issues: ValidationIssue[] = [];
  const report = (index: number, field: keyof Secret, problem: string | null) => {
    if (problem === null) return;
    issues.push({ type: "value_error", loc: ["body", "secrets", index, field], msg: `Value error, ${problem}` });
  };
  for (const [index, { name, value }] of secrets.entries()) {
    report(index, "name", nameProblem(name, seen, installation));
    if (name === "HEDDLE_OUTBOUND_ALLOW" && value !== MASK)
      report(index, "value", allowanceProblem(value, outboundAllow));
    seen.add(name);
  }
  if (issues.length > 0) throw new AppError(422, issues.map((issue) => issue.msg).join("; "), { issues });
}

/** Finds a secret whose value is masked although there is no stored one that the mask could keep. */
export const findMasked = (secrets: readonly Secret[], stored: readonly Secret[]): string | undefined =>
  secrets.find(({ name, value }) => value === MASK && !stored.some((known) => known.name === name))?.name;

export const maskProblem = (name: string): string => `the secret ${name} has a masked value, and none is stored`;

function nameProblem(name: string, seen: ReadonlySet<string>, installation: Installation): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.length > 255) {
    return "must consist of letters, digits and _, and not begin with a digit";
  }
  if (seen.has(name)) return `the secret ${name} is given twice`;
  return reservedReason(name, installation);
}

function allowanceProblem(value: string, operators: string): string | null {
  try {
    const { rejected } = narrowAllowances(operators, value);
    if (rejected.length === 0) return null;
    return (
      `HEDDLE_OUTBOUND_ALLOW: the platform's own setting does not allow ${rejected.join(", ")}. A deployment may only ` +
      "name targets that it allows"
    );
  } catch (error) {
    return (error as Error).message;
  }
}

const IMMUTABLE = ["integration_id", "repo_url", "deployment_type", "listener_id", "listener_config"] as const;

/** Rejects a changed value with 400; the stored one may be sent again. */
export function checkImmutable(
  stored: { name: string; source: Source; source_config: SourceConfig },
  body: RevisionBody & { name?: string | null | undefined; source?: Source | null | undefined },
): void {
  const reject = (name: string) => stateError(`'${name}' cannot be changed after the deployment was created.`);
  if (body.name != null && body.name !== stored.name) throw reject("name");
  if (body.source != null && body.source !== stored.source) throw reject("source");
  for (const name of IMMUTABLE) {
    const requested = body.source_config?.[name];
    if (requested == null) continue;
    if (JSON.stringify(requested) !== JSON.stringify(stored.source_config[name] ?? null)) {
      throw reject(`source_config.${name}`);
    }
  }
}
