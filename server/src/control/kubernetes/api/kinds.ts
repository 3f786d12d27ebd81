/** Kinds of a deployment's objects with the paths of their APIs, in the order in which they are removed. */
export const KINDS = {
  HorizontalPodAutoscaler: "/apis/autoscaling/v2",
  Deployment: "/apis/apps/v1",
  PodDisruptionBudget: "/apis/policy/v1",
  Service: "/api/v1",
  NetworkPolicy: "/apis/networking.k8s.io/v1",
  Secret: "/api/v1",
  ServiceAccount: "/api/v1",
  Pod: "/api/v1",
} as const;
export type Kind = keyof typeof KINDS;

const PLURALS: Partial<Record<Kind, string>> = { NetworkPolicy: "networkpolicies" };

/** Returns the path of a kind's objects in a namespace, or of the object with this name. */
export function objectPath(kind: Kind, namespace: string, name?: string): string {
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
  const path = `${KINDS[kind]}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`;
}

export interface KubernetesObject {
  kind?: string;
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
    creationTimestamp?: string;
  };
}
