/**
 * Claims pending runs while this server has free slots and hosts. A creation that may claim its run, and each run that
 * a claim may return, reserves a slot first.
 */
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { type ClaimedRun, claimRuns, selectNextDue } from "./sql.ts";

const POLL_MS = 1000;
/** Limit of runs per claim. */
const MOST_CLAIMED = 32;

interface ClaimerOptions extends Pick<RunQueueOptions, "sql" | "leaseSql" | "log" | "settings" | "serverId"> {
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
  }

  get isClaiming(): boolean {
    return this.#claiming;
  }

  /** Whether a claim that was sent before this time is in progress. */
  isClaimingSince(before: number): boolean {
    return this.#claiming && this.#claimBegan < before;
  }

  /** Reserves a slot for a creation that may claim its run. @returns false when no slot or no host is free */
  reserve(): boolean {
    const isFree = !this.#o.isStopping() && this.#freeSlots > 0 && this.#o.hasHosts();
    if (isFree) this.#reserved += 1;
    else this.#behind = true;
    return isFree;
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
    try {
      for (;;) {
        const free = this.#freeSlots;
        this.#behind = free <= 0 || !this.#o.hasHosts();
        if (this.#o.isStopping() || this.#behind) return;
        // half of them, so that runs created meanwhile can start at once
        const limit = Math.min(Math.ceil(free / 2), MOST_CLAIMED);
        if ((await this.#claimUpTo(limit)) < limit) break;
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
  async #claimUpTo(limit: number): Promise<number> {
    let reserved = limit;
    const keep = (slots: number) => {
      const spare = reserved - slots;
      reserved = slots;
      this.unreserve(spare);
    };
    this.#reserved += limit;
    try {
      const claimedAt = performance.now();
      const rows = await claimRuns(this.#o.leaseSql, this.#o.serverId, limit);
      keep(rows.length);
      await this.#o.begin(rows, claimedAt);
      return rows.length;
    } finally {
      keep(0);
    }
  }
}
