/**
 * Claims pending runs while this server has free slots and hosts. A creation that may claim its run, and each run that
 * a claim may return, reserves a slot first.
 *
 * Servers that share a database share the work: a creation claims its run only while this server is no busier than the
 * idlest other one, and a claim takes this server's share of the new runs (`claim_share`). Runs that the others leave,
 * because they are frozen or lack the graph, are claimed shortly afterwards.
 */
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { type ClaimedRun, claimRuns, claimShare, selectNextDue } from "./sql.ts";

const POLL_MS = 1000;
/** Limit of runs per claim. */
const MOST_CLAIMED = 32;
/** Time for other servers to claim their shares after runs were announced. */
const SHARING_MS = 80;
/** Age from which runs are left over, whatever was announced since. */
const LEFT_OVER_MS = 500;
/** Fraction of the slots that creations fill without regard to other servers, which would take longer to start the runs. */
const OWN_FRACTION = 1 / 16;

interface ClaimerOptions extends Pick<
  RunQueueOptions,
  "sql" | "leaseSql" | "log" | "settings" | "serverId" | "lowestLoadElsewhere"
> {
  /** Number of runs that have a slot. */
  activeCount(): number;
  hasHosts(): boolean;
  isStopping(): boolean;
  /** Begins claimed runs. `claimedAt`: when the claim was sent, by `performance.now()`. */
  begin(rows: ClaimedRun[], claimedAt: number): Promise<void>;
}

export class RunClaimer {
  readonly #o: ClaimerOptions;
  /** Slots of creations and claims in progress, which may each begin a run. */
  #reserved = 0;
  #claiming = false;
  /** Start of the claim in progress, by `performance.now()`. */
  #claimBegan = 0;
  #claimAgain = false;
  /** Whether runs may be pending only because a slot or a host was missing here. */
  #behind = false;
  #poll: NodeJS.Timeout | undefined;
  #due: NodeJS.Timeout | undefined;
  /** Runs while other servers may claim their shares. */
  #sharing: NodeJS.Timeout | undefined;
  /** Age from which the next claim takes runs without regard to other servers. */
  #leftOverMs = LEFT_OVER_MS;
  readonly failure: RepeatedFailure;

  constructor(options: ClaimerOptions) {
    this.#o = options;
    this.failure = new RepeatedFailure({ log: options.log, message: "could not claim runs" });
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  stop(): void {
    clearInterval(this.#poll);
    clearTimeout(this.#due);
    clearTimeout(this.#sharing);
  }

  get isClaiming(): boolean {
    return this.#claiming;
  }

  /** Whether a claim that was sent before this time is in progress. */
  isClaimingSince(before: number): boolean {
    return this.#claiming && this.#claimBegan < before;
  }

  /**
   * Reserves a slot for a creation that may claim its run.
   * @returns false when no slot or no host is free, or another server is idler
   */
  reserve(): boolean {
    const isFree = !this.#o.isStopping() && this.#freeSlots > 0 && this.#o.hasHosts();
    if (!isFree) this.#behind = true;
    if (!isFree || this.#isBusierThanOthers) return false;
    this.#reserved += 1;
    return true;
  }

  get #isBusierThanOthers(): boolean {
    const lowest = this.#o.lowestLoadElsewhere();
    if (lowest === undefined) return false;
    const { jobs } = this.#o.settings;
    return jobs - this.#freeSlots >= Math.ceil(jobs * Math.max(OWN_FRACTION, lowest));
  }

  unreserve(slots = 1): void {
    this.#reserved -= slots;
    if (slots > 0) this.onCapacity();
  }

  /** Handles a slot or a host that has become free. */
  onCapacity(): void {
    if (this.#behind) this.wake();
  }

  /** Claims pending runs now. */
  wake(): void {
    if (this.#o.isStopping()) return;
    if (this.#claiming) {
      this.#claimAgain = true;
      return;
    }
    this.#claiming = true;
    this.#claimBegan = performance.now();
    void this.#claim().finally(() => {
      this.#claiming = false;
      if (this.#claimAgain) {
        this.#claimAgain = false;
        this.wake();
      }
    });
  }

  /** Claims this server's share of runs that were announced to all, and later what the others have left of them. */
  onAnnounced(): void {
    this.wake();
    if (this.#o.lowestLoadElsewhere() === undefined) return;
    clearTimeout(this.#sharing);
    this.#sharing = setTimeout(() => {
      this.#leftOverMs = 0;
      this.wake();
    }, SHARING_MS).unref();
  }

  /** Claims again after this time, when a delayed run is due. */
  wakeAfter(ms: number): void {
    clearTimeout(this.#due);
    this.#due = setTimeout(() => this.wake(), Math.min(Math.max(ms, 1), 60_000));
    this.#due.unref();
  }

  /** Slots that no run has and no creation or claim in progress may take. */
  get #freeSlots(): number {
    return this.#o.settings.jobs - this.#o.activeCount() - this.#reserved;
  }

  async #claim(): Promise<void> {
    const { serverId, leaseSql } = this.#o;
    const isShared = this.#o.lowestLoadElsewhere() !== undefined;
    const leftOverMs = this.#leftOverMs;
    this.#leftOverMs = LEFT_OVER_MS;
    const claim = (limit: number) =>
      isShared ? claimShare(leaseSql, serverId, limit, leftOverMs) : claimRuns(leaseSql, serverId, limit);
    try {
      for (;;) {
        const free = this.#freeSlots;
        this.#behind = free <= 0 || !this.#o.hasHosts();
        if (this.#o.isStopping() || this.#behind) return;
        // half of them, so that runs created meanwhile can start at once
        const limit = Math.min(Math.ceil(free / 2), MOST_CLAIMED);
        if ((await this.#claimUpTo(claim, limit)) < limit) break;
      }
      const due = await selectNextDue(this.#o.sql);
      if (due !== null) this.wakeAfter(due);
      this.failure.succeeded();
    } catch (error) {
      // the next poll retries
      if (!this.#o.isStopping()) this.failure.failed(error);
    }
  }

  /** @returns the number of runs claimed and begun */
  async #claimUpTo(claim: (limit: number) => Promise<ClaimedRun[]>, limit: number): Promise<number> {
    let reserved = limit;
    const keep = (slots: number) => {
      const spare = reserved - slots;
      reserved = slots;
      this.unreserve(spare);
    };
    this.#reserved += limit;
    try {
      const claimedAt = performance.now();
      const rows = await claim(limit);
      keep(rows.length);
      await this.#o.begin(rows, claimedAt);
      return rows.length;
    } finally {
      keep(0);
    }
  }
}
