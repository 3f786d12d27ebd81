import type { Source } from "../deployments/schema.ts";
import type { BuildLog } from "../logs/log-writer.ts";
import { type ContainerDriver, isContainer } from "./container/container-driver.ts";
import type { BuildParams, Driver, InstanceParams, InstanceProcess, InstanceUsage, LimitName } from "./driver.ts";

/**
 * Combines processes and containers: images run in containers, source code where the setting specifies. Builds and
 * instances from before a change of the setting stay with their driver.
 */
export class CompositeDriver implements Driver {
  readonly kind;
  readonly sources: readonly Source[];
  readonly #processes: Driver;
  readonly #containers: ContainerDriver;

  constructor(processes: Driver, containers: ContainerDriver, kind: "process" | "container") {
    this.kind = kind;
    this.#processes = processes;
    this.#containers = containers;
    this.sources = [...new Set([...processes.sources, ...containers.sources])];
  }

  get isolation(): Driver["isolation"] {
    return this.#processes.isolation;
  }

  async forget(deploymentId: string): Promise<void> {
    await this.#processes.forget?.(deploymentId);
  }

  async listDeployments(): Promise<string[]> {
    return (await this.#processes.listDeployments?.()) ?? [];
  }

  close(): void {
    this.#processes.close?.();
    this.#containers.close();
  }

  #of(process: InstanceProcess): Driver {
    return isContainer(process) ? this.#containers : this.#processes;
  }

  #ofInstance(id: string): Driver {
    return this.#containers.knows(id) ? this.#containers : this.#processes;
  }

  build(params: BuildParams, log: BuildLog, signal: AbortSignal): Promise<void> {
    const isForContainers = this.#containers.sources.includes(params.source);
    return (isForContainers ? this.#containers : this.#processes).build(params, log, signal);
  }

  hasBuild(artifactId: string): boolean {
    return this.#containers.hasBuild(artifactId) || this.#processes.hasBuild(artifactId);
  }

  async deleteBuild(artifactId: string): Promise<void> {
    await this.#processes.deleteBuild(artifactId);
    await this.#containers.deleteBuild(artifactId);
  }

  async listBuilds(): Promise<string[]> {
    return [...new Set([...(await this.#processes.listBuilds()), ...(await this.#containers.listBuilds())])];
  }

  unseenSince(artifactId: string): number | null {
    return this.#containers.hasBuild(artifactId) ? this.#containers.unseenSince() : null;
  }

  awaySince(): number | null {
    const since = this.#containers.unseenSince();
    return since === null ? null : performance.timeOrigin + since;
  }

  imageDigests(deploymentId: string): Promise<string[]> {
    return this.#containers.imageDigests(deploymentId);
  }

  start(params: InstanceParams): Promise<InstanceProcess> {
    return (this.#containers.hasBuild(params.artifactId) ? this.#containers : this.#processes).start(params);
  }

  async recover(instanceId: string): Promise<InstanceProcess | null> {
    return (await this.#processes.recover(instanceId)) ?? this.#containers.recover(instanceId);
  }

  enforcedLimits(artifactId: string): readonly LimitName[] {
    return this.#containers.hasBuild(artifactId)
      ? this.#containers.enforcedLimits()
      : this.#processes.enforcedLimits(artifactId);
  }

  isAlive(process: InstanceProcess): boolean {
    return this.#of(process).isAlive(process);
  }

  stop(process: InstanceProcess, graceMs: number, mayKill?: () => Promise<boolean>): Promise<void> {
    return this.#of(process).stop(process, graceMs, mayKill);
  }

  usage(process: InstanceProcess): Promise<InstanceUsage | null> {
    return this.#of(process).usage(process);
  }

  readLog(instanceId: string, offset: number): Promise<{ text: string; next: number }> {
    return this.#ofInstance(instanceId).readLog(instanceId, offset);
  }

  discard(instanceId: string): Promise<void> {
    return this.#ofInstance(instanceId).discard(instanceId);
  }

  async listInstances(): Promise<string[]> {
    return [...(await this.#processes.listInstances()), ...(await this.#containers.listInstances())];
  }
}
