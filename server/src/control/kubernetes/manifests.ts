import type { ClusterSettings } from "./cluster-settings.ts";
import type { DesiredDeployment, DesiredRevision } from "./desired-deployment.ts";
import { AGENT_PORT, ANNOTATIONS, LABELS, objectName, secretName } from "./names.ts";
import { podEnvironment, podTemplate } from "./pod-template.ts";

/** Fields of a Kubernetes object that Heddle writes. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
    resourceVersion?: string;
  };
  [field: string]: unknown;
}

/** Target of the autoscaler, in percent of the requested CPU time. */
const CPU_TARGET = 75;
const KEPT_REPLICA_SETS = 3;
/** Kind of the autoscaler, which exists only if `max_scale` exceeds `min_scale`. */
export const AUTOSCALER = "HorizontalPodAutoscaler";

/**
 * Returns the objects of a deployment, in the order in which they are applied. `live`: replicas that the autoscaler has
 * set; the manifest repeats this number, because an omitted field would reset it to one replica.
 */
export function manifests(
  desired: DesiredDeployment & { revision: DesiredRevision },
  settings: ClusterSettings,
  live: number | null = null,
): Manifest[] {
  const { revision, deploymentId, generation } = desired;
  const name = objectName(desired);
  const namespace = desired.namespace ?? settings.namespace;
  const owner = { [LABELS.place]: settings.place, [LABELS.deployment]: deploymentId };
  const object = (apiVersion: string, kind: string, fields: object, metadata: object = {}): Manifest => ({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      labels: { ...owner, "app.kubernetes.io/managed-by": "heddle", "app.kubernetes.io/name": name },
      ...metadata,
    },
    ...fields,
  });
  const secret = (part: "env" | "pull", type: string, data: Record<string, string>): Manifest => {
    const labels = {
      ...object("v1", "Secret", {}).metadata.labels,
      [LABELS.revision]: revision.id,
      [LABELS.part]: part,
    };
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    const fields = { type, data: Object.fromEntries(encoded) as Record<string, string> };
    return object("v1", "Secret", fields, { name: secretName(name, revision.id, part), labels });
  };
  const { min, max } = revision.replicas;
  const scales = max > min && min > 0;
  const replicas = scales && live !== null ? Math.min(max, Math.max(min, live)) : min;
  return [
    object("v1", "ServiceAccount", { automountServiceAccountToken: false }),
    secret("env", "Opaque", podEnvironment(revision)),
    ...(revision.pullCredentials === null
      ? []
      : [secret("pull", "kubernetes.io/dockerconfigjson", { ".dockerconfigjson": revision.pullCredentials })]),
    object("networking.k8s.io/v1", "NetworkPolicy", {
      spec: {
        podSelector: { matchLabels: owner },
        policyTypes: ["Ingress"],
        ingress: [{ ...peers(settings.ingressFrom), ports: [{ protocol: "TCP", port: AGENT_PORT }] }],
      },
    }),
    object("v1", "Service", {
      spec: {
        type: "ClusterIP",
        selector: owner,
        ports: [{ name: "http", protocol: "TCP", port: AGENT_PORT, targetPort: AGENT_PORT }],
      },
    }),
    object(
      "apps/v1",
      "Deployment",
      {
        spec: {
          replicas,
          revisionHistoryLimit: KEPT_REPLICA_SETS,
          minReadySeconds: revision.minHealthySeconds,
          progressDeadlineSeconds: Math.max(revision.readySeconds, revision.minHealthySeconds + 1),
          strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } },
          selector: { matchLabels: owner },
          template: podTemplate(revision, name, owner, settings),
        },
      },
      {
        annotations: {
          [ANNOTATIONS.name]: desired.name,
          [ANNOTATIONS.generation]: String(generation),
          [ANNOTATIONS.attempt]: String(revision.attempt),
        },
      },
    ),
    object("policy/v1", "PodDisruptionBudget", { spec: { maxUnavailable: 1, selector: { matchLabels: owner } } }),
    ...(scales ? [object("autoscaling/v2", AUTOSCALER, { spec: autoscaler(name, min, max) })] : []),
  ];
}

const autoscaler = (name: string, min: number, max: number): object => ({
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
  minReplicas: min,
  maxReplicas: max,
  metrics: [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: CPU_TARGET } } },
  ],
});

const isNetwork = (from: string): boolean => from.includes("/");

/** Returns the sources of a rule. Without sources, the rule allows all. */
function peers(from: readonly string[]): object {
  if (from.length === 0) return {};
  return {
    from: from.map((source) =>
      isNetwork(source)
        ? { ipBlock: { cidr: source } }
        : { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": source } } },
    ),
  };
}
