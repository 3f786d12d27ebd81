import type { Secrets } from "../../base/secrets/secrets.ts";
import { readEnvironment } from "../deployments/environment-secret.ts";
import type { Secret, Source, SourceConfig } from "../deployments/schema.ts";
import type { ControlSettings } from "../settings.ts";
import type { DeploymentDatabases } from "./deployment-database.ts";
import { type EnvironmentParams, instanceEnvironment } from "./instance-environment.ts";
import type { Traces } from "./traces.ts";

/** Columns that determine a revision's environment. */
export interface EnvironmentRow {
  deployment_id: string;
  tenant_id: string;
  name: string;
  revision_id: string;
  source: Source;
  source_config: SourceConfig;
  repo_ref: string | null;
  repo_commit_sha: string | null;
  langgraph_config_path: string | null;
}

export interface EnvironmentDeps {
  secrets: Secrets;
  databases: DeploymentDatabases;
  settings: ControlSettings;
  traces: Promise<Traces | null>;
  /** URL of this control plane, for its deployments. */
  internalUrl: string;
}

/** Returns the environment of a revision's agent servers, and the part of it that its owner has set. */
export async function revisionEnvironment(
  { secrets, databases, settings, traces: pending, internalUrl }: EnvironmentDeps,
  row: EnvironmentRow,
): Promise<{ environment: Record<string, string>; own: Secret[] }> {
  const traces = await pending;
  const credentials = await databases.ensure(row.deployment_id, row.tenant_id);
  const own = await readEnvironment(secrets, { purpose: "revision-env", id: row.revision_id });
  const environment = instanceEnvironment({
    deployment: { id: row.deployment_id, name: row.name, tenant_id: row.tenant_id },
    revisionId: row.revision_id,
    config: row.source_config,
    git: gitVersion(row),
    secrets: own,
    databaseUri: databases.uri(row.deployment_id, credentials),
    secretsKey: credentials.secretsKey,
    settings,
    traces: traces && { url: traces.url, key: traces.sendingKey(row.tenant_id) },
    platform: credentials.platformKey && { url: internalUrl, key: credentials.platformKey.key },
  });
  return { environment, own };
}

const gitVersion = (row: EnvironmentRow): EnvironmentParams["git"] =>
  row.source === "github" && row.repo_ref !== null && row.repo_commit_sha !== null
    ? {
        url: row.source_config.repo_url ?? "",
        ref: row.repo_ref,
        sha: row.repo_commit_sha,
        path: row.langgraph_config_path ?? "",
      }
    : null;
