/**
 * This server's place among those that share the database.
 *
 * A row in `servers` with a heartbeat is the lease on all runs that the server executes: one small write a
 * second, however many runs there are. A server is gone when its heartbeat is older than the lease, or at once
 * when it was a process of this machine that no longer lives. Whoever finds that out puts its running runs back
 * into the queue; their attempt goes up with the next claim, so that nothing of the old server can be written.
 *
 * A heartbeat that could not be written because Postgres itself was down proves nothing, so Postgres must have
 * been up for a whole lease before age counts.
 */
import { hostname } from "node:os";

import type { LostTrace } from "../../../../graph-host/src/protocol.ts";
import type { Sql } from "../../base/db/connect.ts";
import { identifyProcess, processIsGone, type ProcessIdentity } from "../../base/db/process-identity.ts";
import { isDatabaseAway } from "../../base/db/retry.ts";
import type { Log } from "../../base/log.ts";
import { traceOf } from "../runs/close-trace.ts";
import { releaseRun, selectOrphans } from "../runs/sql.ts";
import { deleteServer, selectOtherServers, updateGraphs, updateHeartbeat, upsertServer } from "./sql.ts";

/** Runs that were lost with so many servers in a row end as error. */
const MAX_ATTEMPTS = 25;

const LOST_TOO_OFTEN = "The server that executed it was lost too often.";
const LOST = "The server that executed it was lost while it was being cancelled.";

export interface ServerLeaseOptions {
  sql: Sql;
  log: Log;
  serverId: string;
  leaseMs: number;
  maxFailures: number;
  internalUrl: string;
  /** Graphs that this server can run. */
  graphs(): string[];
  /** The others have taken this server for dead: it must stop what it does. */
  onLost(): void;
  /** Runs were put back into the queue. */
  onReleased(): void;
  /** A run ended with the server that had traced it. */
  onLostTrace(trace: LostTrace): void;
}

export class ServerLease {
  readonly #o: ServerLeaseOptions;
  #timer: NodeJS.Timeout | undefined;
  #others = 0;
  #beating = false;
  #stopped = false;

  constructor(options: ServerLeaseOptions) {
    this.#o = options;
  }

  /** True when no other server shares the database. */
  get alone(): boolean {
    return this.#others === 0;
  }

  async start(): Promise<void> {
    await this.#register();
    await this.#sweep();
    this.#timer = setInterval(() => void this.#beat(), Math.max(this.#o.leaseMs / 5, 200));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await deleteServer(this.#o.sql, this.#o.serverId);
  }

  /** Tells the others which graphs this server can run, so that it is not given those that only they can. */
  async tellGraphs(): Promise<void> {
    const { sql, serverId, log, graphs } = this.#o;
    await updateGraphs(sql, serverId, graphs()).catch((error: unknown) =>
      log.warn({ err: error }, "the other servers could not be told which graphs there are here"),
    );
  }

  async #register(): Promise<void> {
    const { sql, serverId, internalUrl, graphs } = this.#o;
    await upsertServer(sql, { serverId, hostName: hostname(), process: ownProcess(), internalUrl, graphs: graphs() });
  }

  async #beat(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    try {
      const { sql, serverId, log } = this.#o;
      const held = await updateHeartbeat(sql, serverId);
      if (this.#stopped) return;
      if (!held) {
        log.error("this server's lease was lost: it was silent for too long, others have its runs");
        this.#o.onLost();
        await this.#register();
      }
      await this.#sweep();
    } catch (error) {
      if (!isDatabaseAway(error)) this.#o.log.error({ err: error }, "the heartbeat failed");
    } finally {
      this.#beating = false;
    }
  }

  /** Takes away the runs of servers that are gone. */
  async #sweep(): Promise<void> {
    const { sql, serverId, leaseMs, log } = this.#o;
    const others = await selectOtherServers(sql, serverId, leaseMs / 1000);
    const gone = others.filter(
      (other) => other.expired || (other.host_name === hostname() && isDeadProcess(other.process)),
    );
    this.#others = others.length - gone.length;
    for (const { server_id, expired } of gone) {
      log.warn({ server_id, expired }, "a server is gone; its runs go back into the queue");
      await deleteServer(sql, server_id);
    }
    // also those whose server's row is gone since a sweep that died half-way
    const orphans = await selectOrphans(sql);
    for (const orphan of orphans) {
      const { run_id, attempt } = orphan;
      const { outcome } = await releaseRun(sql, {
        runId: run_id,
        attempt,
        blame: attempt >= MAX_ATTEMPTS,
        maxFailures: attempt >= MAX_ATTEMPTS ? 1 : this.#o.maxFailures,
        reason: LOST_TOO_OFTEN,
        notify: !this.alone,
      });
      // one that goes on is traced on; a cancelled one, and one that was lost too often, are not
      if (outcome === "pending" || outcome === "lost") continue;
      this.#o.onLostTrace(traceOf(orphan, outcome === "error" ? LOST_TOO_OFTEN : LOST));
    }
    if (orphans.length > 0 || gone.length > 0) this.#o.onReleased();
  }
}

/** The process as its row names it. */
const ownProcess = (): string => JSON.stringify(identifyProcess(process.pid));

function isDeadProcess(text: string): boolean {
  try {
    const identity = JSON.parse(text) as ProcessIdentity | null;
    return identity !== null && processIsGone(identity);
  } catch {
    return false;
  }
}
