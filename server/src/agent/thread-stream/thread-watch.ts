import type { Sql } from "../../base/db/connect.ts";
import { deferred, type Deferred } from "../../base/deferred.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { selectThreadSigns, type ThreadVersion } from "./sql.ts";

const POLL_MS = 500;

interface Watched {
  /** Undefined when the thread has been deleted. */
  sign: ThreadVersion | undefined;
  changed: Deferred<void>;
  readers: number;
}

/**
 * Notifies readers when a run starts on a thread or its state changes, on any server: one query for all watched
 * threads, twice a second, and at once for runs that start here.
 */
export class ThreadWatch {
  readonly #sql: Sql;
  readonly #poller: Poller;
  #threads = new Map<string, Watched>();

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    const failing = "could not watch threads";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: POLL_MS, log, failing });
    this.#poller.start(POLL_MS);
  }

  /** Ends all waiting readers. */
  stop(): Promise<void> {
    const all = [...this.#threads.values()];
    this.#threads.clear();
    for (const watched of all) wake(watched);
    return this.#poller.stop();
  }

  /** Resolves with the thread's sign once it differs from `known`; undefined when the thread has been deleted. */
  async next(threadId: string, known: ThreadVersion, signal: AbortSignal): Promise<ThreadVersion | undefined> {
    let watched = this.#threads.get(threadId);
    if (!watched) {
      watched = { sign: known, changed: deferred(), readers: 0 };
      this.#threads.set(threadId, watched);
    }
    watched.readers += 1;
    this.#poller.wake(POLL_MS);
    const leave = () => wake(watched);
    signal.addEventListener("abort", leave);
    try {
      while (!signal.aborted && watched.sign && same(watched.sign, known) && this.#threads.get(threadId) === watched) {
        await watched.changed.promise;
      }
      return this.#threads.get(threadId) === watched ? watched.sign : undefined;
    } finally {
      signal.removeEventListener("abort", leave);
      watched.readers -= 1;
      if (watched.readers === 0 && this.#threads.get(threadId) === watched) this.#threads.delete(threadId);
    }
  }

  /** Checks at once, because a run starts here. */
  touch(threadId: string): void {
    if (this.#threads.has(threadId)) this.#poller.wake();
  }

  async #pass(): Promise<number> {
    const ids = [...this.#threads.keys()];
    const signs = ids.length > 0 ? await selectThreadSigns(this.#sql, ids) : [];
    const found = new Map(signs.map((sign) => [sign.thread_id, sign]));
    for (const id of ids) {
      const watched = this.#threads.get(id);
      const sign = found.get(id);
      if (!watched || (sign && same(sign, watched.sign))) continue;
      watched.sign = sign;
      wake(watched);
    }
    return this.#threads.size === 0 ? Infinity : POLL_MS;
  }
}

function wake(watched: Watched): void {
  const { changed } = watched;
  watched.changed = deferred();
  changed.resolve();
}

const same = (a: ThreadVersion, b: ThreadVersion | undefined): boolean => a.runs === b?.runs && a.state === b.state;
