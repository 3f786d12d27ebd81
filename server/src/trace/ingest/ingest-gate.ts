import { setImmediate as nextTurn } from "node:timers/promises";

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import { deferred } from "../../base/deferred.ts";
import { AppError } from "../../base/errors.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import type { FairShare } from "../../base/fair-share.ts";

/** Assumed size of a request of unknown length until it has been read. */
const ASSUMED_BYTES = 1024 * 1024;
/** Assumed expansion of a compressed body. */
const ASSUMED_RATIO = 6;
/**
 * Size of a body from which only one is decoded and stored at a time. In all of its forms (text, values, rows, the
 * engine's columns) a body takes up to ten times its size for a moment, and several at once take no less time.
 */
const LARGE_BYTES = 4 * 1024 * 1024;
/** Memory of a smaller body's decoded elements from which it is treated in the same way. */
const LARGE_WEIGHT = 16 * 1024 * 1024;
/** Expected size from which bodies are read one at a time, because each is held in memory as a whole. */
const HUGE_BYTES = 16 * 1024 * 1024;
/** Storing such a body takes up to a second, and clients may send several at once. */
const MAX_HUGE_WAIT_MS = 30_000;
/**
 * Weight of a byte, for elements when they are decoded: up to three in traces of LangGraph. The budget counts bytes, and
 * is chosen for what they usually take in memory.
 */
const USUAL_WEIGHT = 4;
const MAX_WAITING = 1000;
const MAX_WAIT_MS = 10_000;

/**
 * Bounds the memory of request bodies in progress, from the first byte to the durable row, with what their structure
 * will take when it is decoded (base/json-structure.ts), which is counted as they arrive. A request reserves its
 * expected need before its body is read. If that does not fit, it waits unread, so that the socket applies
 * back-pressure; after too long a wait, or with too many waiting, it is rejected with 429. Tenants take turns, and one
 * of several gets at most half of the budget. Bodies larger than expected may use up to twice the budget in total, then
 * they are rejected too. No data of a rejected request was acknowledged.
 *
 * A body of 4 MiB or more, decompressed, is decoded when the one before it is stored and `afterLarge` has been called.
 * A body with an expected size of 16 MiB or more is not read before then.
 *
 * Decoding a body occupies the process for milliseconds. Bodies of tenants above their share are decoded one at a time,
 * each after a pause for the queries of other tenants.
 */
export class IngestGate {
  readonly #budget: number;
  readonly #queue: FairQueue;
  readonly #huge: FairQueue;
  readonly #rejected: Counter;
  readonly #durations: Histogram;
  /** Units held by bodies for their elements, which reject nothing that is in progress. */
  #dense = 0;
  /** Arrival times of the requests in progress, oldest first. */
  readonly #arrivals = new Set<{ at: number }>();
  readonly #share: FairShare | undefined;
  readonly #afterLarge: (bytes: number) => void;
  /** Resolves when the last body that waits for its decoding may start; never rejects. */
  #decoding: Promise<unknown> = Promise.resolve();
  /** Resolves when the last large body is stored; never rejects. */
  #large: Promise<unknown> = Promise.resolve();

  constructor(budget: number, registry: Registry, share?: FairShare, afterLarge: (bytes: number) => void = () => {}) {
    this.#afterLarge = afterLarge;
    this.#budget = budget;
    this.#share = share;
    this.#queue = new FairQueue({
      capacity: budget,
      crowded: budget / 2,
      waiting: MAX_WAITING,
      waitMs: MAX_WAIT_MS,
      reject: () => this.#overload(),
    });
    this.#huge = new FairQueue({
      capacity: 1,
      crowded: 1,
      waiting: MAX_WAITING,
      waitMs: MAX_HUGE_WAIT_MS,
      reject: () => this.#overload(),
    });
    this.#rejected = new Counter({
      name: "heddle_ingest_refused_total",
      help: "Ingest requests that got 429 because too many bytes were in flight.",
      registers: [registry],
    });
    const bytes: Gauge = new Gauge({
      name: "heddle_ingest_bytes",
      help: "Bytes of traces that were received but are not stored yet.",
      registers: [registry],
      collect: () => bytes.set(this.#queue.held - this.#dense),
    });
    this.#durations = new Histogram({
      name: "heddle_ingest_request_duration_seconds",
      help: "Time from the arrival of traces until they were durable and visible to queries.",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    });
    const oldest: Gauge = new Gauge({
      name: "heddle_ingest_oldest_seconds",
      help: "Age of the oldest request whose traces are not stored yet; 0 without one.",
      registers: [registry],
      collect: () => {
        const [first] = this.#arrivals;
        oldest.set(first ? (performance.now() - first.at) / 1000 : 0);
      },
    });
  }

  /** Runs `work` with a reservation, which it may enlarge. */
  async admit<T>(
    request: { length: number | undefined; compressed: boolean },
    work: (reservation: Reservation) => Promise<T>,
    tenantId = "",
  ): Promise<T> {
    const arrival = { at: performance.now() };
    this.#arrivals.add(arrival);
    try {
      const admitted = () => this.#admit(request, work, tenantId);
      const isHuge = expectedBytes(request) >= HUGE_BYTES;
      const result = await (isHuge ? this.#huge.run(tenantId, 1, admitted) : admitted());
      this.#durations.observe((performance.now() - arrival.at) / 1000);
      return result;
    } finally {
      this.#arrivals.delete(arrival);
    }
  }

  async #admit<T>(
    request: { length: number | undefined; compressed: boolean },
    work: (reservation: Reservation) => Promise<T>,
    tenantId: string,
  ): Promise<T> {
    // the size is a guess, so a single request may not exclude all others
    const bytes = Math.min(expectedBytes(request), this.#budget / 2);
    const slot = await this.#queue.enter(tenantId, bytes);
    let dense = 0;
    const reservation = new Reservation(bytes, {
      more: (bytes) => {
        if (this.#queue.held - this.#dense + bytes > 2 * this.#budget) throw this.#overload();
        slot.add(bytes);
      },
      dense: (bytes) => {
        slot.add(bytes);
        dense += bytes;
        this.#dense += bytes;
      },
    });
    reservation.isWanted = () => this.#queue.isWaitedFor || this.#huge.isWaitedFor;
    let stored = deferred<void>();
    reservation.turnToDecode = async () => {
      if (isLarge(reservation)) {
        const previous = this.#large;
        this.#large = stored.promise;
        await previous;
      }
      await this.#turnToDecode(tenantId);
    };
    const endTurn = () => {
      if (isLarge(reservation)) this.#afterLarge(reservation.used + reservation.weight);
      stored.resolve();
      stored = deferred();
    };
    reservation.endTurn = endTurn;
    try {
      return await work(reservation);
    } finally {
      endTurn();
      this.#dense -= dense;
      slot.leave();
    }
  }

  async #turnToDecode(tenantId: string): Promise<void> {
    const share = this.#share;
    const isAbove = () => share?.isAboveShare(tenantId) ?? false;
    if (!isAbove()) return;
    const turn = this.#decoding.then(() => share!.yieldToOthers(() => !isAbove())).then(() => nextTurn());
    this.#decoding = turn.catch(() => {});
    await turn;
  }

  #overload(): AppError {
    this.#rejected.inc();
    return new AppError(429, "Too many traces are being received. Try again later.", {
      headers: { "Retry-After": "2" },
    });
  }
}

const isLarge = ({ used, weight }: Reservation): boolean => used >= LARGE_BYTES || weight >= LARGE_WEIGHT;

const expectedBytes = ({ length = ASSUMED_BYTES, compressed }: { length: number | undefined; compressed: boolean }) =>
  length * (compressed ? ASSUMED_RATIO : 1);

/** Memory reserved for a request. */
export class Reservation {
  bytes: number;
  /** Whether other requests are waiting for room. */
  isWanted: () => boolean = () => false;
  /** Resolves when the body, which has been read, may be decoded. */
  turnToDecode: () => Promise<void> = () => Promise.resolve();
  /** Lets other bodies be decoded before the rest of this one, which has not been read. */
  endTurn: () => void = () => {};
  readonly #grow: { more: (bytes: number) => void; dense: (bytes: number) => void };
  #used = 0;
  #weight = 0;
  #dense = 0;

  constructor(bytes: number, grow: { more: (bytes: number) => void; dense: (bytes: number) => void }) {
    this.bytes = bytes;
    this.#grow = grow;
  }

  /** Bytes read so far, decompressed. */
  get used(): number {
    return this.#used;
  }

  /** Accounts for bytes now in memory. @throws 429 when the budget does not allow them */
  use(bytes: number): void {
    this.#used += bytes;
    if (this.#used <= this.bytes) return;
    const more = this.#used - this.bytes;
    this.#grow.more(more);
    this.bytes += more;
  }

  /** Accounts for bytes that are still in memory, after the others were stored. What was reserved stays so. */
  keep(bytes: number): void {
    this.#used = bytes;
    this.#weight = 0;
  }

  /** Estimated memory of the body's elements when it is decoded, besides its bytes. */
  get weight(): number {
    return this.#weight;
  }

  /**
   * Accounts for elements and runs that are more than a body of its size usually has. Keeps further requests waiting, but
   * rejects none.
   */
  weigh(total: number): void {
    this.#weight = total;
    const dense = Math.max(0, total / USUAL_WEIGHT - Math.max(this.#used, this.bytes));
    if (dense <= this.#dense) return;
    this.#grow.dense(dense - this.#dense);
    this.#dense = dense;
  }
}
