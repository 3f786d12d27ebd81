/**
 * Runs deployments as containers of an engine on this machine. A container has its instance's id as a label and in its
 * name, so that a repeated start finds the first one, and the successor of a killed control plane finds all. Containers
 * are published on loopback, for the gateway; the engine never restarts them, because the supervisor does.
 *
 *     <directory>/images/<revision>.json    the image of an available revision
 */
import { join } from "node:path";

import type { Log } from "../../../base/log.ts";
import type { Outbound } from "../../../base/outbound/outbound.ts";
import { reservedReason } from "../../deployments/reserved-names.ts";
import type { Source } from "../../deployments/schema.ts";
import type { BuildLog } from "../../logs/log-writer.ts";
import type { ImageSource } from "../../registry/image-source.ts";
import type { BuildParams, Driver, InstanceParams, InstanceProcess, InstanceUsage, LimitName } from "../driver.ts";
import { buildImage, type BuildImageSettings } from "./build-image.ts";
import { prepareImage, type PrepareImageSettings, pullBaseImage } from "./prepare-image.ts";
import { ContainerLog } from "./container-log.ts";
import { containerSpec, onLoopback, replaceLoopback, type SpecSettings } from "./container-spec.ts";
import { ContainerStates } from "./container-states.ts";
import { Engine, EngineUnreachableError, EngineError } from "./engine.ts";
import { ImageRecords } from "./image-records.ts";
import { ourName, untagImage } from "./images.ts";

export interface ContainerDriverOptions {
  /** Address of the engine's API. */
  engine: string;
  directory: string;
  place: string;
  log: Log;
  /** Images of the source internal_docker. */
  images: ImageSource;
  outbound: Outbound;
  settings: SpecSettings &
    BuildImageSettings &
    PrepareImageSettings & { driver: "process" | "container" | "kubernetes"; containerHostAddress: string | undefined };
}

const MARK = "container:";
/** Time to wait for the remaining output of an ended container. */
const LOG_DRAIN_MS = 2000;
const KILL_MS = 10_000;

export class ContainerDriver implements Driver {
  readonly kind = "container";
  readonly sources: readonly Source[];
  readonly #options: ContainerDriverOptions;
  readonly #engine: Engine;
  readonly #records: ImageRecords;
  readonly #states: ContainerStates;
  readonly #logs = new Map<string, ContainerLog>();
  /** CPU time of a container in ns, and the time of the reading. */
  readonly #measured = new Map<string, { nanoseconds: number; at: number }>();
  #cpus: number | undefined;

  constructor(options: ContainerDriverOptions) {
    this.#options = options;
    const isForAll = options.settings.driver === "container";
    this.sources = [
      "external_docker",
      "internal_docker",
      ...(isForAll ? (["internal_source", "github"] as const) : []),
    ];
    this.#engine = new Engine(options.engine);
    this.#records = new ImageRecords(join(options.directory, "images"));
    this.#states = new ContainerStates(this.#engine, options.place, options.log);
  }

  /** Lists containers; logs and retries while the engine is unreachable. */
  open(): Promise<void> {
    return this.#states.start();
  }

  close(): void {
    void this.#states.close();
    for (const log of this.#logs.values()) log.close();
    this.#engine.close();
  }

  async build(params: BuildParams, log: BuildLog, signal: AbortSignal): Promise<void> {
    const { settings, images, outbound, directory } = this.#options;
    const isImage = params.source === "external_docker" || params.source === "internal_docker";
    const common = { engine: this.#engine, params, log, signal };
    const name = `${ourName(params.deploymentId)}:${params.revisionId}`;
    const prepared = isImage
      ? await prepareImage({ ...common, settings, images, outbound })
      : await buildImage({
          ...common,
          settings,
          directory,
          name,
          pullBase: (uri) => pullBaseImage({ ...common, settings, outbound }, uri),
        });
    // an image pulled by another revision is removed with the last revision that uses it
    const owner = (await this.#records.all()).find((record) => record.id === prepared.id && record.pulled !== null);
    await this.#records.write(params.revisionId, {
      deploymentId: params.deploymentId,
      ...prepared,
      name,
      pulled: prepared.pulled ?? owner?.pulled ?? null,
    });
  }

  hasBuild(artifactId: string): boolean {
    return this.#records.has(artifactId);
  }

  async deleteBuild(artifactId: string): Promise<void> {
    const record = await this.#records.read(artifactId);
    if (!record) return;
    await untagImage(this.#engine, record.name);
    const others = (await this.#records.all()).filter((other) => other.id === record.id);
    if (record.pulled !== null && others.length === 1) await untagImage(this.#engine, record.pulled);
    await this.#records.delete(artifactId);
  }

  listBuilds(): Promise<string[]> {
    return this.#records.list();
  }

  unseenSince(): number | null {
    return this.#states.awaySince ?? null;
  }

  async imageDigests(deploymentId: string): Promise<string[]> {
    const records = (await this.#records.all()).filter((record) => record.deploymentId === deploymentId);
    return records.flatMap((record) => record.digest ?? []);
  }

  async start(params: InstanceParams): Promise<InstanceProcess> {
    const record = await this.#records.read(params.artifactId);
    if (!record) throw new Error("its image no longer exists");
    const { place, settings } = this.#options;
    this.#cpus ??= (await this.#engine.call<{ NCPU: number }>("GET", "/info")).NCPU;
    const environment = await this.#environment(params);
    const spec = containerSpec(
      { ...params, environment },
      { image: record.name, place, cpusOfMachine: this.#cpus, settings },
    );
    const id = await this.#create(params.id, spec);
    try {
      await this.#engine.call("POST", `/containers/${id}/start`);
    } catch (error) {
      await this.#remove(id).catch(() => {});
      throw error;
    }
    this.#states.started(id, params.id);
    return { pid: 0, started: MARK + id };
  }

  async #environment(params: InstanceParams): Promise<Record<string, string>> {
    const { containerNetwork: network, containerHostAddress: address } = this.#options.settings;
    const environment = { ...params.environment };
    if (network !== "host") {
      // requests through the published port come from the network's gateway address, and carry the client's address
      const proxies = [environment["HEDDLE_TRUSTED_PROXIES"] ?? "", ...(await this.#gateways(network))];
      environment["HEDDLE_TRUSTED_PROXIES"] = proxies.filter((proxy) => proxy !== "").join(",");
    }
    // registry credentials are for the engine only; the owner names them, and must not take the platform's variables away
    for (const { name } of params.config.resource_spec?.image_pull_secrets ?? []) {
      if (reservedReason(name, "self_hosted") === null) delete environment[name];
    }
    if (network === "host") return environment;
    if (address !== undefined) return replaceLoopback(environment, address);
    const unreachable = onLoopback(environment);
    if (unreachable.length === 0) return environment;
    throw new Error(
      `containers in the network ${network} cannot reach loopback addresses of this machine: ` +
        `${unreachable.join(", ")}. Set HEDDLE_CONTAINER_HOST_ADDRESS to an address that these listen on, or ` +
        "HEDDLE_CONTAINER_NETWORK=host.",
    );
  }

  async #gateways(network: string): Promise<string[]> {
    const { IPAM: addresses } = await this.#engine.call<Network>("GET", `/networks/${encodeURIComponent(network)}`);
    return (addresses?.Config ?? []).flatMap((config) => config.Gateway ?? []);
  }

  /** Creates a container, or finds the one of an earlier attempt. */
  async #create(instanceId: string, spec: object): Promise<string> {
    try {
      const query = { name: `heddle-${instanceId}` };
      return (await this.#engine.call<{ Id: string }>("POST", "/containers/create", { query, body: spec })).Id;
    } catch (error) {
      await this.#states.refresh();
      const known = this.#states.ofInstance(instanceId);
      if (known !== undefined && error instanceof EngineError) return known;
      throw error;
    }
  }

  async recover(instanceId: string): Promise<InstanceProcess | null> {
    await this.#states.refresh();
    if (this.#states.awaySince !== undefined) throw new EngineUnreachableError("The container engine does not answer.");
    const id = this.#states.ofInstance(instanceId);
    return id === undefined ? null : { pid: 0, started: MARK + id };
  }

  enforcedLimits(): readonly LimitName[] {
    return ["memory_limit_mb", "cpu_limit"];
  }

  isAlive(process: InstanceProcess): boolean {
    return isContainer(process) && this.#states.runs(containerId(process));
  }

  async stop(process: InstanceProcess, graceMs: number, mayKill?: () => Promise<boolean>): Promise<void> {
    const id = containerId(process);
    if (!this.#states.runs(id)) return;
    if (graceMs > 0) {
      await this.#signal(id, "SIGTERM");
      if (await this.#states.untilEnded(id, graceMs)) return;
      if (mayKill && !(await mayKill())) return;
    }
    await this.#signal(id, "SIGKILL");
    if (!(await this.#states.untilEnded(id, KILL_MS))) throw new Error(`the container ${id.slice(0, 12)} did not stop`);
  }

  /** Sends a signal. Ignored when the container has ended; engines then respond differently. */
  async #signal(id: string, signal: string): Promise<void> {
    await this.#engine.call("POST", `/containers/${id}/kill`, { query: { signal } }).catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
  }

  async usage(process: InstanceProcess): Promise<InstanceUsage | null> {
    const id = containerId(process);
    if (!this.#states.runs(id)) return null;
    const query = { stream: "false", "one-shot": "true" };
    const stats = await this.#engine.call<Stats>("GET", `/containers/${id}/stats`, { query }).catch(() => null);
    if (!stats) return null;
    const at = performance.now();
    const nanoseconds = stats.cpu_stats?.cpu_usage?.total_usage ?? 0;
    const before = this.#measured.get(id);
    this.#measured.set(id, { nanoseconds, at });
    const { usage = 0, stats: parts } = stats.memory_stats ?? {};
    const elapsed = before ? (at - before.at) * 1e6 : 0;
    const percent = before && elapsed > 0 ? ((nanoseconds - before.nanoseconds) / elapsed) * 100 : null;
    return {
      // reclaimable page cache is not needed memory
      memory_bytes: Math.max(0, usage - (parts?.inactive_file ?? parts?.total_inactive_file ?? 0)),
      cpu_percent: percent === null ? null : Math.max(0, Math.round(percent * 10) / 10),
    };
  }

  /** Whether an instance of this id is a container. */
  knows(instanceId: string): boolean {
    return this.#states.ofInstance(instanceId) !== undefined;
  }

  async readLog(instanceId: string, offset: number): Promise<{ text: string; next: number }> {
    const id = this.#states.ofInstance(instanceId);
    let log = this.#logs.get(instanceId);
    if (!log) {
      if (id === undefined || this.#states.awaySince !== undefined) return { text: "", next: offset };
      log = new ContainerLog(this.#engine, id, offset);
      this.#logs.set(instanceId, log);
    }
    const runs = id !== undefined && this.#states.runs(id);
    if (!runs) await log.end(LOG_DRAIN_MS);
    const chunk = log.take(offset);
    // the engine closed the stream; the next read resumes at the offset
    if (log.isOver && runs && chunk.next === offset) this.#logs.delete(instanceId);
    return chunk;
  }

  async discard(instanceId: string): Promise<void> {
    this.#logs.get(instanceId)?.close();
    this.#logs.delete(instanceId);
    const id = this.#states.ofInstance(instanceId);
    if (id === undefined) return;
    await this.#remove(id).catch((error: unknown) => {
      // retried once the engine is back
      if (!(error instanceof EngineUnreachableError)) throw error;
      this.#options.log.warn({ err: error, instance: instanceId }, "could not remove a container yet");
    });
  }

  async #remove(id: string): Promise<void> {
    await this.#engine
      .call("DELETE", `/containers/${id}`, { query: { force: "1", v: "1" } })
      .catch((error: unknown) => {
        if (!(error instanceof EngineError) || error.status !== 404) throw error;
      });
    this.#states.gone(id);
    this.#measured.delete(id);
  }

  async listInstances(): Promise<string[]> {
    await this.#states.refresh();
    return this.#states.instances();
  }
}

interface Network {
  IPAM?: { Config?: { Gateway?: string }[] | null };
}

interface Stats {
  cpu_stats?: { cpu_usage?: { total_usage?: number } };
  memory_stats?: { usage?: number; stats?: { inactive_file?: number; total_inactive_file?: number } };
}

export const isContainer = (process: InstanceProcess): boolean => process.started.startsWith(MARK);
const containerId = (process: InstanceProcess): string => process.started.slice(MARK.length);
