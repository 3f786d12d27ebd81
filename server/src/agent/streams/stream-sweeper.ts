import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { endKeptStream } from "./end-kept-stream.ts";
import { selectUnendedStreams, sweepStreams } from "./sql.ts";

const SWEEP_MS = 5000;

/**
 * Deletes kept streams past their time to live, and ends those whose writer died between the run's end and theirs.
 * Every server does so; doing it twice does no harm.
 */
export class StreamSweeper {
  readonly #sql: Sql;
  readonly #failure: RepeatedFailure;
  readonly #ttlSecs: number;
  readonly #timer: NodeJS.Timeout;
  #sweeping = false;

  constructor(sql: Sql, log: Log, ttlSecs: number) {
    this.#sql = sql;
    this.#failure = new RepeatedFailure({ log, message: "could not sweep stored streams" });
    this.#ttlSecs = ttlSecs;
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async sweep(): Promise<void> {
    if (this.#sweeping) return;
    this.#sweeping = true;
    try {
      for (const stream of await selectUnendedStreams(this.#sql)) await endKeptStream(this.#sql, stream);
      await sweepStreams(this.#sql, this.#ttlSecs);
      this.#failure.succeeded();
    } catch (error) {
      this.#failure.failed(error);
    } finally {
      this.#sweeping = false;
    }
  }
}
