import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { Driver, InstanceProcess } from "../drivers/driver.ts";
import type { RouteFollower } from "../gateway/route-follower.ts";
import type { RouteTable } from "../gateway/route-table.ts";
import type { Lead } from "../leadership/leadership.ts";
import { insertLogs, type LogLine } from "../logs/sql.ts";
import type { DeploymentDatabases } from "./deployment-database.ts";
import { parseLogLine } from "./parse-log-line.ts";
import { probe } from "./probe.ts";
import * as rows from "./sql.ts";

const PROBE_MS = 5_000;
/** Interval for asking whether other gateways still use an instance. */
const USE_MS = 200;
/** Consecutive unanswered probes after which a live server is killed and restarted. */
const MAX_SILENT = 6;

export interface WatchOptions {
  sql: Sql;
  log: Log;
  driver: Driver;
  table: RouteTable;
  follower: RouteFollower;
  lead: Lead;
  databases: DeploymentDatabases;
  settings: { minHealthyMs: number };
  row: rows.InstanceRow;
  process: InstanceProcess;
  onChange(): void;
}

/** Watches one instance: its liveness, its health and its log. */
export class InstanceWatch {
  readonly row: rows.InstanceRow;
  readonly process: InstanceProcess;
  readonly #options: WatchOptions;
  /** Graphs that fail to load. */
  broken: string[] = [];
  isOver = false;
  #healthySince: number | undefined;
  #silent = 0;
  readonly #unable: RepeatedFailure;
  #nextProbe = 0;
  #checking = false;
  #isRetired = false;
  #offset: number;
  #pumping: Promise<void> = Promise.resolve();

  constructor(options: WatchOptions) {
    this.#options = options;
    this.row = options.row;
    this.process = options.process;
    this.#offset = Number(options.row.log_offset);
    this.#unable = new RepeatedFailure({ log: options.log, message: `instance ${options.row.id} is not ready` });
  }

  /** Checks the instance when a check is due. Called every 100 ms. */
  check(): void {
    if (this.#checking || this.isOver) return;
    this.#checking = true;
    this.#check()
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error, instance: this.row.id }, "could not check an instance"),
      )
      .finally(() => (this.#checking = false));
  }

  /** Leaves it to another leader. */
  abandon(): void {
    this.isOver = true;
  }

  /** Whether it is still this process that decides about the instance. */
  async #isOurs(): Promise<boolean> {
    return (await this.#options.lead.confirm()) && !this.isOver;
  }

  async #check(): Promise<void> {
    const { driver } = this.#options;
    if (!(await this.#isOurs())) return;
    if (!driver.isAlive(this.process)) {
      if (this.row.state === "draining") return;
      await driver.stop(this.process, 0);
      return this.end("The process exited.", true);
    }
    await this.pump();
    if (performance.now() < this.#nextProbe || this.row.state === "draining") return;
    const health = await probe(this.row.port, PROBE_MS);
    const wereBroken = this.broken.length > 0;
    this.broken = health.state === "broken" ? health.graphs : [];
    if (!wereBroken && this.broken.length > 0) this.#options.onChange();
    // an instance that was ready before is healthy again with whatever graphs load
    const isHealthy = health.state === "ready" || (health.state === "broken" && this.row.ready_at !== null);
    if (this.row.state === "starting") {
      if (!isHealthy) this.#healthySince = undefined;
      else this.#healthySince ??= performance.now();
      const time = this.#healthySince === undefined ? -1 : performance.now() - this.#healthySince;
      if (time >= this.#options.settings.minHealthyMs) await this.#becomeReady();
      return;
    }
    this.#nextProbe = performance.now() + PROBE_MS;
    this.#silent = health.state === "down" ? this.#silent + 1 : 0;
    if (health.state === "unable") this.#unable.failed(new Error(health.reason), { reason: health.reason });
    else if (health.state === "ready") this.#unable.succeeded();
    if (this.#silent < MAX_SILENT || !(await this.#isOurs())) return;
    this.#options.log.warn({ instance: this.row.id }, "an instance stopped answering; stopping it");
    await driver.stop(this.process, 0);
    await this.end("It stopped answering.", true);
  }

  async #becomeReady(): Promise<void> {
    if (!(await this.#isOurs())) return;
    if (!(await rows.setState(this.#options.sql, this.row.id, ["starting"], "ready"))) return;
    this.row.state = "ready";
    this.row.ready_at = new Date();
    await this.#options.table.refresh();
    this.#options.onChange();
  }

  /** Lets it start no further run that another instance can execute. Once; a failure is not fatal. */
  async retire(): Promise<void> {
    const { databases, log } = this.#options;
    if (this.#isRetired) return;
    try {
      await databases.retireServers(this.row.deployment_id, this.row.id);
      this.#isRetired = true;
    } catch (error) {
      log.warn({ err: error, instance: this.row.id }, "an instance that is replaced may still start runs");
    }
  }

  async drain(requestsMs: number, graceMs: number, reason: string): Promise<void> {
    const { sql, driver, table } = this.#options;
    await rows.setState(sql, this.row.id, ["starting", "ready"], "draining");
    this.row.state = "draining";
    await Promise.all([table.refresh(), this.retire()]);
    await this.#untilUnused(requestsMs);
    if (!(await this.#isOurs())) return;
    await driver.stop(this.process, graceMs, () => this.#isOurs());
    await this.end(reason, false);
  }

  /** Waits until no gateway forwards requests to it, here or elsewhere. */
  async #untilUnused(ms: number): Promise<void> {
    const { table, driver, follower } = this.#options;
    const deadline = performance.now() + ms;
    const goesOn = () => performance.now() < deadline && !this.isOver && driver.isAlive(this.process);
    if (!goesOn()) return;
    const isUsedElsewhere = await follower.watchUse(this.row.id);
    for (;;) {
      while (goesOn() && table.inFlight(this.row.id) > 0) await sleep(20);
      if (!goesOn() || !(await isUsedElsewhere())) return;
      await sleep(USE_MS);
    }
  }

  async end(reason: string, crashed: boolean): Promise<void> {
    if (!(await this.#isOurs())) return;
    const { sql, driver, table, onChange } = this.#options;
    await this.pump();
    await rows.endInstance(sql, this.row.id, reason, crashed);
    this.isOver = true;
    await driver.discard(this.row.id);
    await table.refresh();
    onChange();
  }

  /** Copies the instance's new log lines to the database, each exactly once: the position is written with the lines. */
  pump(): Promise<void> {
    this.#pumping = this.#pumping.catch(() => {}).then(() => this.#readAll());
    return this.#pumping;
  }

  async #readAll(): Promise<void> {
    const { sql, driver } = this.#options;
    const { id, deployment_id: deploymentId, revision_id: revisionId } = this.row;
    for (;;) {
      const { text, next } = await driver.readLog(id, this.#offset);
      if (next === this.#offset && text === "") return;
      const now = new Date();
      const lines = text
        .split("\n")
        .flatMap((line): LogLine[] => [parseLogLine(line, now)].filter((logLine) => logLine !== null));
      await sql.begin(async (tx) => {
        if (lines.length > 0) await insertLogs(tx, { deploymentId, revisionId, kind: "deploy" }, lines);
        const moved = await rows.setLogOffset(tx, id, { from: this.#offset, to: next });
        if (!moved) throw new Error("another control plane copies the log of this instance");
      });
      this.#offset = next;
      if (text === "") return;
    }
  }
}
