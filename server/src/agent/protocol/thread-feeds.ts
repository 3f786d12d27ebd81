/**
 * Readers of threads' events of protocol v2 on this server. Events are frames of runs' streams; the database numbers them
 * when it stores them, so a client never sees an event that could be lost or renumbered. Events of runs that are executed
 * here reach readers from memory; others are read when the database announces them, or when a poll finds them.
 */
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { parseEvents, selectEvents, selectLastSeqs } from "./sql.ts";
import { ThreadFeed } from "./thread-feed.ts";

const POLL_MS = 1000;

export class ThreadFeeds {
  readonly #sql: Sql;
  readonly #failure: RepeatedFailure;
  readonly #poller: Poller;
  #feeds = new Map<string, ThreadFeed>();
  #stopped = false;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    const failing = "could not read protocol events";
    this.#failure = new RepeatedFailure({ log, message: failing });
    this.#poller = new Poller({ pass: () => this.#refresh([...this.#feeds.values()]), everyMs: POLL_MS, log, failing });
    this.#poller.start(POLL_MS);
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

  /** Handles a notice that events of this thread were stored. */
  onNotice(threadId: string): void {
    const feed = this.#feeds.get(threadId);
    if (!feed) return;
    this.#refresh([feed]).then(
      () => this.#failure.succeeded(),
      (error: unknown) => this.#stopped || this.#failure.failed(error),
    );
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

  async #refresh(feeds: ThreadFeed[]): Promise<void> {
    if (feeds.length === 0) return;
    const found = await selectLastSeqs(
      this.#sql,
      feeds.map((feed) => feed.threadId),
    );
    for (const feed of feeds) {
      const last = found.get(feed.threadId) ?? 0;
      // the thread was deleted, and perhaps recreated: a reader that reconnects reads from its start
      if (last < feed.last && !(await this.#isBehind(feed))) feed.close();
      else if (last > feed.last) feed.publish(await selectEvents(this.#sql, feed.threadId, feed.last));
      if (last > feed.last) feed.advance(last);
    }
  }

  /** Whether only the query's result was outdated: events were written here while it ran. */
  async #isBehind(feed: ThreadFeed): Promise<boolean> {
    const last = feed.last;
    return ((await selectLastSeqs(this.#sql, [feed.threadId])).get(feed.threadId) ?? 0) >= last;
  }
}
