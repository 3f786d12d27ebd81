/**
 * Claims pending runs while this server has free slots and hosts. A creation that may claim its run, and each run that
 * a claim may return, reserves a slot first.
 *
 * Servers that share a database share the work: a creation claims its run only while this server is no busier than the
 * idlest other one, and a claim takes this server's share of the new runs (`claim_share`). Runs that the others leave,
 * because they are frozen or lack the graph, are claimed shortly afterwards.
 */
import type { Poller } from "../../base/polling/poller.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { type ClaimedRun, claimRuns, claimShare, selectNextDue, tendQueue } from "./sql.ts";

/** Longest interval between claims. */
export const CLAIM_MS = 1000;
/** Limit of runs per claim. */
const MOST_CLAIMED = 32;
/** Time for other servers to claim their shares after runs were announced. */
const SHARING_MS = 80;
/** Mean interval of the claims of all servers together while runs are announced: each announcement reaches every server. */
const PACE_MS = 2;
/** Age from which runs are left over, whatever was announced since. */
const LEFT_OVER_MS = 500;
/** Fraction of the slots that creations fill without regard to other servers, which would take longer to start the runs. */
const OWN_FRACTION = 1 / 16;

type ClaimerOptions = Pick<
  RunQueueOptions,
  "sql" | "leaseSql" | "settings" | "serverId" | "hosts" | "servers" | "lowestLoadElsewhere"
>;

/** Runs that a claim returned. `claimedAt`: when it was sent, by `performance.now()`. */
export interface Claim {
  rows: ClaimedRun[];
  claimedAt: number;
}

export class RunClaimer {
  readonly #o: ClaimerOptions;
  /** Runs that have a slot. */
  readonly #active: ReadonlyMap<string, unknown>;
  readonly #poller: Poller;
  /** Slots of creations and claims in progress, which may each begin a run. */
  #reserved = 0;
  /** Start of the claims in progress, by `performance.now()`. */
  #claimBegan: number | undefined;
  /** Time until which announcements cause no claim, by `performance.now()`. */
  #nextLookAt = Number.NEGATIVE_INFINITY;
  /** Whether runs may be pending only because a slot or a host was missing here. */
  #behind = false;
  #stopped = false;
  /** Time at which `tendQueue` was last called, by `performance.now()`. */
  #tendedAt = 0;
  /** Time until which other servers may claim their shares of announced runs, by `performance.now()`. */
  #sharingUntil: number | undefined;

  /** @param poller takes the claims */
  constructor(options: ClaimerOptions, active: ReadonlyMap<string, unknown>, poller: Poller) {
    this.#o = options;
    this.#active = active;
    this.#poller = poller;
  }

  stop(): void {
    this.#stopped = true;
  }

  get isClaiming(): boolean {
    return this.#claimBegan !== undefined;
  }

  /** Whether a claim that was sent before this time is in progress. */
  isClaimingSince(before: number): boolean {
    return this.#claimBegan !== undefined && this.#claimBegan < before;
  }

  /**
   * Reserves a slot for a creation that may claim its run.
   * @returns false when no slot or no host is free, or another server is idler
   */
  reserve(): boolean {
    if (!this.#hasRoom) this.#behind = true;
    if (!this.#hasRoom || this.#isBusierThanOthers) return false;
    this.#reserved += 1;
    return true;
  }

  get #isBusierThanOthers(): boolean {
    const lowest = this.#o.lowestLoadElsewhere();
    if (lowest === undefined) return false;
    const { jobs } = this.#o.settings;
    return jobs - this.#freeSlots >= Math.ceil(jobs * Math.max(OWN_FRACTION, lowest));
  }

  unreserve(): void {
    this.#reserved -= 1;
    this.onCapacity();
  }

  /** Handles a slot or a host that has become free. */
  onCapacity(): void {
    if (this.#behind) this.wake();
  }

  /** Claims pending runs now, or within `delayMs`. */
  wake(delayMs = 0): void {
    this.#poller.wake(delayMs);
  }

  /**
   * Claims this server's share of runs that were announced to all, and later what the others have left of them. At once,
   * unless this server has just looked: see `#longestPaceMs`.
   */
  onAnnounced(): void {
    if (this.#o.lowestLoadElsewhere() === undefined) return this.wake();
    this.wake(Math.max(0, this.#nextLookAt - performance.now()));
    this.#sharingUntil = performance.now() + SHARING_MS;
    this.wake(SHARING_MS);
  }

  /** Longest time from a claim to one that an announcement causes. It is random, so that some server looks every `PACE_MS`; at most SHARING_MS, for one that alone can take the runs. */
  get #longestPaceMs(): number {
    return Math.min(this.#o.servers() * 2 * PACE_MS, SHARING_MS);
  }

  get #hasRoom(): boolean {
    return !this.#stopped && this.#freeSlots > 0 && this.#o.hosts().hasCapacity;
  }

  /** Slots that no run has and no creation or claim in progress may take. */
  get #freeSlots(): number {
    return this.#o.settings.jobs - this.#active.size - this.#reserved;
  }

  /** Claims until no run is pending or no slot is free. A claim's slots are reserved until the next one is asked for. */
  async *claims(): AsyncGenerator<Claim, void, void> {
    this.#claimBegan = performance.now();
    this.#nextLookAt = this.#claimBegan + Math.random() * this.#longestPaceMs;
    try {
      const isShared = this.#o.lowestLoadElsewhere() !== undefined;
      const leftOverMs = this.#endSharing() ? 0 : LEFT_OVER_MS;
      for (;;) {
        this.#behind = !this.#hasRoom;
        if (this.#behind) return;
        // half of them, so that runs created meanwhile can start at once
        const limit = Math.min(Math.ceil(this.#freeSlots / 2), MOST_CLAIMED);
        const claimed = yield* this.#claim(limit, isShared, leftOverMs);
        if (claimed < limit) return;
      }
    } finally {
      this.#claimBegan = undefined;
    }
  }

  async *#claim(limit: number, isShared: boolean, leftOverMs: number): AsyncGenerator<Claim, number, void> {
    const { serverId, leaseSql } = this.#o;
    let reserved = limit;
    this.#reserved += limit;
    try {
      const claimedAt = performance.now();
      const rows = await (isShared
        ? claimShare(leaseSql, serverId, limit, leftOverMs)
        : claimRuns(leaseSql, serverId, limit));
      this.#reserved -= limit - rows.length;
      reserved = rows.length;
      if (rows.length > 0) yield { rows, claimedAt };
      return rows.length;
    } finally {
      this.#reserved -= reserved;
    }
  }

  /** Whether other servers have had their time to claim their shares. */
  #endSharing(): boolean {
    const isOver = this.#sharingUntil !== undefined && performance.now() >= this.#sharingUntil;
    if (isOver) this.#sharingUntil = undefined;
    return isOver;
  }

  /** Milliseconds until the next claim. */
  async nextDue(): Promise<number> {
    if (this.#stopped || this.#behind) {
      if (!this.#stopped && performance.now() - this.#tendedAt >= CLAIM_MS) {
        this.#tendedAt = performance.now();
        await tendQueue(this.#o.sql);
      }
      return this.#hasRoom ? 1 : CLAIM_MS;
    }
    const due = (await selectNextDue(this.#o.sql)) ?? CLAIM_MS;
    const shared = this.#sharingUntil === undefined ? CLAIM_MS : this.#sharingUntil - performance.now();
    return Math.max(Math.min(due, shared, CLAIM_MS), 1);
  }
}
