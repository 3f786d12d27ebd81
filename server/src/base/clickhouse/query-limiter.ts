import { unavailable } from "../errors.ts";
import { FairQueue } from "../fair-queue.ts";

export interface QueryLimits {
  /** Time limit of a query in the engine, in seconds. */
  seconds: number;
  /** Concurrent queries of a process. */
  atOnce: number;
  /** Most queries in the queue, and their longest wait. */
  waiting?: number;
  waitMs?: number;
}

/**
 * Limits callers' queries, so that fifty of them leave a connection for the look-ups of ingest, and processors for its
 * writes. Tenants take turns, and while several are active, each may use half of the slots. Queries beyond the queue,
 * or waiting too long, are rejected before any work was done.
 */
export class QueryLimiter {
  readonly seconds: number;
  readonly #queue: FairQueue;

  constructor({ seconds, atOnce, waiting = 100, waitMs = 30_000 }: QueryLimits) {
    this.seconds = seconds;
    const crowded = Math.max(1, Math.floor(atOnce / 2));
    this.#queue = new FairQueue({ capacity: atOnce, crowded, waiting, waitMs, reject: busy });
  }

  /** @throws 503 with Retry-After when it gets no slot in time */
  run<T>(query: () => Promise<T>, tenantId = ""): Promise<T> {
    return this.#queue.run(query, tenantId);
  }
}

const busy = () => unavailable("Too many queries are running. Try again later.", 5);
