import { buildProblem } from "../cluster-images/cluster-images.ts";
import { type BuildRegistrySettings, isBuildRepository } from "../drivers/container/build-registry.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { forbiddenLabel, ONLY_LISTED } from "../deployments/owner-labels.ts";
import type { Source, SourceConfig } from "../deployments/schema.ts";
import type { DeploymentRow } from "../deployments/sql.ts";
import { invalid, isBuilt, stateError } from "../deployments/validate.ts";
import { checkRegistry } from "../drivers/container/check-registry.ts";
import { parseReference } from "../drivers/container/image-reference.ts";
import type { Driver } from "../drivers/driver.ts";
import { checkReferences, readClusterSpec } from "../kubernetes/check-cluster-spec.ts";
import { placement } from "../kubernetes/placement.ts";
import { isOfDeployment } from "../registry/embedded-registry.ts";
import { registryPath } from "../registry/registry-path.ts";
import type { DeploymentDatabases } from "../runtime/deployment-database.ts";
import type { ControlSettings } from "../settings.ts";

/** Kubernetes-specific fields, which only a Kubernetes cluster can honour. */
const KUBERNETES_ONLY = [
  "annotations",
  "service_account_name",
  "volumes",
  "volume_mounts",
  "init_containers",
  "sidecars",
] as const;

interface DriverDeps {
  driver: Driver;
  settings: ControlSettings;
  databases: Pick<DeploymentDatabases, "isEmbedded">;
}

interface CheckedDeployment {
  /** Id of the deployment. */
  id: string;
  source: Source;
  config: SourceConfig;
  references: DeploymentRow["secret_references"];
}

/**
 * Rejects with 400 or 422 a configuration that its placement does not support, because it would run differently.
 * @param options `hasImage`: the cluster's image exists, so that nothing is built
 */
export function checkDriver(
  { driver, settings, databases }: DriverDeps,
  { id, source, config, references }: CheckedDeployment,
  { hasImage = false }: { hasImage?: boolean } = {},
): void {
  if (placement(settings, config) !== null) {
    if (isBuilt(source) && !hasImage) checkBuild(settings);
    return checkCluster({ settings, databases }, { id, source, config, references });
  }
  if (!driver.sources.includes(source)) {
    const isImage = source === "external_docker" || source === "internal_docker";
    throw stateError(
      `This installation has no driver for the source ${source}.` +
        (isImage ? " Images need a container engine: set HEDDLE_CONTAINER_ENGINE on the control plane." : ""),
    );
  }
  if (references?.length)
    throw stateError("secret_references name Kubernetes secrets, and this installation does not use Kubernetes.");
  const unsupported = KUBERNETES_ONLY.filter((name) => !isEmpty(config.resource_spec?.[name]));
  if (unsupported.length > 0) {
    throw stateError(
      `resource_spec.${unsupported.join(", ")} requires Kubernetes, which this installation does not use.`,
    );
  }
  if (settings.driver === "process" && isBuilt(source)) {
    const forContainers = ["labels", "image_pull_secrets"].filter((name) => !isEmpty(config.resource_spec?.[name]));
    if (forContainers.length > 0) {
      throw stateError(
        `resource_spec.${forContainers.join(", ")} requires containers, and this installation runs source code as processes.`,
      );
    }
  }
  if (config.resource_spec?.min_scale === 0) {
    throw invalid(["source_config", "resource_spec", "min_scale"], "must be at least 1 outside of Kubernetes");
  }
  const forbidden = forbiddenLabel(config.resource_spec, settings.ownerLabels);
  if (forbidden) throw invalid(["source_config", "resource_spec", forbidden.kind, forbidden.key], ONLY_LISTED);
}

function checkCluster(
  { settings, databases }: Pick<DriverDeps, "settings" | "databases">,
  { id, source, config, references }: CheckedDeployment,
): void {
  if (databases.isEmbedded) {
    throw stateError(
      "Pods cannot reach the embedded Postgres of this control plane. Set HEDDLE_DEPLOYMENT_DATABASE_URI to a Postgres " +
        "server that the cluster reaches, with a role that may create databases.",
    );
  }
  if (source === "internal_docker" && settings.registryUrl === undefined) {
    throw stateError(
      "Clusters pull images from a registry and cannot reach this control plane's own. Set HEDDLE_REGISTRY_URL.",
    );
  }
  readClusterSpec(config, id, settings);
  checkReferences(references ?? [], settings.installation, settings.kubernetesPullSecret);
}

function checkBuild(settings: ControlSettings): void {
  const problem = buildProblem(settings);
  if (problem !== null) throw stateError(problem);
}

/** Rejects with 422 an image of the platform's own builds, which belong to all deployments. */
function checkRepository(settings: BuildRegistrySettings, loc: (string | number)[], uri: string): void {
  if (!isBuildRepository(settings, uri)) return;
  throw invalid(loc, "is in the repository of the images that the platform builds, which no deployment may name");
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

/**
 * Validates an image. 422 for a malformed name, a registry that must not be called, or an image of another deployment.
 */
export function readImage(
  {
    settings,
    outbound,
  }: { settings: BuildRegistrySettings & { registryUrl: string | undefined }; outbound: Pick<Outbound, "check"> },
  deploymentId: string,
  source: Source,
  uri: string | null,
): string {
  const loc = ["source_revision_config", "image_uri"];
  if (uri === null) throw invalid(loc, `is required for the source ${source}`);
  if (!parseReference(uri)) throw invalid(loc, "must be an image name such as registry.example/team/agent:tag");
  if (source !== "internal_docker") {
    checkRepository(settings, loc, uri);
    try {
      checkRegistry(outbound, uri);
    } catch (error) {
      throw error instanceof OutboundError ? invalid(loc, error.message) : error;
    }
    return uri;
  }
  const { registryUrl } = settings;
  const isOurs =
    registryUrl === undefined
      ? isOfDeployment(deploymentId, uri)
      : uri.startsWith(`${registryPath(registryUrl, deploymentId)}/`);
  if (!isOurs)
    throw invalid(loc, "must be an image that was pushed to the registry_url of this deployment's push-token");
  return uri;
}
