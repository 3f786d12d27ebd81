import { BuildError } from "../builds/build-error.ts";
import type { Secret } from "../deployments/schema.ts";
import { containerLimits, onLoopback, replaceLoopback } from "../drivers/container/container-spec.ts";
import { parseReference } from "../drivers/container/image-reference.ts";
import type { RegistryCredentials } from "../drivers/container/registry-credentials.ts";
import { TOKEN_USER } from "../registry/settings.ts";
import type { ControlSettings } from "../settings.ts";
import { type ClusterSpecSettings, readClusterSpec } from "./check-cluster-spec.ts";
import type { DesiredRevision } from "./desired-deployment.ts";
import type { PlannedRow } from "./targets-sql.ts";

type PlanSettings = ClusterSpecSettings &
  Pick<
    ControlSettings,
    "kubernetesHostAddress" | "registryPassword" | "deployReadySeconds" | "minHealthyMs" | "drainSeconds"
  >;

export interface PlannedVariables {
  environment: Record<string, string>;
  own: Secret[];
  /** Credentials for the repository of the platform's builds, where the driver provides them to the cluster. */
  registryLogin?: { registry: string; credentials: RegistryCredentials } | null;
}

/** Describes a revision for its cluster. Throws BuildError, with a message for its owner, if it cannot run there. */
export function planRevision(
  row: PlannedRow & { revision_id: string },
  { environment, own, registryLogin }: PlannedVariables,
  settings: PlanSettings,
): DesiredRevision {
  const image = row.built_image ?? row.image_uri;
  if (image === null) throw new BuildError("The revision names no image.");
  const spec = row.source_config.resource_spec ?? {};
  const passed = readClusterSpec(row.source_config, row.deployment_id, settings);
  const limits = containerLimits(row.source_config);
  const min = spec.min_scale ?? 1;
  const names = (passed.image_pull_secrets ?? []).map(({ name }) => name);
  const ownSecrets = new Map(own.map(({ name, value }) => [name, value]));
  const inOwn = names.filter((name) => ownSecrets.has(name));
  const variables = reachable(environment, settings.kubernetesHostAddress);
  // registry credentials are for the cluster only
  for (const name of inOwn) delete variables[name];
  return {
    id: row.revision_id,
    attempt: row.attempt,
    image,
    ...(row.built_image !== null && { isBuilt: true }),
    replicas: { min, max: Math.max(min, spec.max_scale ?? Math.max(1, min)) },
    resources: {
      cpu: spec.cpu ?? 1,
      cpuLimit: limits.cpus,
      memoryMb: spec.memory_mb ?? 2048,
      memoryLimitMb: limits.memoryMb,
    },
    environment: variables,
    references: (row.secret_references ?? []).map(({ name, secret_name: secretName, secret_key: secretKey }) => ({
      name,
      secretName,
      secretKey,
    })),
    pullCredentials: pullCredentials(
      row,
      inOwn.map((name) => ownSecrets.get(name)!),
      settings,
      registryLogin ?? null,
    ),
    pullSecrets: names.filter((name) => !ownSecrets.has(name)),
    readySeconds: settings.deployReadySeconds,
    minHealthySeconds: Math.ceil(settings.minHealthyMs / 1000),
    drainSeconds: settings.drainSeconds,
    labels: passed.labels ?? {},
    annotations: passed.annotations ?? {},
    serviceAccount: passed.service_account_name ?? null,
    volumes: passed.volumes ?? [],
    volumeMounts: passed.volume_mounts ?? [],
    initContainers: passed.init_containers ?? [],
    sidecars: passed.sidecars ?? [],
  };
}

function reachable(environment: Record<string, string>, address: string | undefined): Record<string, string> {
  if (address !== undefined) return replaceLoopback(environment, address);
  const unreachable = onLoopback(environment);
  if (unreachable.length === 0) return { ...environment };
  throw new BuildError(
    `Pods cannot reach the loopback addresses in ${unreachable.join(", ")}. Set HEDDLE_KUBERNETES_HOST_ADDRESS to an ` +
      "address of the control plane's machine on which these services listen.",
  );
}

/** Merges the registry credentials of a deployment into one document; null when it has none. */
function pullCredentials(
  { source, image_uri: image, built_image: built }: PlannedRow,
  texts: string[],
  { registryUrl, registryPassword }: PlanSettings,
  login: NonNullable<PlannedVariables["registryLogin"]> | null,
): string | null {
  const auths: Record<string, unknown> = {};
  for (const text of texts) Object.assign(auths, readAuths(text));
  const registry = image === null ? undefined : parseReference(image)?.registry;
  if (source === "internal_docker" && registryUrl !== undefined && registry !== undefined) {
    auths[registry] = { username: TOKEN_USER, password: registryPassword ?? "" };
  }
  if (built !== null && login !== null) auths[login.registry] = login.credentials;
  return Object.keys(auths).length === 0 ? null : JSON.stringify({ auths });
}

function readAuths(text: string): object {
  try {
    const { auths } = JSON.parse(text) as { auths?: unknown };
    if (typeof auths === "object" && auths !== null) return auths;
  } catch {
    // reported below, without quoting the secret
  }
  throw new BuildError(
    'A secret named by image_pull_secrets is not of the form {"auths": {"registry.example": {"auth": …}}}.',
  );
}
