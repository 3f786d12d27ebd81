/**
 * Announces changes of instances, deployments, revisions and clusters' targets to everything in this process that
 * reacts to them, over one connection. Announcements can be lost, so followers also look at intervals of
 * `SAFETY_NET_MS`; after a gap in the connection, everything counts as changed.
 */
import { deferred } from "../../base/deferred.ts";
import type { DatabaseAddress } from "../../base/db/connect.ts";
import { Listener } from "../../base/db/listener.ts";
import type { Log } from "../../base/log.ts";

/** Interval at which followers look without an announcement. */
export const SAFETY_NET_MS = 2_000;

const TABLES = ["instances", "deployments", "revisions", "cluster_targets"] as const;
export type ControlTable = (typeof TABLES)[number];

/** Resolves at the first change since its last call, at the latest after `SAFETY_NET_MS`. Rejects when aborted. */
export type NextChange = (signal: AbortSignal, atMostMs?: number) => Promise<void>;

export class ControlChanges {
  readonly #listener: Listener;
  readonly #followers = new Set<{ tables: ReadonlySet<string>; changed: () => void }>();

  constructor(database: DatabaseAddress, log: Log) {
    this.#listener = new Listener(database, {
      log,
      channels: { heddle_control: (table) => this.announce(table as ControlTable) },
      onGap: () => TABLES.forEach((table) => this.announce(table)),
    });
  }

  /** Resolves when subscribed. */
  start(): Promise<void> {
    return this.#listener.start();
  }

  stop(): Promise<void> {
    return this.#listener.stop();
  }

  /** Announces a change in this process only, of state that the database does not hold. */
  announce(table: ControlTable): void {
    for (const { tables, changed } of this.#followers) if (tables.has(table)) changed();
  }

  /** Calls `changed` at each change of the tables, until the returned function is called. */
  follow(tables: readonly ControlTable[], changed: () => void): () => void {
    const follower = { tables: new Set<string>(tables), changed };
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /**
   * Runs `work` with a function that waits for the next change. Changes while `work` looks are not lost: the next wait
   * is over at once.
   */
  async watch<T>(tables: readonly ControlTable[], work: (next: NextChange) => Promise<T>): Promise<T> {
    let isChanged = false;
    let resume = () => {};
    const stop = this.follow(tables, () => {
      isChanged = true;
      resume();
    });
    const next: NextChange = async (signal, atMostMs = SAFETY_NET_MS) => {
      signal.throwIfAborted();
      if (!isChanged) {
        const { promise, resolve } = deferred<void>();
        const onAbort = () => resolve();
        resume = resolve;
        const timer = setTimeout(resolve, Math.min(atMostMs, SAFETY_NET_MS));
        signal.addEventListener("abort", onAbort);
        await promise;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        signal.throwIfAborted();
      }
      isChanged = false;
    };
    try {
      return await work(next);
    } finally {
      stop();
    }
  }
}
