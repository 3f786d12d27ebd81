import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { postponeStale, selectStaleThreads, unmarkStale } from "./sql.ts";
import { UPDATE_TIMEOUT_MS } from "./update-state.ts";

const SWEEP_MS = 5000;
/** The server that has asked for the update writes the thread's row within this, if it can. */
const OWN_MS = UPDATE_TIMEOUT_MS + 1000;

interface StaleThreadsOptions {
  sql: Sql;
  log: Log;
  /** Sets a thread's row to what its checkpoints say. */
  refresh(threadId: string): Promise<void>;
  ageMs?: number;
}

/**
 * Brings the rows of threads up to date whose state was updated while the server, its host or the database went away
 * before the row was written. Every server does; twice does no harm.
 */
export class StaleThreads {
  readonly #o: StaleThreadsOptions;
  readonly #failure: RepeatedFailure;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;

  constructor(options: StaleThreadsOptions) {
    this.#o = options;
    this.#failure = new RepeatedFailure({ log: options.log, message: "threads could not be brought up to date" });
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { sql, refresh, ageMs = OWN_MS } = this.#o;
    try {
      let failure: unknown;
      for (const thread of await selectStaleThreads(sql, ageMs)) {
        try {
          await refresh(thread.thread_id);
          await unmarkStale(sql, thread);
        } catch (error) {
          // a thread whose graph does not load must not hold up the others
          failure = error;
          await postponeStale(sql, thread);
        }
      }
      if (failure === undefined) this.#failure.succeeded();
      else this.#failure.failed(failure);
    } catch (error) {
      this.#failure.failed(error);
    }
  }
}
