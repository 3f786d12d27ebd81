/**
 * Readers of threads' events of protocol v2 on this server. Events are frames of runs' streams; the database numbers them
 * when it stores them, so a client never sees an event that could be lost or renumbered. Events of runs that are executed
 * here reach readers from memory; others are read when the database announces them. One query for all open feeds finds
 * what was not announced, as when the executing server does not know of this one yet.
 */
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { parseEvents, selectEvents, selectLastSeqs } from "./sql.ts";
import { ThreadFeed } from "./thread-feed.ts";

const SAFETY_NET_MS = 10_000;
const RETRY_MS = 1000;

export class ThreadFeeds {
  readonly #sql: Sql;
  readonly #poller: Poller;
  #feeds = new Map<string, ThreadFeed>();
  /** Threads whose announced events are to be read. */
  #announced = new Set<string>();
  /** Time of the next look at all feeds. */
  #checkAt = performance.now() + SAFETY_NET_MS;
  #stopped = false;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    const failing = "could not read protocol events";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: SAFETY_NET_MS, retryMs: RETRY_MS, log, failing });
    this.#poller.start(SAFETY_NET_MS);
  }

  /** Opens the thread's feed for one reader, which calls `release` when it disconnects. */
  async open(threadId: string): Promise<ThreadFeed> {
    let feed = this.#feeds.get(threadId);
    if (!feed || feed.closed) {
      const created = new ThreadFeed(threadId, (after) => selectEvents(this.#sql, threadId, after));
      feed = created;
      this.#feeds.set(threadId, created);
    }
    feed.readers += 1;
    try {
      // for an existing feed too: the newest event may come from another server
      feed.advance((await selectLastSeqs(this.#sql, [threadId])).get(threadId) ?? 0);
    } catch (error) {
      this.release(feed);
      throw error;
    }
    if (this.#stopped) feed.close();
    this.#poller.wake(SAFETY_NET_MS);
    return feed;
  }

  release(feed: ThreadFeed): void {
    feed.readers -= 1;
    if (feed.readers === 0 && this.#feeds.get(feed.threadId) === feed) this.#feeds.delete(feed.threadId);
  }

  /**
   * Handles events that this server has stored.
   * @param last number of the last one
   * @param frames the frames with these events; undefined: they are to be read
   */
  onEvents(threadId: string, last: number, frames: string | undefined): void {
    const feed = this.#feeds.get(threadId);
    if (!feed) return;
    if (frames === undefined) feed.advance(last);
    else feed.publish(parseEvents(last, frames));
  }

  /** Handles a notice that events of this thread were stored, or that it was deleted. */
  onNotice(threadId: string): void {
    if (!this.#feeds.has(threadId)) return;
    this.#announced.add(threadId);
    this.#poller.wake();
  }

  /** Looks at all feeds, because notices may have been missed. */
  onGap(): void {
    this.#checkAt = 0;
    this.#poller.wake();
  }

  get readers(): number {
    let count = 0;
    for (const feed of this.#feeds.values()) count += feed.readers;
    return count;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const feed of this.#feeds.values()) feed.close();
    await this.#poller.stop();
  }

  async #pass(): Promise<number> {
    const isCheckDue = performance.now() >= this.#checkAt;
    if (isCheckDue) this.#checkAt = performance.now() + SAFETY_NET_MS;
    const ids = [...(isCheckDue ? this.#feeds.keys() : this.#announced)];
    this.#announced.clear();
    try {
      const found = ids.length > 0 ? await selectLastSeqs(this.#sql, ids) : new Map<string, number>();
      await Promise.all(ids.map((id) => this.#refresh(this.#feeds.get(id), found.get(id) ?? 0)));
    } catch (error) {
      for (const id of ids) this.#announced.add(id);
      throw error;
    }
    return this.#feeds.size === 0 ? Infinity : Math.max(1, this.#checkAt - performance.now());
  }

  async #refresh(feed: ThreadFeed | undefined, last: number): Promise<void> {
    if (!feed || last === feed.last) return;
    if (last > feed.last) {
      feed.publish(await selectEvents(this.#sql, feed.threadId, feed.last));
      feed.advance(last);
    } else if (!(await this.#isBehind(feed))) {
      // the thread was deleted, and perhaps recreated: a reader that reconnects reads from its start
      feed.close();
    }
  }

  /** Whether only the query's result was outdated: events were written here while it ran. */
  async #isBehind(feed: ThreadFeed): Promise<boolean> {
    const last = feed.last;
    return ((await selectLastSeqs(this.#sql, [feed.threadId])).get(feed.threadId) ?? 0) >= last;
  }
}
