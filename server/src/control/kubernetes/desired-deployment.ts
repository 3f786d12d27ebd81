/**
 * Desired state of a cluster's deployments, and the state that the cluster reports. Listeners exchange both with the
 * control plane over HTTP; a control plane with its own cluster uses the same types.
 *
 * `generation` is the fencing token: it increases with each change that the control plane makes to a deployment. The
 * objects in a cluster record the generation that was applied to them, and a lower one is never applied.
 */
import { z } from "zod";

const labels = z.record(z.string(), z.string());
const manifest = z.record(z.string(), z.unknown());

export const desiredRevision = z.object({
  id: z.string(),
  attempt: z.int(),
  image: z.string(),
  /** Whether the platform has built the image, so that the cluster's operator provides the credentials to pull it. */
  isBuilt: z.boolean().optional(),
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
  /** Null: the cluster's default namespace. */
  namespace: z.string().nullable(),
  /** Null: the deployment's objects must be removed. */
  revision: desiredRevision.nullable(),
});
export type DesiredDeployment = z.output<typeof desiredDeployment>;

export const POD_STATES = ["starting", "ready", "draining"] as const;

export const observedPod = z.object({
  uid: z.string(),
  name: z.string(),
  revisionId: z.string(),
  state: z.enum(POD_STATES),
  /** Address at which gateways reach the pod; null when they cannot. */
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

/** CPU time and memory of pods, as the cluster's metrics API reports them. */
export const usageReport = z.object({
  /** Why there are no figures; null when there are. */
  problem: z.string().max(2_000).nullable(),
  pods: z
    .array(z.object({ uid: z.string(), memoryBytes: z.int(), cpuPercent: z.number().describe("Percent of one core") }))
    .max(10_000),
});
export type UsageReport = z.output<typeof usageReport>;

export const clusterReport = z.object({
  deployments: z.array(observedDeployment).max(10_000),
  logs: z.array(podLog).max(10_000),
  /** Absent in reports without new figures. */
  usage: usageReport.optional(),
});
export type ClusterReport = z.output<typeof clusterReport>;

/** Answer to a report: position up to which the log of each reported pod is stored. */
export const reportAnswer = z.object({ logPositions: labels });
export type ReportAnswer = z.output<typeof reportAnswer>;

export const clusterWork = z.object({
  /** Changes whenever a desired deployment changes. */
  version: z.string(),
  /** Null: unchanged since the caller's version. */
  deployments: z.array(desiredDeployment).nullable(),
});
export type ClusterWork = z.output<typeof clusterWork>;

/** Source of a cluster's desired deployments and receiver of its reports: the database, or a remote control plane. */
export interface WorkSource {
  /** Resolves with the deployments when they differ from `version`, or with null after a timeout. */
  next(version: string | null, signal: AbortSignal): Promise<ClusterWork>;
  report(report: ClusterReport): Promise<ReportAnswer>;
}
