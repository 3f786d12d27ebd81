import { Counter, Gauge, type Registry } from "prom-client";

import { AppError } from "../../base/errors.ts";
import { FairQueue } from "../../base/fair-queue.ts";

/** What a request of unknown size is taken for until it has been read. */
const ASSUMED_BYTES = 1024 * 1024;
/** How much larger a compressed body is taken to become. */
const ASSUMED_RATIO = 6;
const MAX_WAITING = 1000;
const MAX_WAIT_MS = 10_000;

/**
 * Bounds the memory that bodies under way take, from the first byte to the durable row. A request reserves what
 * it is likely to need before its body is read; when that doesn't fit it waits unread, so that its sender is held
 * up by the socket; when it has waited too long, or too many wait, it is refused with 429. Tenants take turns, and one
 * of several has half of the budget. Bodies that turn out larger than thought may go up to twice the budget in all,
 * then they are refused too. Nothing of a refused request was acknowledged.
 */
export class IngestGate {
  readonly #budget: number;
  readonly #places: FairQueue;
  readonly #refused: Counter;

  constructor(budget: number, registry: Registry) {
    this.#budget = budget;
    this.#places = new FairQueue({
      capacity: budget,
      crowded: budget / 2,
      waiting: MAX_WAITING,
      waitMs: MAX_WAIT_MS,
      refuse: () => this.#overload(),
    });
    this.#refused = new Counter({
      name: "heddle_ingest_refused_total",
      help: "Ingest requests that were answered with 429 because too many bytes were under way.",
      registers: [registry],
    });
    const bytes: Gauge = new Gauge({
      name: "heddle_ingest_bytes",
      help: "Bytes of traces that were received and are not yet stored.",
      registers: [registry],
      collect: () => bytes.set(this.#places.held),
    });
  }

  /** Runs `work` with a reservation that it may enlarge. */
  async admit<T>(
    request: { length: number | undefined; compressed: boolean },
    work: (held: Held) => Promise<T>,
    tenantId = "",
  ): Promise<T> {
    const guess = (request.length ?? ASSUMED_BYTES) * (request.compressed ? ASSUMED_RATIO : 1);
    // no request alone keeps all others out: what has not come yet is a guess
    const bytes = Math.min(guess, this.#budget / 2);
    const place = await this.#places.enter(tenantId, bytes);
    const held = new Held(bytes, (more) => {
      if (this.#places.held + more > 2 * this.#budget) throw this.#overload();
      place.add(more);
    });
    held.isWanted = () => this.#places.isWaitedFor;
    try {
      return await work(held);
    } finally {
      place.leave();
    }
  }

  #overload(): AppError {
    this.#refused.inc();
    return new AppError(429, "Too many traces are being received right now. Send this again later.", {
      headers: { "Retry-After": "2" },
    });
  }
}

/** What one request holds of the budget. */
export class Held {
  bytes: number;
  /** Whether others wait for room. */
  isWanted: () => boolean = () => false;
  readonly #more: (bytes: number) => void;
  #used = 0;

  constructor(bytes: number, more: (bytes: number) => void) {
    this.bytes = bytes;
    this.#more = more;
  }

  /** Tells of bytes that are now in memory. @throws 429 when the budget doesn't allow them */
  use(bytes: number): void {
    this.#used += bytes;
    if (this.#used <= this.bytes) return;
    const more = this.#used - this.bytes;
    this.#more(more);
    this.bytes += more;
  }
}
