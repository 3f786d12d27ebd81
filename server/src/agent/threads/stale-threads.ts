import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { postponeStale, selectStaleThreads, unmarkStale } from "./sql.ts";
import { UPDATE_TIMEOUT_MS } from "./update-state.ts";

const SWEEP_MS = 5000;
/** Time within which the server that requested the update writes the thread's row itself, if it can. */
const OWN_MS = UPDATE_TIMEOUT_MS + 1000;

interface StaleThreadsOptions {
  sql: Sql;
  log: Log;
  /** Updates a thread's row from its checkpoints. */
  refresh(threadId: string): Promise<void>;
  ageMs?: number;
}

/**
 * Refreshes the rows of threads whose state was updated while the server, its host or the database failed before the
 * row was written. Every server does so; doing it twice does no harm.
 */
export class StaleThreads {
  readonly #o: StaleThreadsOptions;
  readonly #failure: RepeatedFailure;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;

  constructor(options: StaleThreadsOptions) {
    this.#o = options;
    this.#failure = new RepeatedFailure({ log: options.log, message: "could not update stale threads" });
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
          // a thread whose graph does not load must not block the others
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
