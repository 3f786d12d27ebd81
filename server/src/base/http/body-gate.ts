/**
 * Bounds the memory of request bodies in a server process, over all of its spaces, from the first byte to the end of
 * the handler.
 *
 * Bodies of authenticated callers count as they arrive, and so does what their structure will take when it is decoded. One that doesn't fit waits unread, so that back-pressure stops
 * its sender; after some seconds it gets 503. While others wait, bodies that arrive too slowly are rejected, so that a
 * few slow senders cannot occupy the budget.
 *
 * Bodies of public routes have a separate small budget without a queue: a new body evicts the one that has been
 * arriving for the longest time, so that partial bodies cannot block others, however many there are.
 */
import { integer, type Options } from "../config/options.ts";
import { AppError, unavailable } from "../errors.ts";
import { ByteBudget } from "./byte-budget.ts";

const MIB = 1024 * 1024;

export const bodyOptions = {
  bodyMemoryMb: integer({
    env: ["HEDDLE_BODY_MEMORY_MB"],
    default: 256,
    min: 1,
    description:
      "Memory, in MiB, of a server process for the request bodies and WebSocket messages in flight, with the estimated " +
      "memory of their decoded elements. Requests " +
      "beyond it wait, then get 503. At least the size of the largest body.",
  }),
};

export type BodySettings = Options<typeof bodyOptions> & { maxBodyBytes: number };

/** Budget of all bodies of public routes. */
const PUBLIC_BYTES = 4 * MIB;
/** Time within which a public body must have arrived. */
const PUBLIC_MS = 15_000;
const WAIT_MS = 5_000;
/** Age after which a body that arrives more slowly than MIN_BODY_PACE is evicted in favour of waiting ones. */
const SLOW_AFTER_MS = 5_000;
/** Pace in bytes per second below which a body loses its memory to waiting ones. */
export const MIN_BODY_PACE = 16 * 1024;

/** Memory held by one body. */
export interface BodyReservation {
  /** Reserves bytes. Rejects when there is no room for them. */
  use(bytes: number): Promise<void>;
  /** Marks the body as complete. */
  arrived(): void;
  /** Releases the reserved bytes. */
  end(): void;
}

/** Called with the reason when a body that has not fully arrived is rejected. */
export type OnRejected = (error: AppError) => void;

interface Arriving {
  bytes: number;
  since: number;
  reject: OnRejected;
}

export class BodyGate {
  readonly budget: ByteBudget;
  readonly #arriving = new Set<Arriving>();
  /** Oldest first. */
  readonly #public = new Set<Arriving>();
  #publicBytes = 0;

  constructor({ bodyMemoryMb, maxBodyBytes }: BodySettings) {
    this.budget = new ByteBudget(Math.max(bodyMemoryMb * MIB, maxBodyBytes));
  }

  /** Bytes currently held. */
  get used(): number {
    return this.budget.used + this.#publicBytes;
  }

  /** Reserves room for an authenticated caller; rejects with 503 when there is none for some seconds. */
  async reserve(bytes: number, own = 0): Promise<void> {
    if (this.budget.take(bytes, own)) return;
    this.#cutSlow();
    if (this.budget.take(bytes, own)) return;
    const timer = setInterval(() => this.#cutSlow(), 500);
    try {
      if (!(await this.budget.wait(bytes, WAIT_MS, own))) throw noRoom();
    } finally {
      clearInterval(timer);
    }
  }

  /** Holds a body of an authenticated caller. */
  hold(reject: OnRejected): BodyReservation {
    const body: Arriving = { bytes: 0, since: performance.now(), reject };
    let ended = false;
    return {
      use: async (bytes) => {
        this.#arriving.add(body);
        await this.reserve(bytes, body.bytes);
        if (ended) this.budget.give(bytes);
        else body.bytes += bytes;
      },
      arrived: () => void this.#arriving.delete(body),
      end: () => {
        if (ended) return;
        ended = true;
        this.#arriving.delete(body);
        this.budget.give(body.bytes);
      },
    };
  }

  /** Holds a body of an unauthenticated caller. */
  holdPublic(reject: OnRejected): BodyReservation {
    const body: Arriving = { bytes: 0, since: performance.now(), reject };
    this.#public.add(body);
    const timer = setTimeout(() => {
      this.#public.delete(body);
      reject(new AppError(400, `The request body did not arrive within ${PUBLIC_MS / 1000} seconds.`));
    }, PUBLIC_MS);
    const arrived = () => {
      clearTimeout(timer);
      this.#public.delete(body);
    };
    let ended = false;
    const end = () => {
      arrived();
      if (ended) return;
      ended = true;
      this.#publicBytes -= body.bytes;
    };
    body.reject = (error) => {
      end();
      reject(error);
    };
    return {
      use: async (bytes) => {
        this.#makeRoom(bytes, body);
        if (ended) return;
        body.bytes += bytes;
        this.#publicBytes += bytes;
      },
      arrived,
      end,
    };
  }

  #makeRoom(bytes: number, except: Arriving): void {
    for (const oldest of this.#public) {
      if (this.#publicBytes + bytes <= PUBLIC_BYTES) return;
      if (oldest !== except) oldest.reject(noRoom());
    }
    if (this.#publicBytes + bytes > PUBLIC_BYTES) throw noRoom();
  }

  #cutSlow(): void {
    const now = performance.now();
    for (const body of this.#arriving) {
      const ms = now - body.since;
      if (ms < SLOW_AFTER_MS || (body.bytes * 1000) / ms >= MIN_BODY_PACE) continue;
      this.#arriving.delete(body);
      body.reject(
        unavailable("The request body arrived too slowly while other requests waited for memory. Try again.", 2),
      );
    }
  }
}

const noRoom = (): AppError => unavailable("Too many request bodies are in flight. Try again later.", 2);
