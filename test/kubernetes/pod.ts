/** Fields of a Pod that the test kubelet supports. It reports other kinds of volumes and probes as errors. */
import type { KubeObject } from "./kube-client.ts";

export interface Probe {
  httpGet?: {
    path?: string;
    port: number | string;
    scheme?: string;
    httpHeaders?: { name: string; value: string }[];
  };
  tcpSocket?: { port: number | string };
  exec?: { command: string[] };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: KeyRef;
    configMapKeyRef?: KeyRef;
    fieldRef?: { fieldPath: string };
  };
}

export interface KeyRef {
  name: string;
  key: string;
  optional?: boolean;
}

export interface SecurityContext {
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  fsGroup?: number;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  capabilities?: { drop?: string[]; add?: string[] };
}

export interface Container {
  name: string;
  image: string;
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvVar[];
  envFrom?: { prefix?: string; secretRef?: OptionalName; configMapRef?: OptionalName }[];
  ports?: { name?: string; containerPort: number }[];
  resources?: { limits?: Record<string, string>; requests?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  securityContext?: SecurityContext;
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop?: { exec?: { command: string[] }; sleep?: { seconds: number }; httpGet?: Probe["httpGet"] } };
  /** `Always`: an init container that keeps running beside the others. */
  restartPolicy?: "Always";
}

export interface OptionalName {
  name: string;
  optional?: boolean;
}

export interface KeyItems {
  items?: { key: string; path: string; mode?: number }[];
  optional?: boolean;
}

export interface ProjectedSource {
  secret?: KeyItems & { name: string };
  configMap?: KeyItems & { name: string };
  serviceAccountToken?: { path: string; audience?: string; expirationSeconds?: number };
  downwardAPI?: { items?: { path: string; fieldRef?: { fieldPath: string } }[] };
}

export interface Volume {
  name: string;
  emptyDir?: { medium?: string; sizeLimit?: string };
  secret?: KeyItems & { secretName: string };
  configMap?: KeyItems & { name: string };
  projected?: { sources?: ProjectedSource[] };
  hostPath?: { path: string };
}

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  containerID?: string;
  ready: boolean;
  started: boolean;
  restartCount: number;
  state: ContainerState;
  lastState: ContainerState;
}

export interface ContainerState {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: {
    exitCode: number;
    reason: string;
    message?: string;
    startedAt: string;
    finishedAt: string;
    containerID: string;
  };
}

export interface Pod extends KubeObject {
  metadata: KubeObject["metadata"] & { namespace: string };
  spec: {
    nodeName?: string;
    serviceAccountName?: string;
    containers: Container[];
    initContainers?: Container[];
    restartPolicy?: "Always" | "OnFailure" | "Never";
    terminationGracePeriodSeconds?: number;
    volumes?: Volume[];
    securityContext?: SecurityContext;
    imagePullSecrets?: { name: string }[];
    hostAliases?: { ip: string; hostnames: string[] }[];
    hostname?: string;
  };
  status?: {
    phase?: string;
    startTime?: string;
    podIP?: string;
    conditions?: { type: string; status: string }[];
  };
}

/** Whether a pod is ready and not being deleted. */
export const isPodReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false);

export const podPath = ({ metadata }: Pod): string => `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

/** Parses a quantity such as `500m`, `1.5`, `256Mi`, `2G`. */
export function parseQuantity(text: string): number {
  const match = /^([\d.]+)(m|[kKMGT]i?)?$/.exec(text);
  if (!match) throw new Error(`unknown quantity ${text}`);
  const unit = match[2] ?? "";
  const factors: Record<string, number> = { "": 1, m: 1e-3, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12 };
  const powers = ["Ki", "Mi", "Gi", "Ti"];
  return Number(match[1]) * (powers.includes(unit) ? 1024 ** (powers.indexOf(unit) + 1) : factors[unit]!);
}
