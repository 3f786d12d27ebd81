import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { endAbandonedStream } from "./end-abandoned-stream.ts";
import { selectUnendedStreams, sweepStreams } from "./sql.ts";

const SWEEP_MS = 5000;

/**
 * Deletes stored streams past their time to live, and ends those whose writer died between the run's end and theirs.
 * Every server does so; doing it twice does no harm.
 */
export class StreamSweeper {
  readonly #sql: Sql;
  readonly #ttlSecs: number;
  readonly #poller: Poller;

  constructor(sql: Sql, log: Log, ttlSecs: number) {
    this.#sql = sql;
    this.#ttlSecs = ttlSecs;
    const failing = "could not sweep stored streams";
    this.#poller = new Poller({ pass: () => this.sweep(), everyMs: SWEEP_MS, log, failing });
  }

  start(): void {
    this.#poller.start(SWEEP_MS);
  }

  /** Resolves when the current sweep has ended. */
  stop(): Promise<void> {
    return this.#poller.stop();
  }

  async sweep(): Promise<void> {
    for (const stream of await selectUnendedStreams(this.#sql)) await endAbandonedStream(this.#sql, stream);
    await sweepStreams(this.#sql, this.#ttlSecs);
  }
}
