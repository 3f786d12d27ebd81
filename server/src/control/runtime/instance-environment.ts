import { narrowAllowances } from "../../base/outbound/policy.ts";
import { ISOLATED_HOSTS } from "./connection-need.ts";
import type { Secret, SourceConfig } from "../deployments/schema.ts";

export interface EnvironmentParams {
  deployment: { id: string; name: string; tenant_id: string };
  revisionId: string;
  config: SourceConfig;
  /** Null when it was not built from a repository. */
  git: { url: string; ref: string; sha: string; path: string } | null;
  /** Variables set by the deployment's owner. */
  secrets: Secret[];
  databaseUri: string;
  secretsKey: string;
  settings: { drainSeconds: number; instanceMemoryMb: number; outboundAllow: string };
  traces: { url: string; key: string } | null;
  /** Platform that authenticates its callers; null where no key is needed. */
  platform: { url: string; key: string } | null;
}

/**
 * Returns the environment of an agent server. The platform's variables come last, so that
 * secrets cannot override them.
 */
export function instanceEnvironment(params: EnvironmentParams): Record<string, string> {
  const { deployment, revisionId, config, git, settings, traces, platform } = params;
  const spec = config.resource_spec ?? {};
  const secrets = Object.fromEntries(params.secrets.map(({ name, value }) => [name, value]));
  return {
    HEDDLE_LOG_LEVEL: "info",
    HEDDLE_HOSTS: String(hostsByCores(config)),
    HEDDLE_ISOLATED_HOSTS: String(isolatedHosts(params.secrets)),
    HEDDLE_HOST_MEMORY_MB: String(spec.memory_mb ?? settings.instanceMemoryMb),
    ...secrets,
    NODE_ENV: secrets["NODE_ENV"] ?? "production",
    DATABASE_URI: params.databaseUri,
    HEDDLE_SECRETS_KEYS: params.secretsKey,
    HEDDLE_WORKSPACE_ID: deployment.tenant_id,
    // without keys, the gateway, which then listens on loopback, is the only access
    ...(platform ? { HEDDLE_AUTH_URL: platform.url, HEDDLE_AUTH_KEY: platform.key } : { HEDDLE_AUTH: "published" }),
    HEDDLE_BESIDE_DEPLOYMENTS: "true",
    HEDDLE_TRUSTED_PROXIES: "127.0.0.1,::1",
    ...allowances(settings.outboundAllow, secrets["HEDDLE_OUTBOUND_ALLOW"]),
    HEDDLE_SHUTDOWN_GRACE_SECS: String(settings.drainSeconds),
    LANGSMITH_PROJECT: deployment.name,
    LANGCHAIN_PROJECT: deployment.name,
    LANGSMITH_TENANT_ID: deployment.tenant_id,
    LANGSMITH_HOST_PROJECT_ID: deployment.id,
    LANGSMITH_HOST_PROJECT_NAME: deployment.name,
    LANGSMITH_HOST_REVISION_ID: revisionId,
    LANGCHAIN_REVISION_ID: revisionId,
    LANGSMITH_DEPLOYMENT_NAME: deployment.name,
    ...(git && {
      LANGSMITH_LANGGRAPH_GIT_REPO: git.url,
      LANGSMITH_LANGGRAPH_GIT_REF: git.ref,
      LANGSMITH_LANGGRAPH_GIT_REF_SHA: git.sha,
      LANGGRAPH_GIT_REPO_PATH: git.path,
    }),
    ...(traces && { HEDDLE_TRACING_URL: traces.url, HEDDLE_TRACING_KEY: traces.key }),
  };
}

/**
 * Returns the outbound allowances: the operator's, or those of them that the deployment names. The operator's setting may
 * have changed since the deployment's was accepted.
 */
function allowances(operators: string, own: string | undefined): Record<string, string> {
  if (own === undefined) return operators === "" ? {} : { HEDDLE_OUTBOUND_ALLOW: operators };
  return { HEDDLE_OUTBOUND_ALLOW: narrowAllowances(operators, own).kept.join(",") };
}

const MOST_HOSTS = 64;
const hostsByCores = ({ resource_spec: spec }: SourceConfig): number =>
  Math.min(MOST_HOSTS, Math.max(1, Math.round(spec?.cpu ?? 1)));

/** Hosts for isolated graphs: those for which every deployment has connections, unless its owner asks for more. */
const isolatedHosts = (secrets: Secret[]): number =>
  valueIn(secrets, "HEDDLE_ISOLATED_HOSTS") ??
  (secrets.some(({ name, value }) => name === "BG_JOB_ISOLATED_LOOPS" && /^(1|true|yes|on)$/i.test(value))
    ? 10
    : ISOLATED_HOSTS);

/** Returns the number of graph hosts of an agent server, from the owner's variables or the cores it requests. */
export const hostCount = (config: SourceConfig, secrets: Secret[]): number =>
  (valueIn(secrets, "HEDDLE_HOSTS") ?? hostsByCores(config)) + isolatedHosts(secrets) - ISOLATED_HOSTS;

function valueIn(secrets: Secret[], variable: string): number | undefined {
  const value = Number(secrets.find(({ name }) => name === variable)?.value);
  return Number.isInteger(value) && value >= 1 && value <= MOST_HOSTS ? value : undefined;
}
