import type { Deployment, Secret, SourceConfig } from "./schema.ts";
import { readGitRef } from "../git/git-ref.ts";
import type { DeploymentRow } from "./sql.ts";

/** Serializes a deployment. `secrets`: masked, unless they may be shown. */
export function serializeDeployment(row: DeploymentRow, secrets: Secret[], url: string): Deployment {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    display_name: row.display_name,
    source: row.source,
    source_config: serializeConfig(row, url),
    source_revision_config: serializeRevisionConfig(row),
    secrets,
    secret_references: row.secret_references,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    status: row.status,
    latest_revision_id: row.latest_revision_id,
    latest_revision_status: row.latest_revision_status,
    latest_revision_number: readNumber(row.latest_revision_number),
    latest_revision_message: row.latest_revision_message,
    active_revision_id: row.active_revision_id,
    active_revision_number: readNumber(row.active_revision_number),
    image_version: null,
    is_preview: false,
  };
}

const readNumber = (number: string | null): number | null => (number === null ? null : Number(number));

type RevisionConfig = Pick<
  DeploymentRow,
  "repo_ref" | "langgraph_config_path" | "image_uri" | "source_tarball_path" | "repo_commit_sha"
>;

export const serializeRevisionConfig = (row: RevisionConfig) => ({
  repo_ref: row.repo_ref,
  langgraph_config_path: row.langgraph_config_path,
  graph_config_path: row.langgraph_config_path,
  image_uri: row.image_uri,
  source_tarball_path: row.source_tarball_path,
  repo_commit_sha: row.repo_commit_sha,
});

function serializeConfig(row: DeploymentRow, url: string): Deployment["source_config"] {
  const { source, source_config: config } = row;
  const isImage = source === "external_docker";
  return {
    integration_id: config.integration_id ?? null,
    repo_url: config.repo_url ?? null,
    deployment_type: config.deployment_type ?? "prod",
    build_on_push: config.build_on_push ?? false,
    custom_url: (isImage ? config.custom_url : null) ?? url,
    resource_spec: withDefaults(config.resource_spec),
    listener_id: config.listener_id ?? null,
    listener_config: config.listener_config ?? null,
    install_command: config.install_command ?? null,
    build_command: config.build_command ?? null,
    template_id: config.template_id ?? null,
    repo_branch: branchName(row.git_ref),
  };
}

function branchName(text: string | null): string | null {
  const ref = text === null ? null : readGitRef(text);
  return ref?.kind === "branch" ? ref.name : null;
}

/** Applies the defaults: limits are twice the requests. */
function withDefaults(spec: SourceConfig["resource_spec"]): Record<string, unknown> {
  const resources = Object.fromEntries(Object.entries(spec ?? {}).filter(([, value]) => value != null));
  const cpu = Number(resources["cpu"] ?? 1);
  const memory = Number(resources["memory_mb"] ?? 2048);
  const min = Number(resources["min_scale"] ?? 1);
  const defaults = {
    min_scale: min,
    max_scale: Math.max(1, min),
    cpu,
    cpu_limit: 2 * cpu,
    memory_mb: memory,
    memory_limit_mb: 2 * memory,
  };
  return { ...defaults, ...resources };
}
