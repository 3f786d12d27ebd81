import { setTimeout as sleep } from "node:timers/promises";

import type postgres from "postgres";

import type { StateCipher } from "../../../host-kit/src/state-cipher.ts";
import { faultPoint } from "../fault-points.ts";
import { DatabaseAwayError, FencedError, HeadMovedError, isPassingError } from "./errors.ts";
import { dropLargeBody, sendLargeBody } from "./large-values.ts";
import { type Finished, itemBytes, type WriteItem } from "./rows.ts";
import { StatementBuilder } from "./write-statement.ts";

/**
 * Writes the items of concurrent runs over one connection, in order of arrival. While a statement is in flight the next
 * batch gathers, so that many runs share one round trip and one flush of the WAL. A promise resolves when its item is
 * committed. Because there is one connection, a committed item implies that all items before it are committed.
 *
 * A lazy item does not trigger a statement: it joins the next one, after `LAZY_MS` at the latest. So does an item that
 * was relaxed before it was sent.
 */
export class CheckpointWriter {
  #sql: postgres.Sql;
  #maxBytes: number;
  #awayMs: number;
  #lazyMs: number;
  /** Encrypts what is written; undefined: nothing is encrypted. */
  cipher: StateCipher | undefined;
  #queue: Queued[] = [];
  #busy = false;
  #scheduled = false;
  #later: NodeJS.Timeout | undefined;
  #awaySince: number | undefined;

  /** `sql` must have one connection. `awayMs`: how long the database may be unreachable before items are rejected. */
  constructor(sql: postgres.Sql, options: { maxBytes?: number; awayMs?: number; lazyMs?: number } = {}) {
    this.#sql = sql;
    this.#maxBytes = options.maxBytes ?? 8 * 1024 * 1024;
    this.#awayMs = options.awayMs ?? 60_000;
    this.#lazyMs = options.lazyMs ?? LAZY_MS;
  }

  /**
   * Resolves with the outcome of an item that ends its run. Rejects with FencedError, DatabaseAwayError, or the
   * database's own error.
   */
  write(item: WriteItem, lazy = false): Promise<Finished | undefined> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject, urgent: !lazy });
      this.#schedule();
    });
  }

  /** Sends queued items in this turn of the event loop, lazy or not. */
  hurry(): void {
    for (const queued of this.#queue) queued.urgent = true;
    this.#schedule();
  }

  /** Marks unsent items as lazy: no caller waits for them any more. */
  relax(items: ReadonlySet<WriteItem>): void {
    for (const queued of this.#queue) if (items.has(queued.item)) queued.urgent = false;
  }

  get #urgent(): boolean {
    return this.#queue.some((queued) => queued.urgent);
  }

  #schedule(): void {
    // setImmediate: a step's writes and its checkpoint arrive in one turn, and often an urgent item after lazy ones
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
    while (this.#urgent) {
      clearTimeout(this.#later);
      this.#later = undefined;
      const batch = this.#nextBatch();
      if (batch.queued.length > 0) await this.#commit(batch);
    }
    this.#busy = false;
    if (this.#queue.length > 0) this.#wait();
  }

  /** Takes the items that fit into the next statement. Rejects an item that cannot be encoded. */
  #nextBatch(): Batch {
    const builder = new StatementBuilder(this.cipher);
    let bytes = 0;
    let count = 0;
    for (const { item, reject } of this.#queue) {
      try {
        bytes += itemBytes(item);
        if ((count > 0 && bytes > this.#maxBytes) || !builder.add(item)) break;
      } catch (error) {
        // from the start, because the builder may contain a part of the item
        this.#queue.splice(count, 1);
        reject(error);
        return this.#nextBatch();
      }
      count += 1;
    }
    return { builder, queued: this.#queue.splice(0, count) };
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
      // the database rejects one of them: send each separately, so that only that one fails
      for (const item of queued) {
        const alone = new StatementBuilder(this.cipher);
        alone.add(item.item);
        await this.#commit({ builder: alone, queued: [item] });
      }
      return;
    }
    for (const { item, resolve, reject } of queued) {
      if (!builder.wasFenced(item, answer.held)) resolve(item.finish && answer.ends.get(builder.fenceNumber(item)));
      // Sent twice, and the first time may have ended the run: whether it did is in the run's row
      else if (answer.retried && builder.endsRun(item)) resolve(item.finish && { outcome: "lost", waiting: false });
      else if (item.guard) reject(new HeadMovedError(item.guard.threadId));
      else reject(new FencedError(item.fence!.runId, item.fence!.attempt));
    }
  }

  /** Sends a statement, retrying while the database is unreachable: writes are idempotent. */
  async #send(builder: StatementBuilder): Promise<Answer> {
    const { text, parameters, largeBody } = builder.build();
    let retried = false;
    const startedAt = performance.now();
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      try {
        if (largeBody) await sendLargeBody(this.#sql, largeBody);
        faultPoint("before-checkpoint");
        // a plan is not kept for a table that is dropped
        const rows = await this.#sql.unsafe<AnswerRow[]>(text, [...parameters], { prepare: !largeBody });
        faultPoint("after-checkpoint");
        if (largeBody) void dropLargeBody(this.#sql).catch(() => {});
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
        // a long-known outage may be over: the first error may belong to the old connection
        const tried = performance.now() - startedAt;
        if (away >= this.#awayMs && tried >= Math.min(this.#awayMs, OWN_TRY_MS))
          throw new DatabaseAwayError(away, error);
        await sleep(pause);
      }
    }
  }
}

const LAZY_MS = 10;
/** Minimum time for which each statement is tried, however long the database has been unreachable before. */
const OWN_TRY_MS = 500;

interface Queued {
  item: WriteItem;
  resolve: (finished: Finished | undefined) => void;
  reject: (error: unknown) => void;
  /** A caller waits for it. */
  urgent: boolean;
}

/** `n`: a fence that held. `finished`: the fence of a run that was ended, with its outcome. */
type AnswerRow = { n: number; finished: number | null } & Finished;

interface Answer {
  held: ReadonlySet<number>;
  ends: ReadonlyMap<number, Finished>;
  /** Whether the statement was sent more than once. */
  retried: boolean;
}

interface Batch {
  builder: StatementBuilder;
  queued: Queued[];
}
