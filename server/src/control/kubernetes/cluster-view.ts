/** State of Heddle's objects in all served namespaces, as the API server last reported it. */
import type { Log } from "../../base/log.ts";
import { Informer } from "./api/informer.ts";
import type { Kind, KubernetesObject } from "./api/kinds.ts";
import type { KubernetesApi } from "./api/kubernetes-api.ts";
import { LABELS } from "./names.ts";
import type { Applied } from "./apply.ts";
import type { LiveDeployment, LivePod } from "./observe.ts";

const CONFIRM_MS = 4_000;
/** Kinds that have a generation, which status updates do not change: only a new generation is drift. */
const WITH_STATUS: readonly Kind[] = ["Deployment", "PodDisruptionBudget"];
/** Kinds without a generation whose status changes constantly: only their deletion is drift. */
const RESTLESS: readonly Kind[] = ["HorizontalPodAutoscaler"];

export interface ClusterViewOptions {
  api: KubernetesApi;
  log: Log;
  settings: { place: string; namespaces: readonly string[] };
  /** Called when an object of the deployment has changed. `isDrift`: perhaps by another program. */
  onChange: (deploymentId: string, isDrift: boolean) => void;
}

export class ClusterView {
  readonly #options: ClusterViewOptions;
  readonly #deployments: Informer<LiveDeployment>[] = [];
  readonly #pods: Informer<LivePod>[] = [];
  readonly #others: Informer<KubernetesObject>[] = [];
  /** Versions of the objects that this process wrote, by kind and name. */
  readonly #written = new Map<string, string>();
  readonly #generations = new Map<string, number>();
  #confirmedAt = -Infinity;
  #awaySince: number | null = null;

  constructor(options: ClusterViewOptions) {
    this.#options = options;
    const { api, log, settings } = options;
    const selector = `${LABELS.place}=${settings.place}`;
    for (const namespace of settings.namespaces) {
      const common = { api, log, namespace, selector };
      const onChange = (object: KubernetesObject, isDeleted: boolean) => this.#changed(object, isDeleted);
      this.#deployments.push(new Informer<LiveDeployment>({ ...common, kind: "Deployment", onChange }));
      this.#pods.push(new Informer<LivePod>({ ...common, kind: "Pod", onChange }));
      for (const kind of OTHERS) this.#others.push(new Informer({ ...common, kind, onChange }));
    }
  }

  get #all(): Informer<never>[] {
    return [...this.#deployments, ...this.#pods, ...this.#others] as unknown as Informer<never>[];
  }

  start(): void {
    for (const informer of this.#all) informer.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.stop()));
  }

  get hasListed(): boolean {
    return this.#all.every((informer) => informer.hasListed);
  }

  get awaySince(): number | null {
    return this.#awaySince;
  }

  /** Whether the API server responds now. After an outage, restarts the watches, whose connections may be dead. */
  async confirm(): Promise<boolean> {
    if (performance.now() - this.#confirmedAt < CONFIRM_MS) return true;
    try {
      await this.#options.api.call("GET", "/version", { signal: AbortSignal.timeout(CONFIRM_MS) });
    } catch (error) {
      this.#awaySince ??= Date.now();
      this.#options.log.debug({ err: error }, "the API server does not respond");
      return false;
    }
    this.#confirmedAt = performance.now();
    if (this.#awaySince === null) return true;
    this.#awaySince = null;
    for (const informer of this.#all) informer.restart();
    return true;
  }

  deployment(id: string): LiveDeployment | undefined {
    for (const { objects } of this.#deployments) {
      for (const object of objects.values()) if (object.metadata.labels?.[LABELS.deployment] === id) return object;
    }
    return undefined;
  }

  pods(deploymentId: string): LivePod[] {
    return this.#pods.flatMap(({ objects }) =>
      [...objects.values()].filter(({ metadata }) => metadata.labels?.[LABELS.deployment] === deploymentId),
    );
  }

  /** Lists pods whose containers may have written log lines. */
  startedPods(): { uid: string; name: string; namespace: string }[] {
    return this.#pods.flatMap(({ objects }) =>
      [...objects.values()]
        .filter(({ status }) => status?.containerStatuses?.some(({ state }) => state?.waiting === undefined))
        .map(({ metadata: { uid, name, namespace } }) => ({ uid, name, namespace })),
    );
  }

  /** Records the applied versions, so that the watch events that they cause do not count as drift. */
  wrote(applied: Applied): void {
    for (const { kind, name, resourceVersion } of applied) this.#written.set(`${kind}/${name}`, resourceVersion);
    for (const { kind, name, generation } of applied) {
      if (generation !== undefined) this.#generations.set(`${kind}/${name}`, generation);
    }
  }

  #changed(object: KubernetesObject, isDeleted: boolean): void {
    const id = object.metadata.labels?.[LABELS.deployment];
    if (id === undefined) return;
    this.#options.onChange(id, this.#isDrift(object, isDeleted));
  }

  #isDrift(object: KubernetesObject, isDeleted: boolean): boolean {
    const kind = object.kind as Kind;
    if (kind === "Pod") return false;
    if (isDeleted) return true;
    if (RESTLESS.includes(kind)) return false;
    const key = `${kind}/${object.metadata.name}`;
    const { generation, resourceVersion } = object.metadata;
    if (WITH_STATUS.includes(kind)) {
      const known = this.#generations.get(key);
      return known !== undefined && generation !== undefined && generation !== known;
    }
    const known = this.#written.get(key);
    return known !== undefined && known !== resourceVersion;
  }
}

const OTHERS: Kind[] = [
  "Service",
  "Secret",
  "ServiceAccount",
  "NetworkPolicy",
  "PodDisruptionBudget",
  "HorizontalPodAutoscaler",
];
