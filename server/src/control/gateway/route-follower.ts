/**
 * Keeps a process's route table up to date and reports the process as a gateway. The table is reloaded on notifications,
 * after each gap in them, and at an interval, because a notification can be lost. A report contains the age of the table
 * and the requests in progress: an instance is stopped only when no gateway can use it any more.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { databaseNow } from "../../base/db/database-now.ts";
import type { Sql } from "../../base/db/connect.ts";
import { identifyProcess, isElsewhere, type ProcessIdentity, isProcessAlive } from "../../base/db/process-identity.ts";
import { uuid7 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { type ControlChanges, SAFETY_NET_MS } from "../changes/control-changes.ts";
import type { RouteTable } from "./route-table.ts";
import * as gateways from "./sql.ts";

const RETRY_MS = 250;
/** Time for which a switch waits for the other gateways. */
const PATIENCE_MS = 2000;
const POLL_MS = 25;

export interface RouteFollowerOptions {
  sql: Sql;
  changes: ControlChanges;
  log: Log;
  table: RouteTable;
  /** Machine whose instances can be reached. */
  host: string;
}

export class RouteFollower {
  /** Identifies this gateway. */
  readonly id = uuid7();
  readonly #process = identifyProcess(process.pid)!;
  readonly #options: RouteFollowerOptions;
  readonly #poller: Poller;
  readonly #unfollow: () => void;
  #others = 0;
  #loadedAt: number | undefined;

  constructor(options: RouteFollowerOptions) {
    this.#options = options;
    const { log, changes, table } = options;
    const failing = "could not load the routes to deployments; the last known ones stay in use";
    this.#poller = new Poller({
      pass: () => this.#pass(),
      everyMs: SAFETY_NET_MS,
      retryMs: RETRY_MS,
      log,
      failing,
    });
    const wake = () => this.#poller.wake();
    this.#unfollow = changes.follow(["instances", "deployments"], wake);
    table.onIdle = wake;
  }

  /** Resolves when the table is loaded and the gateway is known to the others. */
  async start(): Promise<void> {
    await this.#pass();
    this.#poller.start(SAFETY_NET_MS);
  }

  async stop(): Promise<void> {
    this.#options.table.onIdle = () => {};
    this.#unfollow();
    await this.#poller.stop();
    await gateways.deleteGateway(this.#options.sql, this.id).catch(() => {});
  }

  /** Seconds since the table was last loaded. */
  get age(): number {
    return this.#loadedAt === undefined ? Infinity : (performance.now() - this.#loadedAt) / 1000;
  }

  async #pass(): Promise<void> {
    const { sql, table, host } = this.#options;
    await table.refresh();
    this.#loadedAt = performance.now();
    // both at once: requests that began with an older table are counted here
    const now = { readAt: table.readAt!, requests: table.requests() };
    await gateways.reportGateway(sql, { id: this.id, host, process: this.#process, ...now });
    this.#others = (await gateways.otherGateways(sql, this.id, host)).filter(mayLive).length;
  }

  /** Counts other gateways that serve this machine's instances; by the last report when the database is unavailable. */
  async countOthers(): Promise<number> {
    const { sql, host } = this.#options;
    try {
      return (await gateways.otherGateways(sql, this.id, host)).filter(mayLive).length;
    } catch {
      return this.#others;
    }
  }

  /**
   * Returns a function that tells whether other gateways may use an instance that has just left the table. While the
   * database is unavailable, they may.
   */
  async watchUse(instanceId: string): Promise<() => Promise<boolean>> {
    const { sql } = this.#options;
    const since = await this.#now();
    return async () => {
      try {
        return (await gateways.usersOfInstance(sql, this.id, instanceId, since)).some(mayLive);
      } catch {
        return true;
      }
    };
  }

  /** Resolves when the other gateways have loaded the present state, or after a while. */
  async settle(): Promise<void> {
    const { sql } = this.#options;
    const deadline = performance.now() + PATIENCE_MS;
    const since = await this.#now();
    while (performance.now() < deadline && (await gateways.lateGateways(sql, this.id, since)).some(mayLive)) {
      await sleep(POLL_MS);
    }
  }

  /** Returns the database's time, rounded up: dates have milliseconds, the database's times microseconds. */
  async #now(): Promise<Date> {
    return new Date((await databaseNow(this.#options.sql)).getTime() + 1);
  }
}

/** Whether a gateway is not known to have died. */
const mayLive = ({ process }: { process: ProcessIdentity }): boolean => isElsewhere(process) || isProcessAlive(process);
