/**
 * What a control plane wants of a cluster, and what the cluster reports. Both cross the wire to listeners; a control
 * plane with its own cluster uses the same types.
 *
 * `generation` is the fencing token: it rises with each change that the control plane makes to a deployment. A cluster's
 * objects carry the one that they were made from, and a lower one is never applied to them.
 */
import { z } from "zod";

const labels = z.record(z.string(), z.string());
const manifest = z.record(z.string(), z.unknown());

export const desiredRevision = z.object({
  id: z.string(),
  attempt: z.int(),
  image: z.string(),
  replicas: z.object({ min: z.int(), max: z.int() }),
  /** Requests and limits: cores, and MiB. */
  resources: z.object({ cpu: z.number(), cpuLimit: z.number(), memoryMb: z.number(), memoryLimitMb: z.number() }),
  environment: labels,
  /** Variables read from existing Secrets of the namespace. */
  references: z.array(z.object({ name: z.string(), secretName: z.string(), secretKey: z.string() })),
  /** Registry credentials in the format `.dockerconfigjson`. */
  pullCredentials: z.string().nullable(),
  /** Existing Secrets of the namespace with registry credentials. */
  pullSecrets: z.array(z.string()),
  readySeconds: z.int(),
  minHealthySeconds: z.int(),
  drainSeconds: z.int(),
  labels,
  annotations: labels,
  serviceAccount: z.string().nullable(),
  volumes: z.array(manifest),
  volumeMounts: z.array(manifest),
  initContainers: z.array(manifest),
  sidecars: z.array(manifest),
});
export type DesiredRevision = z.output<typeof desiredRevision>;

export const desiredDeployment = z.object({
  deploymentId: z.string(),
  name: z.string(),
  generation: z.int(),
  /** Null: the cluster's own. */
  namespace: z.string().nullable(),
  /** Null: the deployment's objects are to be removed. */
  revision: desiredRevision.nullable(),
});
export type DesiredDeployment = z.output<typeof desiredDeployment>;

export const POD_STATES = ["starting", "ready", "draining"] as const;

export const observedPod = z.object({
  uid: z.string(),
  name: z.string(),
  revisionId: z.string(),
  state: z.enum(POD_STATES),
  /** Where gateways reach it; null when they cannot. */
  address: z.object({ host: z.string(), port: z.int() }).nullable(),
  restarts: z.int(),
});
export type ObservedPod = z.output<typeof observedPod>;

export const TARGET_STATES = ["progressing", "ready", "failed", "removed", "stale"] as const;
export type TargetState = (typeof TARGET_STATES)[number];

export const observedDeployment = z.object({
  deploymentId: z.string(),
  /** Generation that the report is about. */
  generation: z.int(),
  /** Generation of the cluster's objects; null when there are none. */
  liveGeneration: z.int().nullable(),
  /** `stale`: the objects belong to a higher generation, and were left alone. */
  state: z.enum(TARGET_STATES),
  ready: z.int(),
  total: z.int(),
  message: z.string().nullable(),
  pods: z.array(observedPod),
});
export type ObservedDeployment = z.output<typeof observedDeployment>;

export const podLog = z.object({
  uid: z.string(),
  /** Positions before and after the lines: nanoseconds since 1970, as text. */
  from: z.string().regex(/^\d{1,19}$/),
  to: z.string().regex(/^\d{1,19}$/),
  text: z.string(),
});
export type PodLog = z.output<typeof podLog>;

export const clusterReport = z.object({
  deployments: z.array(observedDeployment).max(10_000),
  logs: z.array(podLog).max(10_000),
});
export type ClusterReport = z.output<typeof clusterReport>;

/** Answer to a report: up to where the log of each reported pod is stored. */
export const reportAnswer = z.object({ logPositions: labels });
export type ReportAnswer = z.output<typeof reportAnswer>;

export const clusterWork = z.object({
  /** Changes with each change of what is wanted. */
  version: z.string(),
  /** Null: as in the version that the caller has. */
  deployments: z.array(desiredDeployment).nullable(),
});
export type ClusterWork = z.output<typeof clusterWork>;

/** Where a cluster gets its work from, and reports to: the database, or a control plane elsewhere. */
export interface WorkSource {
  /** Resolves with the work when it differs from `version`, or after a while with null. */
  next(version: string | null, signal: AbortSignal): Promise<ClusterWork>;
  report(report: ClusterReport): Promise<ReportAnswer>;
}
