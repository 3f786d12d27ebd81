/**
 * This server's lease among the servers that share the database. A row in `servers` with a heartbeat is the lease on
 * all runs that the server executes: one small statement a second, however many runs there are. It also returns the
 * runs that are running under this server, which reconcile.ts compares with those that it executes.
 *
 * server-watch.ts decides when another server is gone. Its running runs return to the queue; their attempt is
 * incremented by the next claim, which fences off all writes of the old server. A server that finds its own row gone
 * stops its runs, hands back what still runs under its id, and only then registers again: until then it cannot claim.
 */
import { hostname } from "node:os";

import type { LostTrace } from "../../../../host-kit/src/host-protocol.ts";
import type { Sql } from "../../base/db/connect.ts";
import { isDatabaseUnavailable } from "../../base/db/retry.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { toLostTrace } from "../runs/close-trace.ts";
import { releaseRun, type RunningRow, selectOrphans } from "../runs/sql.ts";
import { ownProcess, ServerWatch } from "./server-watch.ts";
import { beat, deleteServer, expireServer, type OtherServer, updateGraphs, upsertServer } from "./sql.ts";

/** Longest interval between heartbeats: a cancellation whose notification was lost takes effect with the next one. */
const MAX_BEAT_MS = 1000;

/** Attempt from which on a run that is lost with its server ends as error. */
const LAST_ATTEMPT = 25;

const LOST_TOO_OFTEN = "The server that executed it was lost too often.";
const LOST = "The server that executed it was lost while it was being cancelled.";

export interface ServerLeaseOptions {
  sql: Sql;
  /** Connections for statements that must not wait behind slow ones, or for long on a dead connection. */
  leaseSql: Sql;
  log: Log;
  serverId: string;
  leaseMs: number;
  maxFailures: number;
  internalUrl: string;
  instanceId: string | undefined;
  /** Runs that this server may execute at a time. */
  slots: number;
  /** Graphs that this server can run. */
  graphs(): string[];
  /** Called when other servers have declared this one dead: it must stop its runs. */
  onLost(): void;
  /** Called after runs were released into the queue. */
  onReleased(): void;
  /** Called with the runs that are running under this server, as of a moment after `sentAt` (`performance.now()`). */
  onBeat(running: RunningRow[], sentAt: number): void;
  /** Called when it changes whether a server shares the database that cannot read lists stored as changes. */
  onOlderServers(present: boolean): void;
  /** Called when a run ended without the server that had traced it. */
  onLostTrace(trace: LostTrace): void;
}

export class ServerLease {
  readonly #o: ServerLeaseOptions;
  readonly #watch: ServerWatch;
  readonly failure: RepeatedFailure;
  /** Leases that were lost: of this server, and of others as this server noticed. */
  readonly lost = { this: 0, other: 0 };
  #timer: NodeJS.Timeout | undefined;
  #others: OtherServer[] = [];
  #hasOlder = false;
  #beating = false;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(options: ServerLeaseOptions) {
    this.#o = options;
    this.#watch = new ServerWatch(options.leaseMs);
    this.failure = new RepeatedFailure({ log: options.log, message: "the heartbeat failed" });
  }

  /** Whether no other server shares the database. */
  get alone(): boolean {
    return this.#others.length === 0;
  }

  /** Servers that share the database, with this one, as of the last heartbeat. */
  get servers(): number {
    return this.#others.length + 1;
  }

  /** Lowest fraction of slots in use on another server, as of the last heartbeat; undefined when there is none. */
  get lowestLoadElsewhere(): number | undefined {
    const loads = this.#others.flatMap(({ slots, running }) => (slots === null ? [] : [running / slots]));
    return loads.length === 0 ? undefined : Math.min(...loads);
  }

  async start(): Promise<void> {
    await this.#register();
    await this.#renew();
    await this.#sweeping;
    this.#timer = setInterval(() => void this.#beat(), Math.min(Math.max(this.#o.leaseMs / 5, 200), MAX_BEAT_MS));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await deleteServer(this.#o.sql, this.#o.serverId);
  }

  /**
   * Publishes the graphs that this server can run, so that it is not given runs that only other servers can execute.
   */
  async announceGraphs(): Promise<void> {
    const { sql, serverId, log, graphs } = this.#o;
    await updateGraphs(sql, serverId, graphs()).catch((error: unknown) =>
      log.warn({ err: error }, "could not publish the list of this server's graphs"),
    );
  }

  async #register(): Promise<void> {
    const { sql, serverId, internalUrl, graphs, slots, instanceId = null } = this.#o;
    const where = { hostName: hostname(), process: ownProcess(), internalUrl, instanceId };
    await upsertServer(sql, { serverId, ...where, graphs: graphs(), slots });
  }

  async #beat(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    try {
      await this.#renew();
      this.failure.succeeded();
    } catch (error) {
      if (!this.#stopped) this.failure.failed(error);
    } finally {
      this.#beating = false;
    }
  }

  async #renew(): Promise<void> {
    const { leaseSql, serverId, log } = this.#o;
    const sentAt = performance.now();
    const { held, others, running, orphaned } = await beat(leaseSql, serverId);
    if (this.#stopped) return;
    if (!held) {
      log.error("this server's lease expired without a heartbeat; other servers have taken over its runs");
      this.lost.this += 1;
      this.#o.onLost();
      await this.#releaseOrphans();
      if (!this.#stopped) await this.#register();
      return;
    }
    const expired = this.#watch.observe(others, sentAt);
    this.#others = others.filter((other) => !expired.includes(other));
    const hasOlder = this.#others.some((other) => !other.reads_changes);
    if (hasOlder !== this.#hasOlder) this.#o.onOlderServers((this.#hasOlder = hasOlder));
    this.#o.onBeat(running, sentAt);
    let released = orphaned;
    for (const other of expired) if (await this.#expire(other)) released = true;
    // heartbeats continue during this
    if (released) this.#sweeping ??= this.#sweep();
  }

  async #sweep(): Promise<void> {
    try {
      await this.#releaseOrphans();
    } catch (error) {
      if (!isDatabaseUnavailable(error))
        this.#o.log.error({ err: error }, "could not take over the runs of a lost server");
    } finally {
      this.#sweeping = undefined;
    }
  }

  async #expire(other: OtherServer): Promise<boolean> {
    const expired = await expireServer(this.#o.leaseSql, other);
    const { server_id } = other;
    if (expired) this.lost.other += 1;
    if (expired) this.#o.log.warn({ server_id }, "a server's lease expired; its runs return to the queue");
    return expired;
  }

  /** Releases the runs whose server has no row, whichever server removed it. */
  async #releaseOrphans(): Promise<void> {
    const { sql } = this.#o;
    const orphans = await selectOrphans(sql);
    for (const orphan of orphans) {
      const { run_id, attempt } = orphan;
      const { outcome } = await releaseRun(sql, {
        runId: run_id,
        attempt,
        blame: attempt >= LAST_ATTEMPT,
        maxFailures: attempt >= LAST_ATTEMPT ? 1 : this.#o.maxFailures,
        reason: LOST_TOO_OFTEN,
        notify: !this.alone,
      });
      // a run that is retried continues its trace; a cancelled one, and one lost too often, do not
      if (outcome === "pending" || outcome === "lost") continue;
      this.#o.onLostTrace(toLostTrace(orphan, outcome === "error" ? LOST_TOO_OFTEN : LOST));
    }
    if (orphans.length > 0) this.#o.onReleased();
  }
}
