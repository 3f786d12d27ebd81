/**
 * Bounds the memory of request bodies, from the first byte to the end of the handler, with what their structure will take
 * when it is decoded (base/json-structure.ts). Every body passes one gate: those of traces that of ingest, all others
 * that of the process.
 *
 * A body that doesn't fit waits unread, so that back-pressure stops its sender; after some seconds it is rejected.
 * Tenants take turns, and one of several gets at most half of the memory. While bodies wait, those that arrive too slowly
 * are evicted, so that a few slow senders cannot occupy it. Large bodies take turns to be read and to be decoded.
 *
 * Bodies of public routes have a separate budget (public-bodies.ts).
 */
import { setImmediate as nextTurn } from "node:timers/promises";

import { integer, type Options } from "../config/options.ts";
import { type AppError, unavailable } from "../errors.ts";
import { FairQueue, type Slot } from "../fair-queue.ts";
import type { FairShare } from "../fair-share.ts";
import { type HeldBody, type SharedMemory, TenantBody } from "./held-body.ts";
import { PublicBodies } from "./public-bodies.ts";

const MIB = 1024 * 1024;

export const bodyOptions = {
  bodyMemoryMb: integer({
    env: ["HEDDLE_BODY_MEMORY_MB"],
    default: 256,
    min: 1,
    description:
      "Memory, in MiB, of a server process for the request bodies and WebSocket messages in flight, with the estimated " +
      "memory of their decoded elements; traces have HEDDLE_INGEST_MEMORY_MB. Requests " +
      "beyond it wait, then get 503. At least the size of the largest body.",
  }),
};

export type BodySettings = Options<typeof bodyOptions> & { maxBodyBytes: number };

/** Creates the gate of a process. */
export const createBodyGate = ({ bodyMemoryMb, maxBodyBytes }: BodySettings): BodyGate =>
  new BodyGate({ bytes: Math.max(bodyMemoryMb * MIB, maxBodyBytes) });

const MAX_WAITING = 1000;
const WAIT_MS = 5_000;
/** Storing such a body takes up to a second, and clients may send several at once. */
const MAX_HUGE_WAIT_MS = 30_000;
const CHECK_MS = 500;

export interface BodyGateOptions {
  /** Bytes of all bodies. One that is alone may exceed them. */
  bytes: number;
  /** Weight of a byte, in bytes of decoded elements, that `bytes` allows for already. Default: 0. */
  usualWeight?: number;
  /**
   * Whether bodies reserve what they are expected to need. Those that need more then don't wait: they are rejected
   * beyond twice the bytes of the gate.
   */
  reserves?: boolean;
  waitMs?: number;
  /** Creates the error of a body for which there is no room. */
  refuse?: () => AppError;
  /** Bodies of tenants above their share are decoded one at a time, each after a pause for queries of other tenants. */
  share?: FairShare | undefined;
  /** Called with the size of a large body when it is done. */
  afterLarge?: (bytes: number) => void;
}

export class BodyGate implements SharedMemory {
  readonly #o: Required<Omit<BodyGateOptions, "share">>;
  readonly #share: FairShare | undefined;
  readonly #queue: FairQueue;
  readonly #huge: FairQueue;
  /** Turns of large bodies, and of those above their share. */
  readonly #large = new FairQueue({ capacity: 1 });
  readonly #pauses = new FairQueue({ capacity: 1 });
  /** Oldest first. */
  readonly #arriving = new Set<TenantBody>();
  readonly #public = new PublicBodies(noRoom);
  /** Units held for elements by bodies with a reservation, which reject nothing. */
  #dense = 0;

  constructor({ share, ...options }: BodyGateOptions) {
    const noop = () => {};
    this.#o = { usualWeight: 0, reserves: false, waitMs: WAIT_MS, refuse: noRoom, afterLarge: noop, ...options };
    this.#share = share;
    const { bytes, waitMs, refuse } = this.#o;
    const shared = { waiting: MAX_WAITING, refuse };
    this.#queue = new FairQueue({ ...shared, capacity: bytes, crowded: bytes / 2, waitMs });
    this.#huge = new FairQueue({ ...shared, capacity: 1, waitMs: MAX_HUGE_WAIT_MS });
  }

  /** Bytes currently held. */
  get used(): number {
    return this.#queue.held - this.#dense + this.#public.used;
  }

  /** Whether bodies wait for room or their turn to be read. */
  get isWaitedFor(): boolean {
    return this.#queue.isWaitedFor || this.#huge.isWaitedFor;
  }

  /** Holds a body of a tenant; empty when the caller has none. */
  hold(tenantId: string): TenantBody {
    return new TenantBody(this, tenantId, this.#queue.slot(tenantId), this.#o);
  }

  /** Runs `work` with a body that holds what it is expected to need. */
  async admit<T>(expected: number, work: (body: TenantBody) => Promise<T>, tenantId = ""): Promise<T> {
    const body = this.hold(tenantId);
    try {
      await body.reserve(expected);
      return await work(body);
    } finally {
      body.end();
    }
  }

  /** Holds a body of an unauthenticated caller. */
  holdPublic(): HeldBody {
    return this.#public.hold();
  }

  exceed(slot: Slot, units: number): void {
    if (this.#queue.held - this.#dense + units > 2 * this.#o.bytes) throw this.#o.refuse();
    slot.add(units);
  }

  addDense(slot: Slot, units: number): void {
    this.#dense += units;
    if (units > 0) slot.add(units);
  }

  follow(body: TenantBody): void {
    this.#arriving.add(body);
  }

  unfollow(body: TenantBody): void {
    this.#arriving.delete(body);
  }

  async takeHuge(tenantId: string): Promise<Slot> {
    return this.evictWhile(this.#huge.enter(tenantId, 1));
  }

  takeLarge(tenantId: string): Promise<Slot> {
    return this.#large.enter(tenantId, 1);
  }

  async pauseForOthers(tenantId: string): Promise<void> {
    const share = this.#share;
    if (!share?.isAboveShare(tenantId)) return;
    await this.#pauses.run(async () => {
      await share.yieldToOthers(() => !share.isAboveShare(tenantId));
      await nextTurn();
    }, tenantId);
  }

  async evictWhile<T>(turn: Promise<T>): Promise<T> {
    this.#evictSlow();
    const timer = setInterval(() => this.#evictSlow(), CHECK_MS);
    return turn.finally(() => clearInterval(timer));
  }

  #evictSlow(): void {
    for (const body of this.#arriving) {
      if (!this.isWaitedFor) return;
      if (body.isSlow) body.evict();
    }
  }
}

const noRoom = (): AppError => unavailable("Too many request bodies are in flight. Try again later.", 2);
