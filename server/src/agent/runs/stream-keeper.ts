/**
 * Writes the frames of runs to the database, so that they outlive this process and can be read by others.
 *
 * Kept are the streams of resumable runs, from their first frame on, and those that somebody reads on a server that
 * does not execute the run. Their frames are shown to readers when they are committed: what a client has seen can be
 * replayed. All streams share one statement at a time; what comes while it is under way goes with the next, so that
 * many frames cost one commit.
 *
 * The last frames and the end of the stream go with the run's final status, in one commit (`end`).
 *
 * A stream has one writer. The row of the stream says which attempt and which frame is next
 * (functions/streams.sql), so a server that was taken for dead writes nothing between the frames of its successor.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import type { GroupCommit } from "../../base/db/group-commit.ts";
import { isPassing, untilDone } from "../../base/db/retry.ts";
import { deferred, type Deferred } from "../../base/deferred.ts";
import type { LiveFrames } from "../../base/events/live-frames.ts";
import { sseFrame } from "../../base/events/sse.ts";
import type { Log } from "../../base/log.ts";
import type { Keeping, RunStream } from "./run-streams.ts";
import { sortedGroupCommit } from "./sorted-commit.ts";
import type { FinishedRun, FinishOutcome } from "./sql.ts";
import {
  endKeptRuns,
  type FramesToKeep,
  keepFrames,
  type KeepOutcome,
  type KeptEnd,
  type KeptEndOutcome,
} from "./stream-sql.ts";

/** Streams a statement; each brings a segment of about 128 KB at most. */
const BATCH = 32;
const STOP_PATIENCE_MS = 3000;

interface Write {
  stream: RunStream;
  keeping: Keeping;
  next: number;
  marked: number;
  row: FramesToKeep;
}

export interface StreamKeeperOptions {
  sql: Sql;
  /** For the ends of runs; `sql` without it. */
  endSql?: Sql;
  log: Log;
  /** Whether other servers must be told of the end of a run. */
  notify?: () => boolean;
  /** The quick way to servers that read; the database's notifications are the other one. */
  live: LiveFrames | undefined;
  /** Somebody else writes this stream now. */
  onLost(stream: RunStream): void;
}

export class StreamKeeper {
  readonly #o: StreamKeeperOptions;
  readonly #ends: GroupCommit<KeptEnd, KeptEndOutcome>;
  /** Streams whose run ends: what is left for their end settles them. */
  #ending = new Map<RunStream, Deferred<void>>();
  #changed = new Set<RunStream>();
  #draining: Promise<void> | undefined;
  /** `performance.now()` until which writes are tried while the server stops. */
  #stopsAt: number | undefined;

  constructor(options: StreamKeeperOptions) {
    this.#o = options;
    const { endSql = options.sql, notify = () => true } = options;
    this.#ends = sortedGroupCommit((runs) => endKeptRuns(endSql, runs, notify()));
  }

  /**
   * From now on the stream's frames are written, beginning with those behind number `stored`, where the kept stream
   * is. Again: for a later attempt.
   */
  keep(stream: RunStream, keeping: Omit<Keeping, "wanted" | "marked">): void {
    stream.common = Math.max(stream.common, keeping.stored);
    if (stream.keeping) {
      stream.keeping.attempt = keeping.attempt;
      this.#advance(stream, stream.keeping, keeping.stored);
      return;
    }
    stream.keeping = { ...keeping, wanted: false, marked: 0 };
    stream.log.acquire();
    if (keeping.held) stream.log.hold();
    stream.onChange = () => this.#touch(stream);
    this.#touch(stream);
  }

  /** A server that does not execute this run reads it. */
  want(stream: RunStream): void {
    if (stream.kept || !stream.execution) return;
    if (!stream.keeping) this.keep(stream, { ...stream.execution, stored: 0, held: !stream.outcome });
    stream.keeping!.wanted = true;
  }

  /** Somebody else writes this stream, or will. What nobody has seen of it is forgotten. */
  drop(stream: RunStream): void {
    stream.execution = undefined;
    if (!stream.keeping) return;
    // others have written behind what readers have seen, if that was written
    if (stream.keeping.held) stream.dropHidden();
    this.#leave(stream);
  }

  /**
   * Writes the run's final status with what is not written yet of its frames, and the end of its stream. `last`: the
   * data of a `feedback` event, for a run that is not rolled back. Rejects while the database is away, and may then be
   * repeated. `lost`: nothing was written, or nothing is known of it.
   */
  async end(stream: RunStream, run: FinishedRun, last: string | undefined): Promise<FinishOutcome> {
    const LOST: FinishOutcome = { outcome: "lost", waiting: false };
    for (;;) {
      await this.#untilTail(stream);
      const { keeping, log } = stream;
      if (keeping?.attempt !== run.attempt) return LOST;
      const { bytes, next } = await log.readHidden(keeping.stored);
      const count = next - keeping.stored;
      const lastFrame = last === undefined ? null : sseFrame(next, "feedback", last).toString();
      const tail = { first: keeping.stored, count, frames: bytes?.toString() ?? "", last: lastFrame };
      const { outcome, waiting, stored } = await this.#ends.call({ ...run, ...tail });
      if (stream.keeping !== keeping) return LOST;
      if (outcome === "lost") return LOST;
      if (outcome === "behind" && stored <= log.appended) this.#advance(stream, keeping, stored);
      else if (outcome === "behind") return LOST;
      else {
        if (lastFrame !== null && outcome !== "deleted") stream.append("feedback", last!);
        this.#publish(stream, keeping, {
          ...tail,
          frames: tail.frames + (outcome === "deleted" ? "" : (lastFrame ?? "")),
        });
        this.#advance(stream, keeping, log.appended);
        stream.kept = true;
        this.#leave(stream);
        return { outcome, waiting };
      }
    }
  }

  /** Waits for what is to be written, for a while. */
  async stop(): Promise<void> {
    this.#stopsAt = performance.now() + STOP_PATIENCE_MS;
    await Promise.race([this.#draining, sleep(STOP_PATIENCE_MS, undefined, { ref: false })]);
  }

  /** Resolves when all but the stream's last segment is written, and nothing is under way; or it is not kept any more. */
  async #untilTail(stream: RunStream): Promise<void> {
    if (!stream.keeping) return;
    const ending = deferred<void>();
    this.#ending.set(stream, ending);
    this.#touch(stream);
    await ending.promise;
  }

  /** Frames before number `stored` are written. */
  #advance(stream: RunStream, keeping: Keeping, stored: number): void {
    if (stored < keeping.stored) return;
    keeping.stored = stored;
    stream.common = Math.max(stream.common, stored);
    stream.log.show(stored);
  }

  #publish(
    stream: RunStream,
    keeping: Keeping,
    { first, frames }: { first: number; frames: string },
    ended = true,
  ): void {
    if (keeping.wanted && this.#o.live?.connected) this.#o.live.publish(stream.runId, first, frames, ended);
  }

  #leave(stream: RunStream): void {
    this.#ending.get(stream)?.resolve();
    this.#ending.delete(stream);
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
    const { keeping, log, marks } = stream;
    if (!keeping) return undefined;
    const first = keeping.stored;
    const { bytes, next } = await log.readHidden(first);
    if (stream.keeping !== keeping || keeping.stored !== first) return this.#next(stream);
    const whole = next === log.appended;
    const ending = this.#ending.get(stream);
    if (ending && whole) {
      // the rest is written by `end`
      this.#ending.delete(stream);
      ending.resolve();
      return undefined;
    }
    const status = stream.outcome && whole ? stream.outcome.status : null;
    const marked = marks.version;
    if (!bytes && !status && marked === keeping.marked) return undefined;
    const { threadId, attempt } = keeping;
    const frames = bytes?.toString() ?? "";
    // told by the database unless the quick way is there
    const notify = keeping.wanted && !this.#o.live?.connected;
    const text = marked === keeping.marked ? null : marks.text(next);
    const count = next - first;
    const row = { runId: stream.runId, threadId, attempt, first, count, frames, marks: text, status, notify };
    return { stream, keeping, next, marked, row };
  }

  async #write(writes: Write[]): Promise<void> {
    try {
      const rows = writes.map((write) => write.row);
      const wanted = () => this.#stopsAt === undefined || performance.now() < this.#stopsAt;
      const outcomes = await untilDone(() => keepFrames(this.#o.sql, rows), wanted);
      for (const [i, write] of writes.entries()) this.#written(write, outcomes[i]!);
    } catch (error) {
      if (isPassing(error)) return;
      if (writes.length > 1) {
        for (const write of writes) await this.#write([write]);
        return;
      }
      const { stream, row } = writes[0]!;
      this.#o.log.error({ err: error, run_id: stream.runId }, "the frames of a run cannot be kept");
      if (stream.keeping) this.#refused(stream, stream.keeping, row.attempt);
    }
  }

  /** Frames that no reader has seen are dropped, and the kept stream goes on behind the event that tells so. */
  #refused(stream: RunStream, keeping: Keeping, attempt: number): void {
    const isUnseen = keeping.held && stream.log.count === keeping.stored;
    if (isUnseen && !stream.outcome && stream.incomplete === undefined) stream.dropHidden();
    else this.#leave(stream);
    if (!stream.outcome) stream.sayIncomplete("Its frames could not be stored.", attempt);
  }

  #written({ stream, keeping, next, marked, row }: Write, { outcome, stored }: KeepOutcome): void {
    if (stream.keeping !== keeping) return;
    if (outcome === "behind" && stored <= stream.log.appended) {
      this.#advance(stream, keeping, stored);
      return this.#touch(stream);
    }
    if (outcome !== "stored") {
      // the attempt went up while this was under way, and the row is still ours
      if (keeping.attempt !== row.attempt) return this.#touch(stream);
      this.#o.log.warn({ run_id: row.runId, attempt: row.attempt }, "another server writes the frames of this run");
      this.drop(stream);
      this.#o.onLost(stream);
      return;
    }
    keeping.marked = Math.max(keeping.marked, marked);
    this.#advance(stream, keeping, next);
    this.#publish(stream, keeping, row, row.status !== null);
    if (row.status) {
      stream.kept = true;
      this.#leave(stream);
    } else if (stream.log.appended > next || stream.outcome || this.#ending.has(stream)) this.#changed.add(stream);
  }
}
