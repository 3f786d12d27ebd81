/**
 * Writes the frames of runs to the database, so that they outlive this process and can be read by others.
 *
 * Kept are the streams of resumable runs, from their first frame on, and those that somebody reads on a server that
 * does not execute the run. Frames of a resumable run are shown to readers when they are committed: what a client has
 * seen can be replayed. All streams share one statement at a time; what comes while it is under way goes with the
 * next, so that many frames cost one commit.
 *
 * A stream has one writer. The row of the stream says which attempt and which frame is next
 * (functions/streams.sql), so a server that was taken for dead writes nothing between the frames of its successor.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import { isDatabaseAway, whileAway } from "../../base/db/retry.ts";
import type { LiveFrames } from "../../base/events/live-frames.ts";
import type { Log } from "../../base/log.ts";
import type { Keeping, RunStream } from "./run-streams.ts";
import { appendFrames, type FramesToKeep } from "./stream-sql.ts";

/** Streams a statement; each brings a segment of about 128 KB at most. */
const BATCH = 32;
const STOP_PATIENCE_MS = 3000;

interface Write {
  stream: RunStream;
  keeping: Keeping;
  next: number;
  row: FramesToKeep;
}

export interface StreamKeeperOptions {
  sql: Sql;
  log: Log;
  /** The quick way to servers that read; the database's notifications are the other one. */
  live: LiveFrames | undefined;
  /** Somebody else writes this stream now. */
  onLost(stream: RunStream): void;
}

export class StreamKeeper {
  readonly #o: StreamKeeperOptions;
  #changed = new Set<RunStream>();
  #draining: Promise<void> | undefined;
  #stopping = false;

  constructor(options: StreamKeeperOptions) {
    this.#o = options;
  }

  /** From now on the stream's frames are written, and those first that are not yet. Again: for a later attempt. */
  keep(stream: RunStream, keeping: Omit<Keeping, "wanted">): void {
    if (stream.keeping) {
      stream.keeping.attempt = keeping.attempt;
      return;
    }
    stream.keeping = { ...keeping, wanted: false };
    stream.log.acquire();
    if (keeping.held) stream.log.hold();
    stream.onChange = () => this.#touch(stream);
    this.#touch(stream);
  }

  /** A server that does not execute this run reads it. */
  want(stream: RunStream): void {
    if (stream.kept || !stream.execution) return;
    if (!stream.keeping) this.keep(stream, { ...stream.execution, stored: 0, held: false });
    stream.keeping!.wanted = true;
  }

  /** Somebody else writes this stream, or will. What nobody has seen of it is forgotten. */
  drop(stream: RunStream): void {
    if (!stream.keeping) return;
    // what others have written since fits behind what readers have seen, if that was written
    if (stream.keeping.held) {
      stream.log.dropHidden();
      stream.own = false;
    }
    this.#leave(stream);
  }

  /** Waits for what is to be written, for a while. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.race([this.#draining, sleep(STOP_PATIENCE_MS, undefined, { ref: false })]);
  }

  #leave(stream: RunStream): void {
    stream.keeping = undefined;
    stream.onChange = undefined;
    this.#changed.delete(stream);
    stream.log.showAll();
    stream.log.release();
  }

  #touch(stream: RunStream): void {
    this.#changed.add(stream);
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // what else happens in this turn of the event loop comes along
    await Promise.resolve();
    try {
      while (this.#changed.size > 0) await this.#writeSome();
    } finally {
      // in the same breath as the look at what has changed, or what comes between would wait for ever
      this.#draining = undefined;
    }
  }

  async #writeSome(): Promise<void> {
    const writes: Write[] = [];
    for (const stream of [...this.#changed].slice(0, BATCH)) {
      this.#changed.delete(stream);
      const write = await this.#next(stream);
      if (write) writes.push(write);
    }
    if (writes.length === 0) return;
    writes.sort((a, b) => (a.row.runId < b.row.runId ? -1 : 1));
    await this.#write(writes);
  }

  async #next(stream: RunStream): Promise<Write | undefined> {
    const { keeping, log } = stream;
    if (!keeping) return undefined;
    const first = keeping.stored;
    const { bytes, next } = await log.readHidden(first);
    const status = stream.outcome && next === log.appended ? stream.outcome.status : null;
    if (!bytes && !status) return undefined;
    const { threadId, attempt } = keeping;
    const frames = bytes?.toString() ?? "";
    // told by the database unless the quick way is there
    const notify = keeping.wanted && !this.#o.live?.connected;
    const row = { runId: stream.runId, threadId, attempt, first, count: next - first, frames, status, notify };
    return { stream, keeping, next, row };
  }

  async #write(writes: Write[]): Promise<void> {
    try {
      const rows = writes.map((write) => write.row);
      const patience = this.#stopping ? STOP_PATIENCE_MS : Number.POSITIVE_INFINITY;
      const outcomes = await whileAway(() => appendFrames(this.#o.sql, rows), patience);
      for (const [i, write] of writes.entries()) this.#written(write, outcomes[i]!);
    } catch (error) {
      if (isDatabaseAway(error)) return;
      if (writes.length > 1) {
        for (const write of writes) await this.#write([write]);
        return;
      }
      const { stream } = writes[0]!;
      this.#o.log.error({ err: error, run_id: stream.runId }, "the frames of a run cannot be kept");
      if (stream.keeping) this.#leave(stream);
    }
  }

  #written({ stream, keeping, next, row }: Write, outcome: "stored" | "lost"): void {
    if (stream.keeping !== keeping) return;
    if (outcome === "lost") {
      // the attempt went up while this was under way, and the row is still ours
      if (keeping.attempt !== row.attempt) return this.#touch(stream);
      this.#o.log.warn({ run_id: row.runId, attempt: row.attempt }, "another server writes the frames of this run");
      this.drop(stream);
      this.#o.onLost(stream);
      return;
    }
    keeping.stored = next;
    stream.log.show(next);
    if (keeping.wanted && this.#o.live?.connected) {
      this.#o.live.publish(row.runId, row.first, row.frames, row.status !== null);
    }
    if (row.status) {
      stream.kept = true;
      this.#leave(stream);
    } else if (stream.log.appended > next || stream.outcome) this.#changed.add(stream);
  }
}
