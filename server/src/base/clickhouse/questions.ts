import { unavailable } from "../errors.ts";
import { FairQueue } from "../fair-queue.ts";

export interface QuestionLimits {
  /** How long the engine works on one; then it stops. */
  seconds: number;
  /** Of a process, at once. */
  atOnce: number;
  /** How many may wait for their turn, and for how long. */
  waiting?: number;
  waitMs?: number;
}

/**
 * Bounds what callers ask of the store, so that fifty of them leave a connection for what ingest looks up, and
 * processors for what it writes. Tenants take turns, and while several are active one of them has half of the places;
 * those that are too many, or wait for too long, are sent away before anything was done for them.
 */
export class Questions {
  readonly seconds: number;
  readonly #places: FairQueue;

  constructor({ seconds, atOnce, waiting = 100, waitMs = 30_000 }: QuestionLimits) {
    this.seconds = seconds;
    const crowded = Math.max(1, Math.floor(atOnce / 2));
    this.#places = new FairQueue({ capacity: atOnce, crowded, waiting, waitMs, refuse: busy });
  }

  /** @throws 503 with Retry-After when its turn does not come */
  ask<T>(question: () => Promise<T>, tenantId = ""): Promise<T> {
    return this.#places.run(tenantId, 1, question);
  }
}

const busy = () => unavailable("Too many queries are under way. Try again later.", 5);
