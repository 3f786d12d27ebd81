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
import { integer, type Options } from "../config/options.ts";
import { type AppError, unavailable } from "../errors.ts";
import { FairQueue } from "../fair-queue.ts";
import { type BodyRules, type HeldBody, type SharedMemory, TenantBody } from "./held-body.ts";
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

export type BodyGateOptions = Pick<BodyRules, "bytes"> & Partial<BodyRules> & { waitMs?: number };

export class BodyGate {
  readonly #shared: SharedMemory;
  readonly #public = new PublicBodies(noRoom);

  constructor({ waitMs = WAIT_MS, reject = noRoom, ...options }: BodyGateOptions) {
    const { bytes } = options;
    const bounded = { waiting: MAX_WAITING, reject };
    this.#shared = {
      rules: { usualWeight: 0, reserves: false, share: undefined, afterLarge() {}, ...options, reject },
      queue: new FairQueue({ ...bounded, capacity: bytes, crowded: bytes / 2, waitMs }),
      huge: new FairQueue({ ...bounded, capacity: 1, waitMs: MAX_HUGE_WAIT_MS }),
      large: new FairQueue({ capacity: 1 }),
      pauses: new FairQueue({ capacity: 1 }),
      dense: 0,
      arriving: new Set(),
      evictWhile: (turn) => this.#evictWhile(turn),
    };
  }

  /** Bytes currently held. */
  get used(): number {
    const { queue, dense } = this.#shared;
    return queue.held - dense + this.#public.used;
  }

  /** Whether bodies wait for room or their turn to be read. */
  get isWaitedFor(): boolean {
    return this.#shared.queue.isWaitedFor || this.#shared.huge.isWaitedFor;
  }

  /** Holds a body of a tenant; empty when the caller has none. */
  hold(tenantId: string): TenantBody {
    return new TenantBody(this.#shared, tenantId);
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

  #evictWhile<T>(turn: Promise<T>): Promise<T> {
    this.#evictSlow();
    const timer = setInterval(() => this.#evictSlow(), CHECK_MS);
    return turn.finally(() => clearInterval(timer));
  }

  #evictSlow(): void {
    for (const body of this.#shared.arriving) {
      if (!this.isWaitedFor) return;
      if (body.isSlow) body.evict();
    }
  }
}

const noRoom = (): AppError => unavailable("Too many request bodies are in flight. Try again later.", 2);
