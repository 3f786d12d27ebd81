/**
 * Reconciles a cluster with the desired deployments of a work source, and reports their state. The same code runs in a
 * control plane with its own cluster and in a listener; only the work source differs.
 *
 *     work source ──desired state──▶ reconciler ──server-side apply──▶ API server
 *          ▲                             │  ▲                              │
 *          └──────── reports, logs ──────┘  └──────── watches ─────────────┘
 *
 * A deployment is processed when its desired state changes, when one of its objects changes, and at an interval. While
 * the control plane or the API server does not respond, nothing that runs is changed, and the work is retried.
 */
import { BackOff } from "../../base/back-off.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { probe } from "../runtime/probe.ts";
import { applyDeployment, deleteDeployment, deleteOldSecrets, ForeignObjectError } from "./apply.ts";
import { KubernetesError, type KubernetesApi } from "./api/kubernetes-api.ts";
import { ClusterView } from "./cluster-view.ts";
import type { DesiredDeployment, DesiredRevision, ObservedDeployment, WorkSource } from "./desired-deployment.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import { AGENT_PORT, LABELS, namesObject, objectName } from "./names.ts";
import { observe, observePod, podProblem } from "./observe.ts";
import { PodUsage } from "./pod-usage.ts";
import { PodLogs, readLogTail } from "./pod-logs.ts";

/** Interval at which every deployment is applied again, to correct drift that no watch has reported. */
const RESYNC_MS = 60_000;
const TICK_MS = 500;
/** Interval of reports without changes, which show that the cluster is still reachable. */
const REPORT_MS = 5_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const AT_ONCE = 8;
const PROBE_MS = 2_000;

export interface ReconcilerOptions {
  api: KubernetesApi;
  source: WorkSource;
  settings: ClusterSettings & {
    /** Namespaces that deployments may use, including the default one. */
    namespaces: readonly string[];
    addressTemplate: string | null;
  };
  /** Whether this process may act now; a control plane that no longer leads must not. */
  mayAct?: () => Promise<boolean>;
  log: Log;
}

/** State of the work on one deployment. */
interface Task {
  desired: DesiredDeployment;
  /** Generation that was applied last, at `appliedAt` in ms of `performance.now()`. */
  applied: number | null;
  appliedAt: number;
  isDirty: boolean;
  failures: number;
  notBefore: number;
  problem: string | null;
  /** Whether Secrets of earlier revisions may still exist. */
  hasOldSecrets: boolean;
  crashLog: { pod: string; restarts: number; text: string } | null;
  /** Message about graphs that failed to load, by the pod's uid; null while the pod is probed. */
  graphs: Map<string, string | null>;
  /** Last stored report, as JSON. */
  reported: string;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #view: ClusterView;
  readonly #logs: PodLogs;
  readonly #usage: PodUsage;
  readonly #tasks = new Map<string, Task>();
  readonly #poller: Poller;
  readonly #stop = new AbortController();
  readonly #source: RepeatedFailure;
  #fetching: Promise<void> | undefined;
  #version: string | null = null;
  /** Positions up to which the logs of running pods are stored, by uid. */
  readonly #positions: Record<string, string> = {};
  #reportedAt = -Infinity;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    const { api, log, settings } = options;
    this.#logs = new PodLogs(api, log);
    this.#view = new ClusterView({ api, log, settings, onChange: (id, isDrift) => this.#changed(id, isDrift) });
    this.#usage = new PodUsage({ api, log, settings, pods: () => this.#view.startedPods() });
    const failing = "could not reconcile the cluster; will retry";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: TICK_MS, log, failing });
    this.#source = new RepeatedFailure({ log, message: "could not get work from the control plane; will retry" });
  }

  /** Time at which the API server stopped responding, in ms since 1970; null while it responds. */
  get awaySince(): number | null {
    return this.#view.awaySince;
  }

  start(): void {
    this.#view.start();
    this.#usage.start();
    this.#poller.start();
    this.#fetching = this.#fetch();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#poller.stop();
    await this.#fetching;
    await this.#usage.stop();
    this.#logs.stop();
    await this.#view.stop();
  }

  wake(): void {
    this.#poller.wake();
  }

  #changed(deploymentId: string, isDrift: boolean): void {
    const task = this.#tasks.get(deploymentId);
    if (task && isDrift) task.isDirty = true;
    this.#poller.wake(50);
  }

  /** Polls the work source. */
  async #fetch(): Promise<void> {
    const { signal } = this.#stop;
    const backOff = new BackOff({ firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS });
    while (!signal.aborted) {
      try {
        const { version, deployments } = await this.#options.source.next(this.#version, signal);
        if (deployments) this.#take(deployments);
        this.#version = version;
        this.#source.succeeded();
        backOff.reset();
      } catch (error) {
        if (signal.aborted) return;
        this.#source.failed(error);
        await backOff.wait(signal);
      }
    }
  }

  #take(deployments: DesiredDeployment[]): void {
    const wanted = new Map(deployments.map((desired) => [desired.deploymentId, desired]));
    // a deployment that is no longer listed was reported as removed, or lost by the control plane: nothing is deleted
    for (const id of this.#tasks.keys()) if (!wanted.has(id)) this.#tasks.delete(id);
    for (const [id, desired] of wanted) {
      const task = this.#tasks.get(id);
      if (!task) this.#tasks.set(id, newTask(desired));
      // a lower generation is an outdated answer
      else if (desired.generation > task.desired.generation) {
        Object.assign(task, { desired, isDirty: true, failures: 0, notBefore: 0, problem: null, hasOldSecrets: true });
      }
    }
    this.#poller.wake();
  }

  async #pass(): Promise<void> {
    if (!this.#view.hasListed) return;
    const { mayAct = async () => true } = this.#options;
    if (!(await mayAct())) return;
    const limit = new FairQueue({ capacity: AT_ONCE });
    const now = performance.now();
    const due = [...this.#tasks.values()].filter(
      (task) => now >= task.notBefore && (task.isDirty || now - task.appliedAt > RESYNC_MS),
    );
    await Promise.all(due.map((task) => limit.run(() => this.#work(task))));
    await this.#report();
  }

  async #work(task: Task): Promise<void> {
    const { api, settings, log } = this.#options;
    const { desired } = task;
    task.isDirty = false;
    try {
      this.#check(desired);
      if (hasRevision(desired)) {
        const applied = await applyDeployment(api, settings, desired);
        if (applied) this.#view.wrote(applied);
      } else await deleteDeployment(api, settings, desired);
      task.applied = desired.generation;
      task.appliedAt = performance.now();
      task.failures = 0;
      task.problem = null;
    } catch (error) {
      task.isDirty = true;
      task.failures++;
      task.notBefore = performance.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (task.failures - 1));
      // report rejections to the deployment's owner, but not outages of the API server
      if (error instanceof KubernetesError) task.problem = `The cluster rejected a request: ${error.message}`;
      else if (error instanceof ForeignObjectError) task.problem = error.message;
      if (task.failures === 1)
        log.warn({ err: error, deployment: desired.deploymentId }, "could not apply a deployment; will retry");
    }
  }

  /** Rejects what this cluster's operator does not allow, whatever the control plane has checked. */
  #check({ namespace, revision }: DesiredDeployment): void {
    const { namespaces, pullSecret } = this.#options.settings;
    if (namespace !== null && !namespaces.includes(namespace)) {
      throw new ForeignObjectError(`The namespace ${namespace} is not served. Use one of: ${namespaces.join(", ")}.`);
    }
    if (revision === null || pullSecret === null) return;
    const { references, pullSecrets, volumes, initContainers, sidecars } = revision;
    if (namesObject([references, pullSecrets, volumes, initContainers, sidecars], pullSecret)) {
      throw new ForeignObjectError(`The secret ${pullSecret} is the platform's own; a deployment must not name it.`);
    }
  }

  /** Reports the deployments whose state has changed, and all of them at an interval. */
  async #report(): Promise<void> {
    const { source } = this.#options;
    const isDue = performance.now() - this.#reportedAt >= REPORT_MS;
    const changed: { task: Task; observed: ObservedDeployment; text: string }[] = [];
    for (const task of this.#tasks.values()) {
      const observed = await this.#observe(task);
      const text = JSON.stringify(observed);
      if (isDue || text !== task.reported) changed.push({ task, observed, text });
    }
    const logs = this.#logs.take();
    const usage = this.#usage.take();
    if (changed.length === 0 && logs.length === 0 && usage === undefined) return;
    // while the cluster is unreachable, its last state must not be reported as the current one
    if (!(await this.#view.confirm())) return;
    const deployments = changed.map(({ observed }) => observed);
    const { logPositions } = await source.report({ deployments, logs, ...(usage && { usage }) });
    if (isDue) this.#reportedAt = performance.now();
    for (const { task, text } of changed) task.reported = text;
    Object.assign(this.#positions, logPositions);
    this.#logs.confirm(logPositions);
    const pods = this.#view.startedPods();
    this.#logs.follow(pods, this.#positions);
    const living = new Set(pods.map(({ uid }) => uid));
    for (const uid of Object.keys(this.#positions)) if (!living.has(uid)) delete this.#positions[uid];
    for (const { task, observed } of changed) await this.#cleanUp(task, observed);
  }

  async #observe(task: Task): Promise<ObservedDeployment> {
    const { settings } = this.#options;
    const { desired } = task;
    const live = this.#view.deployment(desired.deploymentId);
    const pods = this.#view.pods(desired.deploymentId);
    const observed = observe({ desired, live, pods, addressTemplate: settings.addressTemplate });
    if (observed.state === "stale" || task.applied === desired.generation) {
      const broken = this.#brokenGraphs(task);
      if (broken !== null && observed.state === "progressing") {
        return { ...observed, state: "failed", message: `${broken} See the deployment's log.` };
      }
      if (observed.state !== "failed" && observed.state !== "progressing") return observed;
      const tail = await this.#crashLog(task);
      return tail === "" ? observed : { ...observed, message: `${observed.message ?? ""}\n${tail}`.trim() };
    }
    // not applied yet: the observed state belongs to an earlier generation
    const state = task.problem !== null && task.failures > 3 ? "failed" : "progressing";
    return { ...observed, state, message: task.problem };
  }

  /** Asks starting servers, if reachable, which graphs failed to load: probes only report that they are not ready. */
  #brokenGraphs({ desired, graphs }: Task): string | null {
    const starting = this.#view
      .pods(desired.deploymentId)
      .filter(({ metadata, status }) => metadata.labels?.[LABELS.revision] === desired.revision?.id && status?.podIP)
      .filter((pod) => observePod(pod, null, objectName(desired)).state === "starting");
    for (const uid of graphs.keys()) if (!starting.some(({ metadata }) => metadata.uid === uid)) graphs.delete(uid);
    for (const { metadata, status } of starting) {
      if (graphs.has(metadata.uid)) continue;
      graphs.set(metadata.uid, null);
      void probe(AGENT_PORT, PROBE_MS, status!.podIP).then((health) => {
        if (!graphs.has(metadata.uid)) return;
        if (health.state !== "broken") return void setTimeout(() => graphs.delete(metadata.uid), PROBE_MS).unref();
        graphs.set(metadata.uid, `These graphs failed to load: ${health.graphs.join(", ")}.`);
        this.#poller.wake();
      });
    }
    return [...graphs.values()].find((text) => text !== null) ?? null;
  }

  /** Reads the last log lines of a crashed container, once after each crash. */
  async #crashLog(task: Task): Promise<string> {
    const { desired } = task;
    for (const pod of this.#view.pods(desired.deploymentId)) {
      if (pod.metadata.labels?.[LABELS.revision] !== desired.revision?.id) continue;
      const problem = podProblem(pod);
      if (!problem?.hasLog) continue;
      const restarts = pod.status?.containerStatuses?.reduce((sum, { restartCount }) => sum + restartCount, 0) ?? 0;
      const known = task.crashLog;
      if (known?.pod === problem.pod && known.restarts === restarts) return known.text;
      const { namespace } = pod.metadata;
      const text = await readLogTail(this.#options.api, { namespace, ...problem });
      task.crashLog = { pod: problem.pod, restarts, text };
      return text;
    }
    return "";
  }

  /** Deletes the Secrets of earlier revisions once their pods are gone. */
  async #cleanUp(task: Task, observed: ObservedDeployment): Promise<void> {
    const { desired } = task;
    if (!task.hasOldSecrets || !hasRevision(desired) || observed.state !== "ready") return;
    if (observed.pods.some(({ revisionId }) => revisionId !== desired.revision.id)) return;
    await deleteOldSecrets(this.#options.api, this.#options.settings, desired);
    task.hasOldSecrets = false;
  }
}

const newTask = (desired: DesiredDeployment): Task => ({
  desired,
  applied: null,
  appliedAt: -Infinity,
  isDirty: true,
  failures: 0,
  notBefore: 0,
  problem: null,
  hasOldSecrets: true,
  crashLog: null,
  graphs: new Map(),
  reported: "",
});

const hasRevision = (desired: DesiredDeployment): desired is DesiredDeployment & { revision: DesiredRevision } =>
  desired.revision !== null;
