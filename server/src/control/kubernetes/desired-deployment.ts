/**
 * Desired state of a cluster's deployments, and the state that the cluster reports. Listeners exchange both with the
 * control plane over HTTP; a control plane with its own cluster uses the same types.
 *
 * `generation` is the fencing token: it increases with each change that the control plane makes to a deployment. The
 * objects in a cluster record the generation that was applied to them, and a lower one is never applied.
 */
import { z } from "zod";

import { storableText } from "../../base/http/fields.ts";

const labels = z.record(z.string(), z.string());
const manifest = z.record(z.string(), z.unknown());

const desiredRevision = z.object({
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

const desiredDeployment = z.object({
  deploymentId: z.string(),
  name: z.string(),
  generation: z.int(),
  /** Null: the cluster's default namespace. */
  namespace: z.string().nullable(),
  /** Null: the deployment's objects must be removed. */
  revision: desiredRevision.nullable(),
});
export type DesiredDeployment = z.output<typeof desiredDeployment>;

const POD_STATES = ["starting", "ready", "draining"] as const;

/** Text of a cluster for people, which is cut: a report is not rejected because of what a container printed. */
const shown = (longest: number) => z.string().overwrite((text) => text.slice(0, longest));
const short = storableText.max(300);
const count = z.int().min(0).max(1_000_000);
/** Leaves room for the increments of many years below the integers that JSON and JavaScript keep exact. */
const HIGHEST_GENERATION = 2 ** 52;
const generation = z.int().min(0).max(HIGHEST_GENERATION);

const observedPod = z.object({
  uid: short,
  name: short,
  revisionId: short,
  state: z.enum(POD_STATES),
  /** Address at which gateways reach the pod; null when they cannot. */
  address: z.object({ host: short, port: z.int().min(0).max(65_535) }).nullable(),
  restarts: z.int().min(0),
});
export type ObservedPod = z.output<typeof observedPod>;

const TARGET_STATES = ["progressing", "ready", "failed", "removed", "stale"] as const;
export type TargetState = (typeof TARGET_STATES)[number];

const observedDeployment = z.object({
  deploymentId: short,
  /** Generation that the report is about. */
  generation,
  /** Generation of the cluster's objects; null when there are none. */
  liveGeneration: generation.nullable(),
  /** `stale`: the objects belong to a higher generation, and were left alone. */
  state: z.enum(TARGET_STATES),
  ready: count,
  total: count,
  message: shown(20_000).nullable(),
  pods: z.array(observedPod).max(1_000),
});
export type ObservedDeployment = z.output<typeof observedDeployment>;

/** Nanoseconds since 1970, as text: within the range of a bigint. */
const position = z
  .string()
  .max(19)
  // every check runs, whatever an earlier one has found
  .refine((digits) => /^\d{1,19}$/.test(digits) && BigInt(digits) < 2n ** 63n, "must be a number below 2^63");

/** Longest text of a log in one report, in characters. */
export const LONGEST_LOG = 1024 * 1024;

const podLog = z.object({
  uid: short,
  /** Positions before and after the lines. */
  from: position,
  to: position,
  text: z.string().max(LONGEST_LOG),
});
export type PodLog = z.output<typeof podLog>;

/** CPU time and memory of pods, as the cluster's metrics API reports them. */
const usageReport = z.object({
  /** Why there are no metrics; null when there are. */
  problem: shown(2_000).nullable(),
  pods: z
    .array(
      z.object({
        uid: short,
        memoryBytes: z.int().min(0),
        cpuPercent: z.number().min(0).max(1_000_000).describe("Percent of one core"),
      }),
    )
    .max(10_000),
});
export type UsageReport = z.output<typeof usageReport>;

export const clusterReport = z.object({
  deployments: z.array(observedDeployment).max(10_000),
  logs: z.array(podLog).max(10_000),
  /** Absent in reports without new metrics. */
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
