import { setTimeout as sleep } from "node:timers/promises";

import type postgres from "postgres";

import { faultPoint } from "../fault-points.ts";
import { DatabaseAwayError, FencedError, isPassingError } from "./errors.ts";
import { itemBytes, type WriteItem } from "./rows.ts";
import { StatementBuilder, WRITE_STATEMENT } from "./write-statement.ts";

/**
 * Writes what concurrent runs hand it over one connection, first come first written. While a statement is
 * in flight the next one gathers, so that many runs share one round trip and one flush of the log to disk,
 * and a promise resolves when its item is committed. Because there is one connection, an item that is
 * committed implies that all items before it are.
 *
 * A lazy item does not cause a statement of its own: it goes with the next one, after `LAZY_MS` at the latest.
 */
export class GroupCommit {
  #sql: postgres.Sql;
  #maxBytes: number;
  #awayMs: number;
  #queue: Queued[] = [];
  #busy = false;
  #urgent = false;
  #scheduled = false;
  #later: NodeJS.Timeout | undefined;
  #awaySince: number | undefined;

  /** `sql` must have one connection. `awayMs`: how long the database may be away before items are rejected. */
  constructor(sql: postgres.Sql, options: { maxBytes?: number; awayMs?: number } = {}) {
    this.#sql = sql;
    this.#maxBytes = options.maxBytes ?? 8 * 1024 * 1024;
    this.#awayMs = options.awayMs ?? 60_000;
  }

  /** Rejects with FencedError, DatabaseAwayError, or the database's own error. */
  write(item: WriteItem, lazy = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject });
      if (!lazy) this.hurry();
      else if (!this.#busy) this.#wait();
    });
  }

  /** Sends what is queued in this turn of the event loop, lazy or not. */
  hurry(): void {
    this.#urgent = true;
    // setImmediate: the writes of a step and its checkpoint are handed over in one turn
    if (this.#busy || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#run());
  }

  #wait(): void {
    this.#later ??= setTimeout(() => this.hurry(), LAZY_MS);
  }

  async #run(): Promise<void> {
    this.#busy = true;
    this.#scheduled = false;
    clearTimeout(this.#later);
    this.#later = undefined;
    while (this.#urgent && this.#queue.length > 0) {
      const batch = this.#nextBatch();
      this.#urgent = this.#queue.length > 0;
      await this.#commit(batch);
    }
    this.#busy = false;
    if (this.#queue.length > 0) this.#wait();
  }

  #nextBatch(): Batch {
    const builder = new StatementBuilder();
    let bytes = 0;
    let taken = 0;
    for (const { item } of this.#queue) {
      bytes += itemBytes(item);
      if ((taken > 0 && bytes > this.#maxBytes) || !builder.add(item)) break;
      taken += 1;
    }
    return { builder, queued: this.#queue.splice(0, taken) };
  }

  async #commit({ builder, queued }: Batch): Promise<void> {
    let held: ReadonlySet<number>;
    try {
      held = await this.#send(builder);
    } catch (error) {
      if (queued.length === 1 || error instanceof DatabaseAwayError) {
        for (const { reject } of queued) reject(error);
        return;
      }
      // one of them is refused by the database: each for itself, so that only that one fails
      for (const one of queued) {
        const alone = new StatementBuilder();
        alone.add(one.item);
        await this.#commit({ builder: alone, queued: [one] });
      }
      return;
    }
    for (const { item, resolve, reject } of queued) {
      if (builder.wasFenced(item, held)) reject(new FencedError(item.fence!.runId, item.fence!.attempt));
      else resolve();
    }
  }

  /** Sends a statement, again and again while the database is away: nothing changes when it is written twice. */
  async #send(builder: StatementBuilder): Promise<ReadonlySet<number>> {
    const parameters = builder.parameters();
    const began = performance.now();
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      try {
        faultPoint("before-checkpoint");
        const rows = await this.#sql.unsafe<{ n: number }[]>(WRITE_STATEMENT, parameters, { prepare: true });
        faultPoint("after-checkpoint");
        this.#awaySince = undefined;
        return new Set(rows.map((row) => row.n));
      } catch (error) {
        if (!isPassingError(error)) throw error;
        this.#awaySince ??= performance.now();
        const away = performance.now() - this.#awaySince;
        // an absence that was noticed long ago may be over: the first error may be the old connection's farewell
        const tried = performance.now() - began;
        if (away >= this.#awayMs && tried >= Math.min(this.#awayMs, OWN_TRY_MS))
          throw new DatabaseAwayError(away, error);
        await sleep(pause);
      }
    }
  }
}

const LAZY_MS = 10;
/** Each statement is tried for at least this long, however long the database has been away before. */
const OWN_TRY_MS = 500;

interface Queued {
  item: WriteItem;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface Batch {
  builder: StatementBuilder;
  queued: Queued[];
}
