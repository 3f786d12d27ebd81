/** CPU time and memory of pods, from the cluster's metrics API (metrics.k8s.io), which is an optional part of a cluster. */
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { KubernetesUnreachableError, KubernetesError, type KubernetesApi } from "./api/kubernetes-api.ts";
import type { UsageReport } from "./desired-deployment.ts";
import { AGENT_CONTAINER, LABELS } from "./names.ts";

/** Interval at which the metrics server measures by default. */
const READ_MS = 15_000;

export interface PodMetrics {
  metadata: { name: string };
  containers: { name: string; usage?: { cpu?: string; memory?: string } }[];
}

export interface PodUsageOptions {
  api: KubernetesApi;
  log: Log;
  settings: { place: string; namespaces: readonly string[] };
  /** Lists the pods that run. */
  pods: () => { uid: string; name: string; namespace: string }[];
  everyMs?: number;
}

export class PodUsage {
  readonly #options: PodUsageOptions;
  readonly #poller: Poller;
  #latest: UsageReport | undefined;

  constructor(options: PodUsageOptions) {
    this.#options = options;
    const { log, everyMs = READ_MS } = options;
    const failing = "could not read the CPU time and memory of pods; will retry";
    this.#poller = new Poller({ pass: () => this.#read(), everyMs, log, failing });
  }

  start(): void {
    this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  /** Returns the metrics that were read since the last call; undefined when there are none. */
  take(): UsageReport | undefined {
    const latest = this.#latest;
    this.#latest = undefined;
    return latest;
  }

  async #read(): Promise<void> {
    const { api, settings, pods } = this.#options;
    const running = pods();
    if (running.length === 0) return;
    const report: UsageReport = { problem: null, pods: [] };
    for (const namespace of settings.namespaces) {
      const uids = new Map(running.filter((pod) => pod.namespace === namespace).map(({ name, uid }) => [name, uid]));
      if (uids.size === 0) continue;
      try {
        const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/pods`;
        const query = { labelSelector: `${LABELS.place}=${settings.place}` };
        const { items } = await api.call<{ items: PodMetrics[] }>("GET", path, { query });
        for (const item of items) {
          const uid = uids.get(item.metadata.name);
          const usage = readUsage(item);
          if (uid !== undefined && usage !== null) report.pods.push({ uid, ...usage });
        }
      } catch (error) {
        const problem = explain(error, namespace);
        // an API server that is unavailable says nothing about the metrics API
        if (problem === null) throw error;
        report.problem = problem;
      }
    }
    this.#latest = report;
  }
}

function explain(error: unknown, namespace: string): string | null {
  const { message } = error as Error;
  if (error instanceof KubernetesUnreachableError) {
    // the aggregation layer answers for a metrics server that does not
    return /answered 503/.test(message) ? `The cluster's metrics API does not respond: ${message}` : null;
  }
  if (!(error instanceof KubernetesError)) return null;
  if (error.status === 403) {
    return `Reading pods of metrics.k8s.io in the namespace ${namespace} is forbidden. Grant get and list to Heddle's account.`;
  }
  if (error.status === 404) {
    return "The cluster has no metrics API (metrics.k8s.io). Install a metrics server to see CPU time and memory.";
  }
  return `The cluster's metrics API rejected the request: ${message}`;
}

/** Returns the metrics of the agent server's container; null when they are incomplete. */
export function readUsage({ containers }: PodMetrics): { memoryBytes: number; cpuPercent: number } | null {
  const usage = containers.find(({ name }) => name === AGENT_CONTAINER)?.usage;
  const memory = parseQuantity(usage?.memory);
  const cores = parseQuantity(usage?.cpu);
  if (memory === null || cores === null) return null;
  return { memoryBytes: Math.round(memory), cpuPercent: Math.round(cores * 1000) / 10 };
}

const SUFFIXES: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Parses a quantity of the Kubernetes API, such as `250m`, `12345678n`, `128974848`, `1e3` or `123Mi`. Null if invalid. */
export function parseQuantity(text: string | undefined): number | null {
  const found = /^([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text ?? "");
  if (!found) return null;
  return Number(found[1] + (found[2] ?? "")) * SUFFIXES[found[3] ?? ""]!;
}
