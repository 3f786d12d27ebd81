import { setTimeout as sleep } from "node:timers/promises";

import type postgres from "postgres";

import { faultPoint } from "../fault-points.ts";
import { DatabaseAwayError, FencedError, HeadMovedError, isPassingError } from "./errors.ts";
import { type Finished, itemBytes, type WriteItem } from "./rows.ts";
import { StatementBuilder } from "./write-statement.ts";

/**
 * Writes what concurrent runs hand it over one connection, first come first written. While a statement is
 * in flight the next one gathers, so that many runs share one round trip and one flush of the log to disk,
 * and a promise resolves when its item is committed. Because there is one connection, an item that is
 * committed implies that all items before it are.
 *
 * A lazy item does not cause a statement of its own: it goes with the next one, after `LAZY_MS` at the latest.
 * So does an item that was relaxed before it was sent.
 */
export class GroupCommit {
  #sql: postgres.Sql;
  #maxBytes: number;
  #awayMs: number;
  #lazyMs: number;
  #queue: Queued[] = [];
  #busy = false;
  #scheduled = false;
  #later: NodeJS.Timeout | undefined;
  #awaySince: number | undefined;

  /** `sql` must have one connection. `awayMs`: how long the database may be away before items are rejected. */
  constructor(sql: postgres.Sql, options: { maxBytes?: number; awayMs?: number; lazyMs?: number } = {}) {
    this.#sql = sql;
    this.#maxBytes = options.maxBytes ?? 8 * 1024 * 1024;
    this.#awayMs = options.awayMs ?? 60_000;
    this.#lazyMs = options.lazyMs ?? LAZY_MS;
  }

  /** Rejects with FencedError, DatabaseAwayError, or the database's own error. What an item that ends its run came to is the answer. */
  write(item: WriteItem, lazy = false): Promise<Finished | undefined> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject, urgent: !lazy });
      if (!lazy) this.#schedule();
      else if (!this.#busy) this.#wait();
    });
  }

  /** Sends what is queued in this turn of the event loop, lazy or not. */
  hurry(): void {
    for (const queued of this.#queue) queued.urgent = true;
    this.#schedule();
  }

  /** Nobody waits for these any more, as far as they are not sent yet. */
  relax(items: ReadonlySet<WriteItem>): void {
    for (const queued of this.#queue) if (items.has(queued.item)) queued.urgent = false;
  }

  get #urgent(): boolean {
    return this.#queue.some((queued) => queued.urgent);
  }

  #schedule(): void {
    // setImmediate: the writes of a step and its checkpoint are handed over in one turn
    if (this.#busy || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#run());
  }

  #wait(): void {
    this.#later ??= setTimeout(() => this.hurry(), this.#lazyMs);
  }

  async #run(): Promise<void> {
    this.#busy = true;
    this.#scheduled = false;
    clearTimeout(this.#later);
    this.#later = undefined;
    while (this.#urgent) await this.#commit(this.#nextBatch());
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
    let answer: Answer;
    try {
      answer = await this.#send(builder);
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
      if (!builder.wasFenced(item, answer.held)) resolve(item.finish && answer.ends.get(builder.fenceNumber(item)));
      // sent twice, and the first time may have ended the run: whether it did is in the run's row
      else if (answer.retried && builder.endsRunOf(item)) resolve(item.finish && { outcome: "lost", waiting: false });
      else if (item.guard) reject(new HeadMovedError(item.guard.threadId));
      else reject(new FencedError(item.fence!.runId, item.fence!.attempt));
    }
  }

  /** Sends a statement, again and again while the database is away: nothing changes when it is written twice. */
  async #send(builder: StatementBuilder): Promise<Answer> {
    const { statement } = builder;
    const parameters = builder.parameters();
    let retried = false;
    const began = performance.now();
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      try {
        faultPoint("before-checkpoint");
        const rows = await this.#sql.unsafe<AnswerRow[]>(statement, parameters, { prepare: true });
        faultPoint("after-checkpoint");
        this.#awaySince = undefined;
        const held = rows.filter((row) => row.finished === null).map((row) => row.n);
        const ends = rows.filter((row) => row.finished !== null);
        return {
          held: new Set(held),
          ends: new Map(ends.map(({ finished, outcome, waiting }) => [finished!, { outcome, waiting }])),
          retried,
        };
      } catch (error) {
        if (!isPassingError(error)) throw error;
        retried = true;
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
  resolve: (finished: Finished | undefined) => void;
  reject: (error: unknown) => void;
  /** Somebody waits for it. */
  urgent: boolean;
}

/** `n`: a fence that held. `finished`: the fence of a run that was ended, and how. */
type AnswerRow = { n: number; finished: number | null } & Finished;

interface Answer {
  held: ReadonlySet<number>;
  ends: ReadonlyMap<number, Finished>;
  /** Whether it had to be sent more than once. */
  retried: boolean;
}

interface Batch {
  builder: StatementBuilder;
  queued: Queued[];
}
