/**
 * Runs one container of a pod: pulls its image, starts it, probes it, restarts it by the pod's policy with back-off, and
 * stops it within its grace period. `status` is what the kubelet reports about it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Engine } from "../../server/src/control/drivers/container/engine.ts";
import { containerSpec, findImage, type PodContext } from "./container-spec.ts";
import type { Container, ContainerStatus, Probe } from "./pod.ts";
import { type ProbeTarget, runProbe, tryHttp } from "./probes.ts";

const MAX_BACKOFF_MS = 60_000;
/** Running time after which a container is restarted without back-off. */
const HEALTHY_MS = 60_000;
const RETRY_MS = 2000;
const EXIT_POLL_MS = 100;

export class ContainerRunner {
  readonly container: Container;
  readonly status: ContainerStatus;
  readonly #context: PodContext;
  readonly #onChange: () => void;
  readonly #restart: "Always" | "OnFailure" | "Never";
  readonly #stop = new AbortController();
  #id: string | undefined;
  #exited: Promise<unknown> | undefined;

  constructor(
    context: PodContext,
    container: Container,
    restart: "Always" | "OnFailure" | "Never",
    onChange: () => void,
  ) {
    this.#context = context;
    this.container = container;
    this.#restart = restart;
    this.#onChange = onChange;
    this.status = {
      name: container.name,
      image: container.image,
      imageID: "",
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: "ContainerCreating" } },
      lastState: {},
    };
  }

  /** Returns the log file of the current or previous instance. */
  logFile(previous: boolean): string {
    const number = this.status.restartCount - (previous ? 1 : 0);
    return join(this.#context.directory, "logs", this.container.name, `${number}.log`);
  }

  get isRunning(): boolean {
    return this.status.state.running !== undefined;
  }

  /** Runs until the container has ended and is not restarted: by its policy, or after `stop`. Never throws. */
  async run(): Promise<void> {
    let delay = 0;
    while (!this.#stop.signal.aborted) {
      if (!(await this.#start())) {
        await this.#pause(RETRY_MS);
        continue;
      }
      const startedAt = Date.now();
      const exitCode = await this.#untilExit();
      const isOver = this.#restart === "Never" || (this.#restart === "OnFailure" && exitCode === 0);
      if (isOver || this.#stop.signal.aborted) return;
      if (Date.now() - startedAt > HEALTHY_MS) delay = 0;
      this.status.lastState = this.status.state;
      if (delay > 0) {
        this.#wait(
          "CrashLoopBackOff",
          `back-off ${delay / 1000}s restarting failed container=${this.container.name} pod=${this.#context.pod.metadata.name}_${this.#context.pod.metadata.namespace}(${this.#context.pod.metadata.uid})`,
        );
        await this.#pause(delay);
        // the last termination stays visible, as with a real kubelet
        if (this.#stop.signal.aborted) this.status.state = this.status.lastState;
      }
      delay = delay === 0 ? this.#context.backoffMs : Math.min(2 * delay, MAX_BACKOFF_MS);
      if (!this.#stop.signal.aborted) this.status.restartCount++;
    }
  }

  /** Stops the container: hook, SIGTERM, and SIGKILL after the grace period. Resolves when it has ended. */
  async stop(graceSeconds: number): Promise<void> {
    const killAt = Date.now() + graceSeconds * 1000;
    const runHook = this.isRunning && !this.#stop.signal.aborted;
    this.#stop.abort();
    if (this.#id === undefined || !this.isRunning) return;
    if (runHook) await Promise.race([this.#preStop(), sleep(graceSeconds * 1000)]);
    await this.#kill(graceSeconds > 0 ? "SIGTERM" : "SIGKILL");
    await Promise.race([this.#exited, sleep(Math.max(0, killAt - Date.now()))]);
    if (this.isRunning) await this.#kill("SIGKILL");
    await this.#exited;
  }

  #pause(milliseconds: number): Promise<unknown> {
    return sleep(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => {});
  }

  #wait(reason: string, message?: string): void {
    this.status.ready = false;
    this.status.state = { waiting: { reason, ...(message !== undefined && { message }) } };
    this.#onChange();
  }

  async #start(): Promise<boolean> {
    const { engine } = this.#context;
    let reason = "ErrImagePull";
    try {
      const image = await findImage(this.#context, this.container);
      this.status.imageID = image.Id;
      reason = "CreateContainerConfigError";
      const spec = await containerSpec(this.#context, this.container, image, this.logFile(false));
      reason = "CreateContainerError";
      const name = `${this.#context.sandboxId.slice(0, 12)}-${this.container.name}-${this.status.restartCount}`;
      if (this.#id !== undefined) await removeContainer(engine, this.#id);
      const path = `/containers/create?name=${name}`;
      this.#id = (await engine.call<{ Id: string }>("POST", path, { body: spec })).Id;
      this.status.containerID = `podman://${this.#id}`;
      if (this.#stop.signal.aborted) return false;
      reason = "RunContainerError";
      await engine.call("POST", `/containers/${this.#id}/start`);
    } catch (error) {
      const isPull = reason === "ErrImagePull" && this.status.state.waiting?.reason === reason;
      this.#wait(isPull ? "ImagePullBackOff" : reason, (error as Error).message);
      return false;
    }
    this.status.state = { running: { startedAt: new Date().toISOString() } };
    this.status.started = this.container.startupProbe === undefined;
    this.status.ready = this.container.readinessProbe === undefined && this.status.started;
    this.#onChange();
    return true;
  }

  /** Probes until the container exits. Records its termination, and returns its exit code. */
  async #untilExit(): Promise<number> {
    const probes = new AbortController();
    this.#probe(probes.signal);
    this.#exited = this.#waitForProcess();
    const startedAt = this.status.state.running!.startedAt;
    await this.#exited;
    probes.abort();
    const state = await this.#inspectEnd();
    const reason = state.OOMKilled ? "OOMKilled" : state.ExitCode === 0 ? "Completed" : "Error";
    const finishedAt = new Date().toISOString();
    const containerID = this.status.containerID!;
    this.status.state = { terminated: { exitCode: state.ExitCode, reason, startedAt, finishedAt, containerID } };
    this.status.ready = false;
    this.status.started = false;
    this.#onChange();
    return state.ExitCode;
  }

  /** Resolves when the container's process has ended. Podman's own call for this polls without a pause. */
  async #waitForProcess(): Promise<void> {
    const { engine } = this.#context;
    const state = await engine
      .call<{ State: EngineState }>("GET", `/containers/${this.#id}/json`)
      .then(({ State }) => State)
      .catch(() => undefined);
    if (!state?.Running) return;
    while (existsSync(`/proc/${state.Pid}`)) await sleep(EXIT_POLL_MS);
  }

  /** Returns the state of the ended container. One that no longer exists, as on a lost node, counts as killed. */
  async #inspectEnd(): Promise<EngineState> {
    const { engine } = this.#context;
    try {
      for (let left = 100; ; left--) {
        const { State } = await engine.call<{ State: EngineState }>("GET", `/containers/${this.#id}/json`);
        if (!State.Running || left === 0) return State;
        await sleep(EXIT_POLL_MS);
      }
    } catch {
      return { Running: false, Pid: 0, ExitCode: 137 };
    }
  }

  #probe(signal: AbortSignal): void {
    const { startupProbe, readinessProbe, livenessProbe } = this.container;
    const target: ProbeTarget = {
      address: this.#context.podIp,
      container: this.container,
      execute: (command) => this.#execute(command),
    };
    const kill = () => {
      const { terminationGracePeriodSeconds: grace = 30 } = this.#context.pod.spec;
      void this.#kill("SIGTERM");
      void sleep(grace * 1000, undefined, { signal }).then(
        () => this.#kill("SIGKILL"),
        () => {},
      );
    };
    const follow = (probe: Probe, initial: boolean, onChange: (isGood: boolean) => void) =>
      void runProbe(probe, initial, target, onChange, signal);
    const begin = () => {
      this.status.started = true;
      if (readinessProbe) follow(readinessProbe, false, (isGood) => ((this.status.ready = isGood), this.#onChange()));
      else this.status.ready = true;
      if (livenessProbe) follow(livenessProbe, true, (isGood) => isGood || kill());
      this.#onChange();
    };
    if (!startupProbe) return begin();
    const startup = new AbortController();
    const both = AbortSignal.any([signal, startup.signal]);
    // reports the first success only
    void runProbe(startupProbe, false, target, () => (startup.abort(), begin()), both);
    const { initialDelaySeconds = 0, periodSeconds = 10, failureThreshold = 3 } = startupProbe;
    const limit = (initialDelaySeconds + periodSeconds * failureThreshold) * 1000;
    void sleep(limit, undefined, { signal: both }).then(kill, () => {});
  }

  async #preStop(): Promise<void> {
    const hook = this.container.lifecycle?.preStop;
    try {
      if (hook?.sleep) await sleep(hook.sleep.seconds * 1000);
      if (hook?.exec) await this.#execute(hook.exec.command);
      if (hook?.httpGet)
        await tryHttp(hook.httpGet, { address: this.#context.podIp, container: this.container }, 30_000);
    } catch {
      // a failed hook does not prevent the stop
    }
  }

  async #execute(command: string[]): Promise<number> {
    const { engine } = this.#context;
    const created = await engine.call<{ Id: string }>("POST", `/containers/${this.#id}/exec`, {
      body: { Cmd: command, AttachStdout: true, AttachStderr: true },
    });
    const response = await engine.open("POST", `/exec/${created.Id}/start`, { body: { Detach: false } });
    response.resume();
    await new Promise((done) => response.once("close", done));
    return (await engine.call<{ ExitCode: number }>("GET", `/exec/${created.Id}/json`)).ExitCode;
  }

  async #kill(signal: string): Promise<void> {
    // the container may have ended meanwhile
    await this.#context.engine.call("POST", `/containers/${this.#id}/kill`, { query: { signal } }).catch(() => {});
  }
}

interface EngineState {
  Running: boolean;
  Pid: number;
  ExitCode: number;
  OOMKilled?: boolean;
}

/** Removes a container with everything in it; it may be gone already. */
export async function removeContainer(engine: Engine, id: string): Promise<void> {
  await engine.call("DELETE", `/containers/${id}`, { query: { force: "true", v: "true" } }).catch(() => {});
}
