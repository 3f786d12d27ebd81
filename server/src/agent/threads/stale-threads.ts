import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
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
  readonly #poller: Poller;

  constructor(options: StaleThreadsOptions) {
    this.#o = options;
    const failing = "could not update stale threads";
    this.#poller = new Poller({ pass: () => this.sweep(), everyMs: SWEEP_MS, log: options.log, failing });
  }

  start(): void {
    this.#poller.start(SWEEP_MS);
  }

  /** Resolves when the current sweep has ended. */
  stop(): Promise<void> {
    return this.#poller.stop();
  }

  /** Rejects with the last failure after all threads have been tried. */
  async sweep(): Promise<void> {
    const { sql, refresh, ageMs = OWN_MS } = this.#o;
    const failures: unknown[] = [];
    for (const thread of await selectStaleThreads(sql, ageMs)) {
      try {
        await refresh(thread.thread_id);
        await unmarkStale(sql, thread);
      } catch (error) {
        // a thread whose graph does not load must not block the others
        failures.push(error);
        await postponeStale(sql, thread);
      }
    }
    if (failures.length > 0) throw failures.at(-1);
  }
}
