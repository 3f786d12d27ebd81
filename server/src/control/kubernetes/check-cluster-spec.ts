/**
 * Validates the fields of a deployment that apply to its cluster, when it is changed and
 * when it is planned. Owners of deployments are not administrators of the cluster: no field may give access to the node,
 * other deployments or the permissions of an account. What may pass is listed: fields, kinds of volumes and of
 * references, labels, accounts.
 */
import { z } from "zod";

import { forbiddenLabel, ONLY_LISTED } from "../deployments/owner-labels.ts";
import { reservedReason } from "../deployments/reserved-names.ts";
import type { ResourceSpec, SourceConfig } from "../deployments/schema.ts";
import type { SecretReference } from "../deployments/sql.ts";
import { type Installation, invalid } from "../deployments/validate.ts";
import { isBuildRepository } from "../drivers/container/build-registry.ts";
import { parseReference } from "../drivers/container/image-reference.ts";
import { registryPath } from "../registry/registry-path.ts";
import type { ControlSettings } from "../settings.ts";
import { AGENT_CONTAINER, isOwnName, namesObject } from "./names.ts";

const label = z.string().regex(/^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
const labelValue = z.string().regex(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/);
/** Name of an object that exists in the namespace. */
const objectNameOf = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/)
  .refine((name) => !isOwnName(name), "names that begin with heddle- are reserved");
const dnsLabel = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);

const items = z.array(z.strictObject({ key: z.string(), path: z.string(), mode: z.int().optional() })).optional();
const optional = z.boolean().optional();
const volume = z.strictObject({
  name: dnsLabel.refine((name) => !isOwnName(name), "names that begin with heddle- are reserved"),
  configMap: z.strictObject({ name: objectNameOf, items, optional, defaultMode: z.int().optional() }).optional(),
  secret: z.strictObject({ secretName: objectNameOf, items, optional, defaultMode: z.int().optional() }).optional(),
  emptyDir: z.strictObject({ medium: z.enum(["", "Memory"]).optional(), sizeLimit: z.string().optional() }).optional(),
  persistentVolumeClaim: z.strictObject({ claimName: objectNameOf, readOnly: z.boolean().optional() }).optional(),
});
const volumeMount = z.strictObject({
  name: dnsLabel,
  mountPath: z.string().startsWith("/"),
  subPath: z.string().optional(),
  readOnly: z.boolean().optional(),
});

const selector = z.strictObject({ name: objectNameOf, key: z.string(), optional });
const variable = z.strictObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.strictObject({ secretKeyRef: selector.optional(), configMapKeyRef: selector.optional() }).optional(),
});
const source = z.strictObject({ name: objectNameOf, optional });
const quantities = z.record(z.enum(["cpu", "memory", "ephemeral-storage"]), z.union([z.string(), z.number()]));
const container = z.strictObject({
  name: dnsLabel.refine((name) => name !== AGENT_CONTAINER, `${AGENT_CONTAINER} is the agent server's container`),
  image: z.string().min(1),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).optional(),
  workingDir: z.string().optional(),
  env: z.array(variable).optional(),
  envFrom: z
    .array(
      z.strictObject({ prefix: z.string().optional(), secretRef: source.optional(), configMapRef: source.optional() }),
    )
    .optional(),
  resources: z.strictObject({ requests: quantities.optional(), limits: quantities.optional() }).partial().optional(),
  volumeMounts: z.array(volumeMount).optional(),
  securityContext: z
    .strictObject({
      runAsUser: z.int().min(1).optional(),
      runAsGroup: z.int().min(1).optional(),
      runAsNonRoot: z.boolean().optional(),
      readOnlyRootFilesystem: z.boolean().optional(),
    })
    .optional(),
});

/** Fields of resource_spec that are passed on to the cluster. */
const passedOn = z.object({
  labels: z.record(label, labelValue).nullish(),
  annotations: z.record(label, z.string().max(10_000)).nullish(),
  service_account_name: objectNameOf.nullish(),
  image_pull_secrets: z
    .array(
      z.looseObject({
        name: z.string().refine((name) => !isOwnName(name), "names that begin with heddle- are reserved"),
      }),
    )
    .nullish(),
  volumes: z.array(volume).max(50).nullish(),
  volume_mounts: z.array(volumeMount).max(50).nullish(),
  init_containers: z.array(container).max(10).nullish(),
  sidecars: z
    .array(container.extend({ restartPolicy: z.undefined().optional() }))
    .max(10)
    .nullish(),
});
export type PassedOn = z.output<typeof passedOn>;

const at = (...rest: (string | number)[]): (string | number)[] => ["source_config", "resource_spec", ...rest];

export type ClusterSpecSettings = Pick<
  ControlSettings,
  | "kubernetesServiceAccounts"
  | "kubernetesPullSecret"
  | "kubernetesRegistry"
  | "kubernetesRegistryConfig"
  | "ownerLabels"
  | "registryUrl"
>;

/** Returns the fields that are passed on to the cluster. 422 for fields that are forbidden or not implemented. */
export function readClusterSpec(config: SourceConfig, deploymentId: string, settings: ClusterSpecSettings): PassedOn {
  const spec: ResourceSpec = config.resource_spec ?? {};
  const parsed = passedOn.safeParse(spec);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(at(...(issue!.path as (string | number)[])), `is not supported in Kubernetes: ${issue!.message}`);
  }
  const { service_account_name: account, init_containers: init, sidecars } = parsed.data;
  if (account != null && !settings.kubernetesServiceAccounts.includes(account)) {
    const text = `must be one that HEDDLE_KUBERNETES_SERVICE_ACCOUNTS lists; ${account} is not`;
    throw invalid(at("service_account_name"), text);
  }
  const forbidden = forbiddenLabel(spec, settings.ownerLabels);
  if (forbidden) throw invalid(at(forbidden.kind, forbidden.key), ONLY_LISTED);
  const { kubernetesPullSecret: pullSecret } = settings;
  const { image_pull_secrets, volumes } = parsed.data;
  for (const [name, field] of Object.entries({ image_pull_secrets, volumes, init_containers: init, sidecars })) {
    if (pullSecret !== undefined && namesObject(field, pullSecret)) {
      throw invalid(at(name), `must not name ${pullSecret}, the platform's own secret`);
    }
  }
  for (const [kind, containers] of Object.entries({ init_containers: init, sidecars })) {
    for (const [index, { image }] of (containers ?? []).entries()) {
      checkImage(image, at(kind, index, "image"), deploymentId, settings);
    }
  }
  return parsed.data;
}

/** Rejects with 422 an image of another deployment, which the credentials of the pod could pull. */
function checkImage(
  image: string,
  loc: (string | number)[],
  deploymentId: string,
  settings: ClusterSpecSettings,
): void {
  const reference = parseReference(image);
  if (!reference) throw invalid(loc, "must be an image name such as registry.example/team/agent:tag");
  if (isBuildRepository(settings, image)) {
    throw invalid(loc, "is in the repository of the images that the platform builds, which no deployment may name");
  }
  if (settings.registryUrl === undefined) return;
  const own = registryPath(settings.registryUrl, deploymentId);
  const isThere = reference.registry.toLowerCase() === own.split("/", 1)[0]!.toLowerCase();
  if (isThere && !reference.name.startsWith(`${own}/`)) {
    throw invalid(loc, "is in the registry of pushed images, where a deployment may name its own only");
  }
}

/** Rejects with 422 a reference to an object of Heddle, and one that sets a variable of the platform. */
export function checkReferences(
  references: readonly SecretReference[],
  installation: Installation,
  pullSecret: string | undefined,
): void {
  for (const [index, { name, secret_name: secret }] of references.entries()) {
    const loc = ["secret_references", index];
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw invalid([...loc, "name"], "must be the name of a variable");
    const reserved = reservedReason(name, installation, { isReference: true });
    if (reserved !== null) throw invalid([...loc, "name"], reserved);
    if (!objectNameOf.safeParse(secret).success) {
      throw invalid([...loc, "secret_name"], "must be the name of a Secret, and not begin with heddle-");
    }
    if (secret === pullSecret)
      throw invalid([...loc, "secret_name"], `must not be ${secret}, the platform's own secret`);
  }
}
