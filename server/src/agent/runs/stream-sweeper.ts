import type { Sql } from "../../base/db/connect.ts";
import { isDatabaseAway } from "../../base/db/retry.ts";
import { sseFrame } from "../../base/events/sse.ts";
import type { Log } from "../../base/log.ts";
import { appendFrames, selectRunError, selectUnendedStreams, sweepStreams } from "./stream-sql.ts";

const SWEEP_MS = 5000;

/**
 * Removes kept streams when their time to live is over, and ends those whose writer died after the run's end and
 * before theirs. Every server does; twice does no harm.
 */
export class StreamSweeper {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #ttlSecs: number;
  readonly #timer: NodeJS.Timeout;
  #sweeping = false;

  constructor(sql: Sql, log: Log, ttlSecs: number) {
    this.#sql = sql;
    this.#log = log;
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
      await this.#endUnended();
      await sweepStreams(this.#sql, this.#ttlSecs);
    } catch (error) {
      if (!isDatabaseAway(error)) this.#log.error({ err: error }, "kept streams could not be swept");
    } finally {
      this.#sweeping = false;
    }
  }

  async #endUnended(): Promise<void> {
    for (const stream of await selectUnendedStreams(this.#sql)) {
      const { run_id: runId, thread_id: threadId, attempt, frames: first, status } = stream;
      // readers of a failed run expect its error as the last frame
      const error = status === "error" || status === "timeout" ? await selectRunError(this.#sql, runId) : null;
      const frames = error && first > 0 ? sseFrame(first, "error", error).toString() : "";
      const count = frames === "" ? 0 : 1;
      await appendFrames(this.#sql, [{ runId, threadId, attempt, first, count, frames, status, notify: true }]);
    }
  }
}
