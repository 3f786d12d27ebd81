/**
 * Elects the control plane that builds, starts and stops. Any number run on one database; the leader holds a lease in
 * it, the others answer the API and wait. The lease is measured by the database's clock alone. Each takeover begins a
 * new term, which fences the statements of earlier leaders.
 *
 * A leader acts only while it knows that its lease is valid: until the lease's duration after it sent the last renewal,
 * by a monotonic clock, which keeps counting while the process is frozen. Afterwards it asks the database before each act. A
 * lease that has expired is renewed unless another process has taken it, so the leader stays after a database outage.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { connect, type DatabaseAddress, type Sql } from "../../base/db/connect.ts";
import { identifyProcess, isElsewhere, isProcessAlive } from "../../base/db/process-identity.ts";
import { uuid7 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import * as lease from "./sql.ts";

/** Fraction of the lease after which the leader no longer relies on it. */
const RELY = 0.9;
const RETRY_MS = 500;

/** Leadership as seen by fenced operations. */
export interface Lead {
  /** The fencing token; null while this process does not lead. */
  readonly term: string | null;
  /** Whether this process leads now. Asks the database where it is not certain. */
  confirm(): Promise<boolean>;
}

export interface LeadershipOptions {
  database: DatabaseAddress;
  log: Log;
  /** Identifies the data directory of this control plane. */
  directory: string;
  leaseMs: number;
}

/** What only the leader does. */
export interface LeadersWork {
  /** Starts the work. Retried while the term lasts. */
  start: () => Promise<void>;
  /** Stops the work and leaves everything that runs to the next leader. */
  release: () => Promise<void>;
}

const NO_WORK: LeadersWork = { start: () => Promise.resolve(), release: () => Promise.resolve() };

export class Leadership implements Lead {
  readonly #options: LeadershipOptions;
  readonly #sql: Sql;
  readonly #holder: lease.Holder;
  readonly #poller: Poller;
  readonly #starting: RepeatedFailure;
  #term: string | null = null;
  #validUntil = -Infinity;
  #leadersWork = NO_WORK;
  #asking: Promise<void> | undefined;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    const { database, log, leaseMs, directory } = options;
    this.#holder = { ...identifyProcess(process.pid)!, id: uuid7(), directory };
    // its own connection: renewals wait for no other statement, and a dead connection is noticed in time
    this.#sql = connect(database, { max: 1, name: "heddle lead", silenceMs: leaseMs / 2, startMs: leaseMs / 2 });
    const failing = "could not renew the leader's lease; will retry";
    const everyMs = leaseMs / 6;
    this.#poller = new Poller({ pass: () => this.#ask(), everyMs, log, failing });
    this.#starting = new RepeatedFailure({ log, message: "could not begin to lead; will retry" });
  }

  get term(): string | null {
    return this.#term;
  }

  get leads(): boolean {
    return this.#term !== null && performance.now() < this.#validUntil;
  }

  /** Resolves when it is known who leads, and the leader's work has started if it is this process. */
  async start(work: LeadersWork): Promise<void> {
    this.#leadersWork = work;
    await this.#ask();
    if (this.#term === null) await this.#compareDirectories();
    const failed = this.#term !== null ? await this.#begin().catch((error: unknown) => ({ error })) : undefined;
    if (failed) {
      await this.stop();
      throw failed.error;
    }
    this.#poller.start(this.#options.leaseMs / 6);
  }

  /** Warns when the leader has another data directory: it cannot build what is uploaded to this one. */
  async #compareDirectories(): Promise<void> {
    const { holder } = await lease.selectLease(this.#sql);
    if (holder === null || holder.directory === this.#options.directory) return;
    this.#options.log.warn(
      "This control plane does not share its data directory with the one that leads. Projects that are uploaded to it " +
        "cannot be built, and builds have to be repeated when another one leads. Give all the same directory.",
    );
  }

  async confirm(): Promise<boolean> {
    if (this.leads) return true;
    if (this.#term === null || this.#stopped) return false;
    await this.#ask();
    return this.leads;
  }

  /** Releases the lease, so that another process leads at once. The leader's work must have stopped. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
    await this.#work;
    if (this.#term !== null) await lease.releaseLease(this.#sql, this.#term).catch(() => {});
    this.#term = null;
    await this.#sql.end({ timeout: 1 });
  }

  /** Renews the lease or tries to take it; concurrent calls share one attempt. */
  #ask(): Promise<void> {
    return (this.#asking ??= this.#askOnce().finally(() => (this.#asking = undefined)));
  }

  async #askOnce(): Promise<void> {
    const { leaseMs, log } = this.#options;
    const sentAt = performance.now();
    if (this.#term !== null) {
      if (await lease.renewLease(this.#sql, this.#term, leaseMs)) {
        this.#validUntil = sentAt + leaseMs * RELY;
        return;
      }
      log.warn({ term: this.#term }, "another control plane leads now");
      this.#term = null;
      this.#then(() => this.#leadersWork.release());
      return;
    }
    const { term: seen, holder, is_expired: isExpired } = await lease.selectLease(this.#sql);
    const isGone = holder !== null && !isElsewhere(holder) && !isProcessAlive(holder);
    if (holder !== null && !isExpired && !isGone) return;
    const term = await lease.takeLease(this.#sql, { seen, holder: this.#holder, leaseMs, isGone });
    if (term === undefined) return;
    this.#term = term;
    this.#validUntil = sentAt + leaseMs * RELY;
    if (Number(term) > 1) log.info({ term }, "this control plane leads now");
    if (this.#poller.isStarted) this.#then(() => this.#begin());
  }

  /** Runs a change after the earlier ones, beside the renewals. */
  #then(change: () => Promise<void>): void {
    this.#work = this.#work
      .then(change)
      .catch((error: unknown) => this.#options.log.error({ err: error }, "a change of the leader failed"));
  }

  async #begin(): Promise<void> {
    const term = this.#term;
    while (this.#term === term && term !== null && !this.#stopped) {
      try {
        await this.#leadersWork.start();
        this.#starting.succeeded();
        return;
      } catch (error) {
        await this.#leadersWork.release();
        if (this.#stopped) return;
        if (!this.#poller.isStarted) throw error;
        this.#starting.failed(error);
        await sleep(RETRY_MS);
      }
    }
  }
}
