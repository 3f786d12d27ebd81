/**
 * Validates the fields of a deployment that apply to its cluster (contract control-plane §2.6). Owners of deployments
 * are not administrators of the cluster: no field may give access to the node, other deployments or the permissions of
 * an account.
 */
import { z } from "zod";

import { isReserved } from "../deployment-records/reserved-names.ts";
import type { ResourceSpec, SourceConfig } from "../deployment-records/schema.ts";
import type { SecretReference } from "../deployment-records/sql.ts";
import { type Installation, invalid } from "../deployment-records/validate.ts";
import { AGENT_CONTAINER, isOwnName } from "./names.ts";

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
  labels: z
    .record(label, labelValue)
    .refine((all) => !Object.keys(all).some((key) => key.startsWith("heddle.")), "labels heddle.* are reserved")
    .nullish(),
  annotations: z
    .record(label, z.string().max(10_000))
    .refine((all) => !Object.keys(all).some((key) => key.startsWith("heddle.")), "annotations heddle.* are reserved")
    .nullish(),
  service_account_name: objectNameOf.nullish(),
  image_pull_secrets: z.array(z.looseObject({ name: z.string() })).nullish(),
  volumes: z.array(volume).max(50).nullish(),
  volume_mounts: z.array(volumeMount).max(50).nullish(),
  init_containers: z.array(container).max(10).nullish(),
  sidecars: z
    .array(container.extend({ restartPolicy: z.undefined().optional() }))
    .max(10)
    .nullish(),
});
export type PassedOn = z.output<typeof passedOn>;

/** Fields of resource_spec that Heddle does not implement: no databases or queues run beside a deployment. */
const NOT_BUILT = /^(queue|redis|db|orchestrator|executor)_/;

const at = (...rest: (string | number)[]): (string | number)[] => ["source_config", "resource_spec", ...rest];

/** Returns the fields that are passed on to the cluster. 422 for fields that are forbidden or not implemented. */
export function readClusterSpec(
  config: SourceConfig,
  { serviceAccounts }: { serviceAccounts: readonly string[] },
): PassedOn {
  const spec: ResourceSpec = config.resource_spec ?? {};
  for (const [name, value] of Object.entries(spec)) {
    if (value != null && NOT_BUILT.test(name)) {
      throw invalid(at(name), `${name} is not implemented for deployments in Kubernetes. Remove it`);
    }
  }
  if (spec.min_scale === 0 && (spec.max_scale ?? 1) > 0) {
    const text =
      "scaling from 0 on demand is not implemented for deployments in Kubernetes. Set max_scale to 0 too, or 1";
    throw invalid(at("min_scale"), text);
  }
  const parsed = passedOn.safeParse(spec);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(at(...(issue!.path as (string | number)[])), `is not supported in Kubernetes: ${issue!.message}`);
  }
  const account = parsed.data.service_account_name;
  if (account != null && !serviceAccounts.includes(account)) {
    const text = `must be one that HEDDLE_KUBERNETES_SERVICE_ACCOUNTS lists; ${account} is not`;
    throw invalid(at("service_account_name"), text);
  }
  return parsed.data;
}

/** Rejects with 422 a reference to an object of Heddle, and one that sets a variable of the platform. */
export function checkReferences(references: readonly SecretReference[], installation: Installation): void {
  for (const [index, { name, secret_name: secret }] of references.entries()) {
    const loc = ["secret_references", index];
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw invalid([...loc, "name"], "must be the name of a variable");
    if (isReserved(name, installation)) throw invalid([...loc, "name"], `${name} is reserved: the platform sets it`);
    if (!objectNameOf.safeParse(secret).success) {
      throw invalid([...loc, "secret_name"], "must be the name of a Secret, and not begin with heddle-");
    }
  }
}
