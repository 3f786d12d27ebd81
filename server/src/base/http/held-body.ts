import { setImmediate as nextTurn } from "node:timers/promises";

import { AppError } from "../errors.ts";
import type { FairQueue, Slot } from "../fair-queue.ts";
import type { FairShare } from "../fair-share.ts";

const MIB = 1024 * 1024;
/** Expected size from which a tenant's bodies are read one at a time, because each is in memory as a whole. */
const HUGE_BYTES = 16 * MIB;
/**
 * Size of a body from which only one is decoded at a time. In all of its forms (text, values, rows, the engine's
 * columns) a body takes up to ten times its size for a moment, and several at once take no less time.
 */
const LARGE_BYTES = 4 * MIB;
/** Memory of a smaller body's decoded elements from which it is treated in the same way. */
const LARGE_WEIGHT = 16 * MIB;
/**
 * Age after which a body that arrives at less than this pace, in bytes per second, is evicted for waiting ones; less than
 * they wait.
 */
const SLOW_AFTER_MS = 4_000;
const MIN_PACE = 16 * 1024;

/** Called with the reason when a body is evicted before it has fully arrived. */
export type OnEvicted = (error: AppError) => void;

/** Memory held by one body. */
export interface HeldBody {
  /** Accounts for bytes in memory. Waits for room. Rejects when there is none. */
  use(bytes: number): Promise<void>;
  /** Accounts for the memory of all elements so far, besides the bytes. */
  weigh(total: number): Promise<void>;
  /** Marks the body as complete. */
  arrived(): void;
  /** Adds a listener. An evicted body holds nothing any more. */
  onEvicted(listener: OnEvicted): void;
  /** Resolves when the body, which has been read, may be decoded. */
  turnToDecode(): Promise<void>;
  /** Lets other bodies be decoded: this one is, or its rest has not been read. */
  endTurn(): void;
  /** Releases everything. */
  end(): void;
}

/** Rules of a gate for its bodies. */
export interface BodyRules {
  /** Bytes of all bodies. One that is alone may exceed them. */
  bytes: number;
  /** Weight of a byte, in bytes of decoded elements, that `bytes` allows for already. Default: 0. */
  usualWeight: number;
  /**
   * Whether bodies reserve what they are expected to need. Those that need more then don't wait: they are rejected
   * beyond twice the bytes of the gate.
   */
  reserves: boolean;
  /** Creates the error of a body for which there is no room. */
  reject: () => AppError;
  /** Bodies of tenants above their share are decoded one at a time, each after a pause for queries of other tenants. */
  share: FairShare | undefined;
  /** Called with the size of a large body when it is done. */
  afterLarge: (bytes: number) => void;
}

/** What the bodies of a gate share. */
export interface SharedMemory {
  rules: BodyRules;
  /** Bytes, and units for elements. */
  queue: FairQueue;
  /** Turns to read huge bodies, to decode large ones, and to pause. */
  huge: FairQueue;
  large: FairQueue;
  pauses: FairQueue;
  /** Units held for elements by bodies with a reservation, which reject nothing. */
  dense: number;
  /** Oldest first. */
  arriving: Set<TenantBody>;
  /** Evicts slow bodies, as many as necessary, while something waits for room. */
  evictWhile<T>(turn: Promise<T>): Promise<T>;
}

/** Body of an authenticated caller. */
export class TenantBody implements HeldBody {
  readonly #shared: SharedMemory;
  readonly #rules: BodyRules;
  readonly #tenantId: string;
  readonly #slot: Slot;
  readonly #listeners: OnEvicted[] = [];
  #since = performance.now();
  #received = 0;
  #reserved = 0;
  #used = 0;
  #weight = 0;
  #dense = 0;
  #huge: Slot | undefined;
  #large: Slot | undefined;
  #hasArrived = false;
  #hasEnded = false;

  constructor(shared: SharedMemory, tenantId: string) {
    this.#shared = shared;
    this.#rules = shared.rules;
    this.#tenantId = tenantId;
    this.#slot = shared.queue.slot(tenantId);
  }

  /** Bytes in memory, decompressed. */
  get used(): number {
    return this.#used;
  }

  /** Estimated memory of the body's elements when it is decoded, besides its bytes. */
  get weight(): number {
    return this.#weight;
  }

  get isSlow(): boolean {
    const ms = performance.now() - this.#since;
    return ms >= SLOW_AFTER_MS && (this.#received * 1000) / ms < MIN_PACE;
  }

  /** Reserves room before the body is read. */
  async reserve(expected: number): Promise<void> {
    if (expected >= HUGE_BYTES) this.#huge = await this.#shared.evictWhile(this.#shared.huge.enter(this.#tenantId, 1));
    // the size is a guess, so a single request may not exclude all others
    const bytes = Math.min(expected, this.#rules.bytes / 2);
    await this.#grow(bytes);
    this.#reserved = bytes;
    this.#since = performance.now();
    this.#shared.arriving.add(this);
  }

  /** Accounts for bytes if there is room at once. */
  tryUse(bytes: number): boolean {
    if (this.#hasEnded || !this.#slot.tryGrow(bytes)) return false;
    this.#used += bytes;
    this.#reserved += bytes;
    return true;
  }

  async use(bytes: number): Promise<void> {
    if (this.#hasEnded) return;
    if (!this.#hasArrived) this.#shared.arriving.add(this);
    this.#received += bytes;
    this.#used += bytes;
    const more = this.#used - this.#reserved;
    if (more <= 0) return;
    this.#reserved += more;
    if (!this.#rules.reserves) return this.#grow(more);
    const { queue, dense } = this.#shared;
    if (queue.held - dense + more > 2 * this.#rules.bytes) throw this.#rules.reject();
    this.#slot.add(more);
  }

  /** Releases bytes that are not in memory any more. */
  give(bytes: number): void {
    if (this.#hasEnded) return;
    this.#used -= bytes;
    this.#reserved -= bytes;
    this.#slot.give(bytes);
  }

  /** Accounts for bytes that are still in memory, after the others were stored. What was reserved stays so. */
  keep(bytes: number): void {
    this.#used = bytes;
    this.#weight = 0;
  }

  async weigh(total: number): Promise<void> {
    if (this.#hasEnded) return;
    this.#weight = total;
    const { usualWeight, reserves } = this.#rules;
    const beyond = total - usualWeight * Math.max(this.#used, this.#reserved);
    const more = beyond / Math.max(1, usualWeight) - this.#dense;
    if (more <= 0) return;
    this.#dense += more;
    if (!reserves) return this.#grow(more);
    this.#slot.add(more);
    this.#shared.dense += more;
  }

  async #grow(units: number): Promise<void> {
    if (this.#slot.tryGrow(units)) return;
    await this.#shared.evictWhile(this.#slot.grow(units));
  }

  arrived(): void {
    this.#hasArrived = true;
    this.#shared.arriving.delete(this);
  }

  onEvicted(listener: OnEvicted): void {
    this.#listeners.push(listener);
  }

  evict(): void {
    this.end();
    const error = new AppError(
      408,
      "The request body arrived too slowly while other requests waited for memory. Try again.",
    );
    for (const listener of this.#listeners) listener(error);
  }

  async turnToDecode(): Promise<void> {
    if (this.#isLarge && !this.#hasEnded) {
      const slot = await this.#shared.large.enter(this.#tenantId, 1);
      if (this.#hasEnded) slot.leave();
      else this.#large = slot;
    }
    const { share } = this.#rules;
    if (!share?.isAboveShare(this.#tenantId)) return;
    await this.#shared.pauses.run(async () => {
      await share.yieldToOthers(() => !share.isAboveShare(this.#tenantId));
      await nextTurn();
    }, this.#tenantId);
  }

  endTurn(): void {
    if (this.#isLarge) this.#rules.afterLarge(this.#used + this.#weight);
    this.#large?.leave();
    this.#large = undefined;
  }

  get #isLarge(): boolean {
    return this.#used >= LARGE_BYTES || this.#weight >= LARGE_WEIGHT;
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.arrived();
    this.endTurn();
    if (this.#rules.reserves) this.#shared.dense -= this.#dense;
    this.#slot.leave();
    this.#huge?.leave();
  }
}
