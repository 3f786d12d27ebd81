/**
 * Runs one pod: a sandbox container that holds its network, the init containers in order, then its containers. Reports
 * the pod's status after each change, and deletes the pod from the API when its containers have ended.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Engine } from "../../server/src/control/drivers/container/engine.ts";
import { ContainerRunner, removeContainer } from "./container-runner.ts";
import type { PodContext } from "./container-spec.ts";
import { type KubeClient, KubeError, STRATEGIC_PATCH } from "./kube-client.ts";
import { type Pod, podPath } from "./pod.ts";
import { type ApiAddress, writeVolumes } from "./pod-files.ts";

export interface PodWorkerOptions {
  engine: Engine;
  client: KubeClient;
  api: ApiAddress;
  /** Directory of all pods of the node. */
  directory: string;
  backoffMs: number;
  /** Addresses of names in all pods, in place of DNS. */
  hosts: Record<string, string>;
  /** Image of the container that holds a pod's network. */
  pauseImage: string;
  /** Called when the pod no longer exists here or at the API server. */
  onGone(): void;
}

const RETRY_MS = 1000;

export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #directory: string;
  #pod: Pod;
  #runners: ContainerRunner[] = [];
  #initRunners: ContainerRunner[] = [];
  #isInitialized = false;
  #sandboxId: string | undefined;
  #podIp = "";
  readonly #startTime = new Date().toISOString();
  readonly #transitions = new Map<string, { status: string; at: string }>();
  /** Aborts when the pod is being deleted, or the node is lost. */
  readonly #end = new AbortController();
  #isNodeGone = false;
  #isReporting = false;
  #isChanged = false;
  readonly #finished: Promise<void>;

  constructor(options: PodWorkerOptions, pod: Pod) {
    this.#options = options;
    this.#pod = pod;
    this.#directory = join(options.directory, pod.metadata.uid);
    this.#finished = this.#run().catch((error: unknown) => console.error(`pod ${pod.metadata.name}:`, error));
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Sets the pod's newest version, and stops the pod when it is being deleted. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp !== undefined) this.#end.abort();
  }

  /** Stops a pod that no longer exists at the API server. */
  delete(): void {
    this.#end.abort();
  }

  findContainer(name: string): ContainerRunner | undefined {
    return [...this.#runners, ...this.#initRunners].find(({ container }) => container.name === name);
  }

  /** Kills all containers at once and reports nothing, as if the machine were lost. */
  async vanish(): Promise<void> {
    this.#isNodeGone = true;
    this.#end.abort();
    await this.#finished;
  }

  async #run(): Promise<void> {
    const running = this.#start();
    const ended = new Promise((done) => this.#end.signal.addEventListener("abort", done, { once: true }));
    if (!this.#end.signal.aborted) await ended;
    // a start in progress ends at its next step
    await Promise.race([running, sleep(20_000)]);
    await this.#stopContainers();
    if (!this.#isNodeGone) await this.#deletePod();
    if (this.#sandboxId !== undefined) await removeContainer(this.#options.engine, this.#sandboxId);
    rmSync(this.#directory, { recursive: true, force: true });
    this.#options.onGone();
  }

  async #start(): Promise<void> {
    let context: PodContext | undefined;
    while (!context && !this.#end.signal.aborted) {
      try {
        context = await this.#prepare();
      } catch (error) {
        this.#waitAll("CreateContainerConfigError", (error as Error).message);
        await this.#pause(RETRY_MS);
      }
    }
    if (!context || this.#end.signal.aborted) return;
    const { spec } = this.#pod;
    const policy = spec.restartPolicy ?? "Always";
    const report = () => this.#report();
    this.#runners = spec.containers.map((container) => new ContainerRunner(context, container, policy, report));
    this.#initRunners = (spec.initContainers ?? []).map(
      (container) =>
        new ContainerRunner(
          context,
          container,
          container.restartPolicy ?? (policy === "Never" ? "Never" : "OnFailure"),
          report,
        ),
    );
    if (this.#initRunners.length > 0)
      for (const { status } of this.#runners) status.state = { waiting: { reason: "PodInitializing" } };
    this.#report();
    for (const runner of this.#initRunners) {
      const run = runner.run();
      if (runner.container.restartPolicy === "Always") {
        while (!runner.status.started && !this.#end.signal.aborted) await this.#pause(50);
        continue;
      }
      await Promise.race([run, this.#ended()]);
      if (this.#end.signal.aborted || runner.status.state.terminated?.exitCode !== 0) return this.#report();
    }
    this.#isInitialized = true;
    this.#report();
    for (const runner of this.#runners) void runner.run();
  }

  async #prepare(): Promise<PodContext> {
    const { engine, client, api, pauseImage, backoffMs, hosts } = this.#options;
    const directory = this.#directory;
    mkdirSync(directory, { recursive: true });
    const pod = this.#pod;
    if (this.#sandboxId === undefined) {
      const { name, namespace, uid } = pod.metadata;
      const body = { Image: pauseImage, Labels: { "heddle.pod": `${namespace}/${name}` }, HostConfig: {} };
      const created = await engine.call<{ Id: string }>("POST", `/containers/create?name=pod-${uid}`, { body });
      this.#sandboxId = created.Id;
      await engine.call("POST", `/containers/${created.Id}/start`);
    }
    const path = `/containers/${this.#sandboxId}/json`;
    this.#podIp = (
      await engine.call<{ NetworkSettings: { IPAddress: string } }>("GET", path)
    ).NetworkSettings.IPAddress;
    const aliases = (pod.spec.hostAliases ?? []).map(({ ip, hostnames }) => `${ip} ${hostnames.join(" ")}\n`);
    const own = `${this.#podIp} ${pod.spec.hostname ?? pod.metadata.name}\n`;
    const names = Object.entries(hosts).map(([name, ip]) => `${ip} ${name}\n`);
    writeFileSync(join(directory, "hosts"), `127.0.0.1 localhost\n${own}${[...aliases, ...names].join("")}`);
    const volumes = await writeVolumes(client, pod, join(directory, "volumes"));
    return {
      engine,
      client,
      api,
      directory,
      pod,
      podIp: this.#podIp,
      sandboxId: this.#sandboxId,
      volumes,
      backoffMs,
    };
  }

  async #stopContainers(): Promise<void> {
    const { metadata, spec } = this.#pod;
    const grace = metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30;
    const seconds = this.#isNodeGone ? 0 : grace;
    await Promise.all(this.#runners.map((runner) => runner.stop(seconds)));
    await Promise.all(this.#initRunners.map((runner) => runner.stop(seconds)));
  }

  /** Reports the termination, then deletes the pod from the API. Retries until the API server has responded. */
  async #deletePod(): Promise<void> {
    const { uid } = this.#pod.metadata;
    for (; !this.#isNodeGone; await sleep(RETRY_MS)) {
      try {
        await this.#patchStatus();
        await this.#options.client.call("DELETE", podPath(this.#pod), {
          apiVersion: "v1",
          kind: "DeleteOptions",
          gracePeriodSeconds: 0,
          preconditions: { uid },
        });
        return;
      } catch (error) {
        if (error instanceof KubeError && [404, 409].includes(error.status)) return;
      }
    }
  }

  #pause(milliseconds: number): Promise<unknown> {
    return sleep(milliseconds, undefined, { signal: this.#end.signal }).catch(() => {});
  }

  #ended(): Promise<unknown> {
    return new Promise((done) => this.#end.signal.addEventListener("abort", done, { once: true }));
  }

  #waitAll(reason: string, message: string): void {
    const statuses = this.#pod.spec.containers.map(({ name, image }) => ({
      ...{ name, image, imageID: "", ready: false, started: false, restartCount: 0, lastState: {} },
      state: { waiting: { reason, message } },
    }));
    void this.#options.client
      .call("PATCH", `${podPath(this.#pod)}/status`, { status: { containerStatuses: statuses } }, STRATEGIC_PATCH)
      .catch(() => {});
  }

  /** Sends the status. Later changes are sent together afterwards; after an outage, only the newest status is sent. */
  #report(): void {
    this.#isChanged = true;
    if (this.#isReporting || this.#isNodeGone) return;
    this.#isReporting = true;
    void (async () => {
      while (this.#isChanged && !this.#isNodeGone) {
        this.#isChanged = false;
        try {
          await this.#patchStatus();
        } catch (error) {
          if (error instanceof KubeError && error.status === 404) break;
          this.#isChanged = true;
          await sleep(RETRY_MS);
        }
      }
      this.#isReporting = false;
    })();
  }

  async #patchStatus(): Promise<void> {
    const statuses = this.#runners.map(({ status }) => status);
    const isReady = this.#isInitialized && statuses.length > 0 && statuses.every(({ ready }) => ready);
    const status = {
      phase: this.#phase(),
      hostIP: "127.0.0.1",
      ...(this.#podIp !== "" && { podIP: this.#podIp, podIPs: [{ ip: this.#podIp }] }),
      startTime: this.#pod.status?.startTime ?? this.#startTime,
      conditions: [
        this.#condition("Initialized", this.#isInitialized),
        this.#condition("PodReadyToStartContainers", this.#podIp !== ""),
        this.#condition("ContainersReady", isReady),
        this.#condition("Ready", isReady),
      ],
      ...(statuses.length > 0 && { containerStatuses: statuses }),
      ...(this.#initRunners.length > 0 && { initContainerStatuses: this.#initRunners.map(({ status: s }) => s) }),
    };
    const { uid } = this.#pod.metadata;
    const patch = { metadata: { uid }, status };
    await this.#options.client.call("PATCH", `${podPath(this.#pod)}/status`, patch, STRATEGIC_PATCH);
  }

  #phase(): string {
    const ends = this.#runners.map(({ status }) => status.state.terminated);
    const isRestarted = (this.#pod.spec.restartPolicy ?? "Always") === "Always" && !this.#end.signal.aborted;
    if (ends.length > 0 && ends.every((end) => end) && !isRestarted)
      return ends.every((end) => end!.exitCode === 0) ? "Succeeded" : "Failed";
    const failedInit = this.#initRunners.some(({ status }) => (status.state.terminated?.exitCode ?? 0) !== 0);
    if (failedInit && this.#pod.spec.restartPolicy === "Never") return "Failed";
    const isStarted = this.#runners.some(
      ({ status }) => status.state.running || status.state.terminated || status.lastState.terminated,
    );
    return isStarted ? "Running" : "Pending";
  }

  #condition(type: string, isTrue: boolean): object {
    const status = isTrue ? "True" : "False";
    const known = this.#transitions.get(type);
    const at = known?.status === status ? known.at : new Date().toISOString();
    this.#transitions.set(type, { status, at });
    return { type, status, lastTransitionTime: at };
  }
}
