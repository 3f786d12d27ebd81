import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { touchKeys } from "./sql.ts";

const WRITE_AFTER_MS = 5_000;

/** Collects when keys were used and persists it some seconds later, in one write for all requests. */
export class LastUsed {
  readonly #sql: Sql;
  readonly #log: Log;
  #uses = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
  }

  note(keyId: string): void {
    this.#uses.set(keyId, Date.now());
    this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS).unref();
  }

  /** Flushes the remaining entries. */
  async stop(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#uses.size === 0) return;
    // sorted, so that concurrent writers of the same keys cannot deadlock
    const uses = [...this.#uses].map(([id, at]) => ({ id, at })).sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#uses = new Map();
    this.#writing = this.#writing
      .then(() => touchKeys(this.#sql, uses))
      .catch((error: unknown) => this.#log.warn({ err: error }, "could not store when keys were last used"));
  }
}
