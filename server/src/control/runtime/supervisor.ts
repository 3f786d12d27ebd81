/**
 * Reconciles the live instances with the desired ones. At each announced change, and at an interval, it compares the
 * desired revisions (serving or being deployed) with the instances that run. The cause of a difference does not matter:
 * a crash of an instance, of this process, or of the machine.
 *
 *     starting ──healthy──▶ ready ──no longer desired──▶ draining ──▶ ended
 *         └───────────────────┴─── it ended by itself ──────────────────▲
 *
 * Only the leader supervises. It adopts what an earlier leader has left running, and leaves it to the next.
 */

import type { Sql } from "../../base/db/connect.ts";
import { uuid7 } from "../../base/ids.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { Log } from "../../base/log.ts";
import type { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import { type ControlChanges, SAFETY_NET_MS } from "../changes/control-changes.ts";
import { readEnvironment } from "../deployments/environment-secret.ts";
import type { Driver, InstanceProcess, InstanceUsage } from "../drivers/driver.ts";
import type { RouteFollower } from "../gateway/route-follower.ts";
import type { RouteTable } from "../gateway/route-table.ts";
import type { Lead } from "../leadership/leadership.ts";
import { cleanLine } from "../logs/log-writer.ts";
import { insertLogs } from "../logs/sql.ts";
import type { ControlSettings } from "../settings.ts";
import type { DeploymentDatabases } from "./deployment-database.ts";
import { connectionNeed } from "./connection-need.ts";
import { hostCount } from "./instance-environment.ts";
import { revisionEnvironment } from "./revision-environment.ts";
import type { Traces } from "./traces.ts";
import { InstanceWatch } from "./instance-watch.ts";
import * as rows from "./sql.ts";
import { replicaTarget } from "./wanted-replicas.ts";
import { freePort } from "../../base/free-port.ts";

/** Interval of the checks of processes, which announce neither their readiness nor their end. */
const CHECK_MS = 100;
const RETRY_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Grace period of a drained instance on which no requests depend, in milliseconds. */
const FAST_DRAIN_MS = 5_000;

export interface SupervisorOptions {
  sql: Sql;
  log: Log;
  settings: ControlSettings;
  secrets: Secrets;
  driver: Driver;
  table: RouteTable;
  follower: RouteFollower;
  changes: ControlChanges;
  lead: Lead;
  databases: DeploymentDatabases;
  place: string;
  /** URL of this control plane, for its deployments. */
  internalUrl: string;
  /** Destination of deployments' traces; resolved when the trace platform has started. */
  traces: Promise<Traces | null>;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #watched = new Map<string, InstanceWatch>();
  readonly #draining = new Map<string, Promise<void>>();
  readonly #checks: Poller;
  readonly #poller: Poller;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { log, changes } = options;
    this.#poller = new Poller({
      pass: () => this.#reconcile(),
      everyMs: SAFETY_NET_MS,
      retryMs: RETRY_MS,
      log,
      failing: "could not reconcile instances; will retry",
    });
    this.#checks = new Poller({
      pass: () => this.#checkAll(),
      everyMs: CHECK_MS,
      log,
      failing: "could not check instances; will retry",
    });
    changes.follow(["instances", "deployments", "revisions"], () => this.wake());
  }

  /** Identifies the machine and data directory of these instances. */
  get place(): string {
    return this.#options.place;
  }

  /** Adopts instances that an earlier control plane has left running. */
  async start(): Promise<void> {
    const { sql, place } = this.#options;
    const live = await rows.liveInstances(sql, place);
    for (const row of live) await this.#adopt(row);
    await this.#replaceForeign();
    for (const id of new Set(live.map((row) => row.deployment_id))) await this.#limitConnections(id);
    await this.#options.table.refresh();
    this.#checks.start();
    this.#poller.start();
  }

  async #adopt(row: rows.InstanceRow): Promise<void> {
    const { sql, driver, log } = this.#options;
    let known: InstanceProcess | null =
      row.pid !== null && row.started !== null ? { pid: row.pid, started: row.started } : null;
    if (!known) {
      known = await driver.recover(row.id);
      if (known) await rows.setProcess(sql, row.id, known);
    }
    if (known && driver.isAlive(known)) {
      log.info({ instance: row.id, pid: known.pid }, "adopted a running instance");
      this.#watch(row, known);
      return;
    }
    // stops what its leader has left behind, and reads its last log lines
    if (known) await driver.stop(known, 0);
    const watch = this.#watch(row, known ?? { pid: 0, started: "" });
    await watch.end("It was no longer running when the control plane started.", false);
    this.#watched.delete(row.id);
  }

  /**
   * Ends the instances of an earlier leader on another machine, so that this one starts them here. Those whose builds
   * are not here keep running there, unsupervised.
   */
  async #replaceForeign(): Promise<void> {
    const { sql, place, driver, log } = this.#options;
    for (const { id, artifact_id: artifactId, place: where } of await rows.foreignInstances(sql, place)) {
      if (!driver.hasBuild(artifactId)) {
        log.warn({ instance: id, place: where }, "an instance of another machine has no build on this one");
        continue;
      }
      await rows.endInstance(sql, id, "Another machine leads and runs it now.", false);
    }
  }

  #watch(row: rows.InstanceRow, process: InstanceProcess): InstanceWatch {
    const watch = new InstanceWatch({
      ...this.#options,
      row,
      process,
      onChange: () => this.#options.changes.announce("instances"),
    });
    this.#watched.set(row.id, watch);
    return watch;
  }

  /** Returns the live instances of a revision, for its deployment. */
  instancesOf(revisionId: string): InstanceWatch[] {
    return [...this.#watched.values()].filter(
      (instance) => instance.row.revision_id === revisionId && !instance.isOver,
    );
  }

  async usage(instanceId: string): Promise<InstanceUsage | null> {
    const watch = this.#watched.get(instanceId);
    return watch ? this.#options.driver.usage(watch.process) : null;
  }

  /** Failure state of the passes. */
  get failure(): RepeatedFailure {
    return this.#poller.failure;
  }

  /** Triggers a pass, if this process leads. */
  wake(): void {
    if (this.#poller.isStarted) this.#poller.wake();
  }

  /** Stops all instances, which hand back their runs. */
  async stop(): Promise<void> {
    await this.#stopPasses();
    for (const watch of this.#watched.values())
      this.#drain(watch, 0, STOP_GRACE_MS, "Stopped: the control plane shut down.");
    await Promise.all(this.#draining.values());
  }

  /** Leaves all instances to the next leader. */
  async release(): Promise<void> {
    await this.#stopPasses();
    // drains in progress end by themselves, without another signal
    for (const watch of this.#watched.values()) watch.abandon();
    this.#watched.clear();
  }

  async #stopPasses(): Promise<void> {
    await this.#checks.stop();
    await this.#poller.stop();
  }

  #checkAll(): Promise<void> {
    for (const watch of this.#watched.values()) watch.check();
    return Promise.resolve();
  }

  /** @returns milliseconds until the next pass: until a crashed instance may start again, or the usual time */
  async #reconcile(): Promise<number> {
    const { sql, place, table, lead } = this.#options;
    let nextMs = SAFETY_NET_MS;
    if (!(await lead.confirm())) return nextMs;
    for (const [id, watch] of this.#watched) if (watch.isOver && !this.#draining.has(id)) this.#watched.delete(id);
    for (const desired of await rows.desiredRevisions(sql)) {
      if (!this.#poller.isStarted) return nextMs;
      const living = this.instancesOf(desired.revision_id).filter((instance) => instance.row.state !== "draining");
      const replicas = replicaTarget(desired);
      for (let replica = 0; replica < replicas; replica++) {
        const isThere = living.some((instance) => instance.row.replica === replica);
        if (isThere) continue;
        const pauseMs = this.#pauseLeft(desired);
        if (pauseMs <= 0) await this.#start(desired, replica);
        else nextMs = Math.min(nextMs, pauseMs);
      }
      for (const instance of living) {
        if (instance.row.replica >= replicas) this.#drainGracefully(instance, "Stopped: fewer replicas are needed.");
      }
    }
    await table.refresh();
    for (const { id, is_fast, reason } of await rows.unwantedInstances(sql, place)) {
      const watch = this.#watched.get(id);
      if (watch && is_fast) this.#drain(watch, 0, FAST_DRAIN_MS, reason);
      else if (watch) this.#drainGracefully(watch, reason);
    }
    for (const watch of this.#watched.values()) {
      // an earlier control plane had begun to drain it
      if (watch.row.state === "draining") this.#drainGracefully(watch, "Stopped by an earlier control plane.");
    }
    return nextMs;
  }

  /**
   * Lets the deployment's other revisions start no further run: they share the queue until they have drained. A caller
   * who was told of the new revision is answered by it.
   */
  async retireOthers(deploymentId: string, revisionId: string): Promise<void> {
    const others = [...this.#watched.values()].filter(
      ({ row, isOver }) => !isOver && row.deployment_id === deploymentId && row.revision_id !== revisionId,
    );
    await Promise.all(others.map((watch) => watch.retire()));
  }

  #drainGracefully(watch: InstanceWatch, reason: string): void {
    const ms = this.#options.settings.drainSeconds * 1000;
    this.#drain(watch, ms, ms, reason);
  }

  /** Returns the milliseconds for which a revision that has crashed is not started again. */
  #pauseLeft({ crashes, crashed_ago: ago }: rows.DesiredRevisionRow): number {
    if (crashes === 0 || ago === null) return 0;
    const pause = Math.min(LONGEST_PAUSE_MS, this.#options.settings.restartMs * 2 ** Math.min(crashes - 1, 16));
    return pause - ago;
  }

  async #start(desired: rows.DesiredRevisionRow, replica: number): Promise<void> {
    const { sql, driver, place, log } = this.#options;
    // the worker builds it again (revisions/rebuild.ts)
    if (!driver.hasBuild(desired.artifact_id)) return;
    const { environment } = await revisionEnvironment(this.#options, desired);
    const instance = {
      id: uuid7(),
      deploymentId: desired.deployment_id,
      revisionId: desired.revision_id,
      replica,
      place,
      // if another process takes the port before it is used, the instance exits and is restarted
      port: await freePort(),
    };
    const row = await rows.insertInstance(sql, this.#options.lead.term, instance);
    if (!row) return;
    try {
      await this.#limitConnections(desired.deployment_id);
      const process = await driver.start({
        ...instance,
        artifactId: desired.artifact_id,
        configPath: desired.langgraph_config_path ?? "",
        config: desired.source_config,
        environment: { ...environment, HEDDLE_INSTANCE_ID: row.id },
      });
      const watch = this.#watch(row, process);
      if (await rows.setProcess(sql, row.id, process)) return;
      // the next leader has found nothing of this start, and begun another
      watch.abandon();
      await driver.stop(process, 0);
    } catch (error) {
      if (this.#watched.has(row.id)) throw error;
      log.error({ err: error, instance: row.id }, "could not start an instance");
      const message = `It could not be started: ${(error as Error).message}`;
      const of = { deploymentId: desired.deployment_id, revisionId: desired.revision_id, kind: "deploy" } as const;
      await insertLogs(sql, of, [{ at: new Date(), level: "ERROR", message: cleanLine(message) }]);
      await rows.endInstance(sql, row.id, message, true);
    }
  }

  /** Limits the connections of a deployment's role to those that its live agent servers need, over all revisions. */
  async #limitConnections(deploymentId: string): Promise<void> {
    const { sql, secrets, databases, settings } = this.#options;
    let needed = 0;
    for (const { revision_id: id, source_config: config, instances } of await rows.liveRevisions(sql, deploymentId)) {
      const hosts = hostCount(config, await readEnvironment(secrets, { purpose: "revision-env", id }));
      needed += instances * connectionNeed(hosts, settings.deploymentConnections);
    }
    await databases.limitConnections(deploymentId, needed);
  }

  /**
   * Drains an instance: current requests get `requestsMs`, then the server is stopped and gets `graceMs` for its runs.
   * @param reason why, as the instance's end states it
   */
  #drain(watch: InstanceWatch, requestsMs: number, graceMs: number, reason: string): void {
    const { id, deployment_id: deploymentId } = watch.row;
    if (this.#draining.has(id)) return;
    const draining = watch
      .drain(requestsMs, graceMs, reason)
      .catch((error: unknown) => this.#options.log.error({ err: error, instance: id }, "an instance did not stop"))
      .finally(() => this.#draining.delete(id))
      .then(() => (!this.#poller.isStarted ? undefined : this.#limitConnections(deploymentId)))
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error, deploymentId }, "could not limit the connections of a deployment"),
      );
    this.#draining.set(id, draining);
  }
}

/** Grace period when the platform stops: longer runs are handed back and continue at the next start. */
const STOP_GRACE_MS = 8_000;
