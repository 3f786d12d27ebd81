import type { DesiredDeployment, ObservedDeployment, ObservedPod } from "./desired-deployment.ts";
import type { KubernetesObject } from "./api/kinds.ts";
import { AGENT_CONTAINER, AGENT_PORT, ANNOTATIONS, LABELS, objectName } from "./names.ts";

export interface LiveDeployment extends KubernetesObject {
  spec: { replicas?: number; template: { metadata: { labels?: Record<string, string> } } };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
}

interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  state?: {
    waiting?: { reason?: string; message?: string };
    terminated?: { reason?: string; exitCode: number; message?: string };
    running?: object;
  };
  lastState?: { terminated?: { reason?: string; exitCode: number } };
}

export interface LivePod extends KubernetesObject {
  spec: { nodeName?: string };
  status?: {
    phase?: string;
    podIP?: string;
    reason?: string;
    message?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
}

/** Restarts of a container after which its revision has failed. */
const MAX_RESTARTS = 3;
/** Reasons of a waiting container that do not resolve by themselves. */
const HOPELESS = new Set(["InvalidImageName", "ImagePullBackOff", "ErrImageNeverPull"]);

export interface Problem {
  pod: string;
  container: string;
  text: string;
  isFinal: boolean;
  /** Whether the container ran and exited, so that its log may contain the cause. */
  hasLog: boolean;
}

/** Returns the first problem that keeps a pod from becoming ready; null when there is none. */
export function podProblem(pod: LivePod): Problem | null {
  const { status } = pod;
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { name, state, lastState, restartCount } of all) {
    const ended = state?.terminated ?? lastState?.terminated;
    const { waiting } = state ?? {};
    if (waiting && waiting.reason !== undefined && !/^(ContainerCreating|PodInitializing)$/.test(waiting.reason)) {
      const more = waiting.message === undefined ? "" : `: ${waiting.message}`;
      const exit = ended === undefined ? "" : ` It exited with code ${ended.exitCode}${spell(ended.reason)}.`;
      return {
        pod: pod.metadata.name,
        container: name,
        text: `The container ${name} is waiting: ${waiting.reason}${more}.${exit}`,
        isFinal: HOPELESS.has(waiting.reason) || restartCount >= MAX_RESTARTS,
        hasLog: ended !== undefined,
      };
    }
    const isInit = (status?.initContainerStatuses ?? []).some((container) => container.name === name);
    if (ended !== undefined && !(isInit && ended.exitCode === 0) && restartCount > 0) {
      const text = `The container ${name} exited ${restartCount} times, last with code ${ended.exitCode}${spell(ended.reason)}.`;
      // the container may start this time: what it needs, such as the control plane, may have been unavailable
      const isFinal = restartCount >= MAX_RESTARTS && state?.running === undefined;
      return { pod: pod.metadata.name, container: name, text, isFinal, hasLog: true };
    }
  }
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False") {
    const text = `A pod cannot be scheduled: ${scheduled.message ?? scheduled.reason ?? "no suitable node"}.`;
    return { pod: pod.metadata.name, container: AGENT_CONTAINER, text, isFinal: false, hasLog: false };
  }
  return null;
}

const spell = (reason: string | undefined): string =>
  reason === undefined || reason === "Error" || reason === "Completed" ? "" : ` (${reason})`;

const isReady = ({ status }: LivePod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

/** Whether a pod has not ended. An evicted pod has. */
const isRunning = ({ status }: LivePod): boolean => status?.phase !== "Failed" && status?.phase !== "Succeeded";

/**
 * Describes a pod. `template`: `host:port` at which gateways reach the deployment; null: the pod's address. `service`:
 * name of the deployment's Service, never read from the pod.
 */
export function observePod(pod: LivePod, template: string | null, service: string): ObservedPod {
  const { name, uid, namespace, labels = {}, deletionTimestamp } = pod.metadata;
  const state = deletionTimestamp !== undefined ? "draining" : isReady(pod) ? "ready" : "starting";
  const restarts = (pod.status?.containerStatuses ?? []).find((container) => container.name === AGENT_CONTAINER);
  const ip = pod.status?.podIP;
  return {
    uid,
    name,
    revisionId: labels[LABELS.revision] ?? "",
    state,
    address:
      template !== null
        ? parseAddress(template.replaceAll("{service}", service).replaceAll("{namespace}", namespace))
        : ip === undefined || ip === ""
          ? null
          : { host: ip, port: AGENT_PORT },
    restarts: restarts?.restartCount ?? 0,
  };
}

function parseAddress(text: string): { host: string; port: number } | null {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : null;
  return url && { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80) };
}

export interface ObserveParams {
  desired: DesiredDeployment;
  live: LiveDeployment | undefined;
  pods: readonly LivePod[];
  addressTemplate: string | null;
}

/** Compares a deployment's objects with the desired ones. The caller adds the last log lines of a crashed container. */
export function observe({ desired, live, pods: all, addressTemplate }: ObserveParams): ObservedDeployment {
  const pods = all.filter(isRunning).map((pod) => observePod(pod, addressTemplate, objectName(desired)));
  const liveGeneration = live === undefined ? null : Number(live.metadata.annotations?.[ANNOTATIONS.generation] ?? 0);
  const report = (state: ObservedDeployment["state"], message: string | null = null): ObservedDeployment => ({
    deploymentId: desired.deploymentId,
    generation: desired.generation,
    liveGeneration,
    state,
    ready: pods.filter((pod) => pod.state === "ready" && pod.revisionId === desired.revision?.id).length,
    total: pods.filter((pod) => pod.state !== "draining").length,
    message,
    pods,
  });
  if (liveGeneration !== null && liveGeneration > desired.generation) return report("stale");
  if (desired.revision === null) {
    return live === undefined && pods.length === 0 ? report("removed") : report("progressing");
  }
  if (live === undefined || liveGeneration !== desired.generation) return report("progressing");
  if (isRolledOut(live, desired.revision.id)) return report("ready");
  const mine = all.filter((pod) => isRunning(pod) && pod.metadata.labels?.[LABELS.revision] === desired.revision!.id);
  const problem = mine.map(podProblem).find((found) => found !== null);
  const failed = live.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  if (problem) return report(problem.isFinal ? "failed" : "progressing", problem.text);
  if (failed?.status === "True" && mine.length === 0) {
    return report("progressing", `The cluster could not create pods: ${failed.message ?? failed.reason}.`);
  }
  const progressing = live.status?.conditions?.find(({ type }) => type === "Progressing");
  const isLate = progressing?.reason === "ProgressDeadlineExceeded" && isCurrent(live);
  return report(
    isLate ? "failed" : "progressing",
    isLate ? "The deployment made no progress within its deadline." : null,
  );
}

const isCurrent = ({ metadata, status }: LiveDeployment): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

/** Whether all pods belong to the revision and have been ready for long enough. */
function isRolledOut(live: LiveDeployment, revisionId: string): boolean {
  const { spec, status = {} } = live;
  const wanted = spec.replicas ?? 1;
  return (
    spec.template.metadata.labels?.[LABELS.revision] === revisionId &&
    isCurrent(live) &&
    (status.updatedReplicas ?? 0) >= wanted &&
    (status.availableReplicas ?? 0) >= wanted &&
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0)
  );
}

/** Whether an object belongs to another owner. */
export const isForeign = (object: KubernetesObject, place: string, deploymentId: string): boolean =>
  object.metadata.labels?.[LABELS.place] !== place || object.metadata.labels[LABELS.deployment] !== deploymentId;
