/**
 * The events of protocol v2 on this server. Events of its own hosts go to the database, which numbers them, and then to
 * readers; events of other servers are fetched when the database announces them. A client never sees an event that
 * could be lost or renumbered.
 *
 * A run's last event states how it ended and follows all others. The server that executed the run writes it; where that
 * fails, the first server whose sweep finds the run does (`close_protocol_run` writes it once).
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { GroupCommit } from "../../base/db/group-commit.ts";
import type { Sql } from "../../base/db/connect.ts";
import { untilDone, untilPassed } from "../../base/db/retry.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { sortedGroupCommit } from "../../base/db/sorted-commit.ts";
import {
  appendEvents,
  deleteOldEvents,
  endRun,
  type EventBatch,
  parseEvents,
  selectEndedRuns,
  selectEvents,
  selectLastSeqs,
} from "./sql.ts";
import { ThreadFeed } from "./thread-feed.ts";

const POLL_MS = 1000;
/** Polling interval while there are no readers. */
const IDLE_POLL_MS = 15_000;
const SWEEP_MS = 10_000;
const BATCH_BYTES = 256 * 1024;
const BATCH_EVENTS = 2000;
const RETRY_TIMEOUT_MS = 60_000;
const LOST = "The server that executed the run was lost before it stored all events.";
const NOT_STORED = "Its events could not be stored.";

interface RunRef {
  runId: string;
  threadId: string;
  attempt: number;
}

/** A run's events that this server has not written yet. */
interface Writer {
  run: RunRef;
  names: string[];
  bodies: Buffer[];
  bytes: number;
  batch: number;
  writing: Promise<void> | undefined;
  /** Another server executes the run now. */
  lost: boolean;
  /** Reason why the run's further events are not written. */
  incomplete: string | undefined;
}

export interface ProtocolLogOptions {
  sql: Sql;
  log: Log;
  ttlSecs: number;
  alone(): boolean;
  /** Marks the run's row as having an incomplete stream. Never rejects. */
  flagIncomplete?: (runId: string, reason: string) => Promise<void>;
}

export class ProtocolLog {
  readonly #o: ProtocolLogOptions;
  readonly #commits: GroupCommit<EventBatch, number | null>;
  readonly #pollFailure: RepeatedFailure;
  readonly #readFailure: RepeatedFailure;
  #writers = new Map<string, Writer>();
  #feeds = new Map<string, ThreadFeed>();
  #ending = new Set<Promise<void>>();
  #timer: NodeJS.Timeout;
  #polling = false;
  #polledAt = -Infinity;
  #sweptAt = -Infinity;
  #stopped = false;

  constructor(options: ProtocolLogOptions) {
    this.#o = options;
    this.#pollFailure = new RepeatedFailure({ log: options.log, message: "could not query protocol events" });
    this.#readFailure = new RepeatedFailure({ log: options.log, message: "could not read protocol events" });
    this.#commits = sortedGroupCommit(
      ({ threadId }) => threadId,
      (batches) => appendEvents(options.sql, batches, !options.alone()),
    );
    this.#timer = setInterval(() => void this.#poll(), POLL_MS);
  }

  /**
   * Appends an event of a run that is executed here. `name`: JSON of channel and namespace. `body`: JSON on one line.
   */
  append(run: RunRef, name: string, body: Buffer): void {
    const writer = this.#findWriter(run);
    writer.names.push(name);
    writer.bodies.push(body);
    writer.bytes += body.length;
    writer.writing ??= this.#write(writer);
  }

  /** Resolves when the run's events are written, or never will be. Its end may be written then. */
  async settled(runId: string): Promise<void> {
    const writer = this.#writers.get(runId);
    while (writer?.writing) await writer.writing;
  }

  /** Notes that events of an earlier attempt may be missing. */
  markIncomplete(run: RunRef & { graphId: string | null }, reason: string): void {
    const { runId, attempt, graphId } = run;
    const data = { event: "incomplete", graph_name: graphId ?? "", run_id: runId, attempt, reason };
    this.append(run, '["lifecycle"]', Buffer.from(JSON.stringify({ namespace: [], timestamp: Date.now(), data })));
  }

  /** Forgets a run that this server executed, and writes its last event if it has ended. */
  ended(run: RunRef & { kwargs: string }): void {
    const writer = this.#writers.get(run.runId);
    if (!writer && !run.kwargs.includes('"protocol": "v2"')) return;
    const ending = this.#end(run.runId, writer, writer?.incomplete)
      .catch((error: unknown) => this.#o.log.warn({ err: error, run_id: run.runId }, "a run's last event has to wait"))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Opens the thread's feed for one reader, which calls `release` when it disconnects. */
  async open(threadId: string): Promise<ThreadFeed> {
    let feed = this.#feeds.get(threadId);
    if (!feed || feed.closed) {
      const created = new ThreadFeed(threadId, (after) => selectEvents(this.#o.sql, threadId, after));
      feed = created;
      this.#feeds.set(threadId, created);
    }
    feed.readers += 1;
    try {
      // for an existing feed too: the newest event may come from another server
      feed.advance((await selectLastSeqs(this.#o.sql, [threadId])).get(threadId) ?? 0);
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

  /** Handles a notice that another server has written events of this thread. */
  onNotice(threadId: string): void {
    const feed = this.#feeds.get(threadId);
    if (feed) void this.#refresh([feed]);
  }

  get readers(): number {
    let count = 0;
    for (const feed of this.#feeds.values()) count += feed.readers;
    return count;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const rest = [...this.#writers.values()].map((writer) => writer.writing);
    await Promise.race([Promise.allSettled([...rest, ...this.#ending]), sleep(3000)]);
    this.#stopped = true;
    for (const feed of this.#feeds.values()) feed.close();
  }

  #findWriter(run: RunRef): Writer {
    const writer = this.#writers.get(run.runId);
    if (writer && writer.run.attempt === run.attempt) return writer;
    const { runId, threadId, attempt } = run;
    const ref = { runId, threadId, attempt };
    const fresh = {
      run: ref,
      names: [],
      bodies: [],
      bytes: 0,
      batch: 0,
      writing: undefined,
      lost: false,
      incomplete: undefined,
    };
    this.#writers.set(run.runId, fresh);
    return fresh;
  }

  async #write(writer: Writer): Promise<void> {
    // events that arrive in this turn of the event loop join the batch
    await Promise.resolve();
    try {
      while (writer.names.length > 0 && !writer.lost) {
        const batch = take(writer);
        // the run does not end before this is written, however long that takes
        const last = await untilDone(
          () => this.#commit(batch),
          () => !this.#stopped,
        );
        if (last === null) writer.lost = true;
        else this.#feeds.get(batch.threadId)?.publish(parseEvents(last, batch.names, batch.bodies));
      }
    } catch (error) {
      writer.lost = true;
      if (!this.#stopped) {
        writer.incomplete = NOT_STORED;
        this.#o.log.error({ err: error, run_id: writer.run.runId }, "could not write the events of a run");
        await this.#o.flagIncomplete?.(writer.run.runId, NOT_STORED);
      }
    } finally {
      if (writer.lost) Object.assign(writer, { names: [], bodies: [], bytes: 0 });
      writer.writing = undefined;
    }
  }

  #commit(batch: EventBatch): Promise<number | null> {
    if (this.#stopped) throw new Error("the server stopped");
    return this.#commits.call(batch);
  }

  async #end(runId: string, writer: Writer | undefined, incomplete: string | undefined): Promise<void> {
    while (writer?.writing) await writer.writing;
    if (this.#writers.get(runId) === writer) this.#writers.delete(runId);
    const threadId = await untilPassed(
      () => endRun(this.#o.sql, runId, !this.#o.alone(), incomplete),
      RETRY_TIMEOUT_MS,
    );
    if (threadId !== null) this.onNotice(threadId);
  }

  /** Polls as the safety net: events without a notice, ends that were not written, events past their time to live. */
  async #poll(): Promise<void> {
    const now = performance.now();
    if (this.#polling || now - this.#polledAt < (this.#feeds.size > 0 ? 0 : IDLE_POLL_MS)) return;
    this.#polling = true;
    this.#polledAt = now;
    try {
      for (const { run_id: runId, may_lack: mayLack } of await selectEndedRuns(this.#o.sql)) {
        if (this.#writers.has(runId)) continue;
        if (mayLack) await this.#o.flagIncomplete?.(runId, LOST);
        await this.#end(runId, undefined, mayLack ? LOST : undefined);
      }
      await this.#refresh([...this.#feeds.values()]);
      if (now - this.#sweptAt >= SWEEP_MS) {
        this.#sweptAt = now;
        await deleteOldEvents(this.#o.sql, this.#o.ttlSecs);
      }
      this.#pollFailure.succeeded();
    } catch (error) {
      if (!this.#stopped) this.#pollFailure.failed(error);
    } finally {
      this.#polling = false;
    }
  }

  async #refresh(feeds: ThreadFeed[]): Promise<void> {
    if (feeds.length === 0) return;
    try {
      const found = await selectLastSeqs(
        this.#o.sql,
        feeds.map((feed) => feed.threadId),
      );
      for (const feed of feeds) {
        const last = found.get(feed.threadId) ?? 0;
        // the thread was deleted, and perhaps recreated: a reader that reconnects reads from its start
        if (last < feed.last && !(await this.#isBehind(feed))) feed.close();
        else if (last > feed.last) feed.publish(await selectEvents(this.#o.sql, feed.threadId, feed.last));
        if (last > feed.last) feed.advance(last);
      }
      this.#readFailure.succeeded();
    } catch (error) {
      if (!this.#stopped) this.#readFailure.failed(error);
    }
  }

  /** Whether only the query's result was outdated: events were written here while it ran. */
  async #isBehind(feed: ThreadFeed): Promise<boolean> {
    const last = feed.last;
    return ((await selectLastSeqs(this.#o.sql, [feed.threadId])).get(feed.threadId) ?? 0) >= last;
  }
}

function take(writer: Writer): EventBatch {
  let bytes = 0;
  let count = 0;
  while (count < writer.names.length && count < BATCH_EVENTS && (count === 0 || bytes < BATCH_BYTES)) {
    bytes += writer.bodies[count]!.length;
    count += 1;
  }
  writer.bytes -= bytes;
  writer.batch += 1;
  const bodies = writer.bodies.splice(0, count).join("\n");
  return { ...writer.run, batch: writer.batch, count, names: writer.names.splice(0, count).join("\n"), bodies };
}
