/**
 * Writes the frames of runs to the database, so that they outlive this process and can be read on other servers. Kept
 * streams are those of resumable runs, from their first frame on, and those with a reader on a server that does not
 * execute the run. Their frames are shown to readers after the commit: what a client has seen can be replayed.
 *
 * All streams share one statement at a time; frames that arrive during it are written by the next one, so that many frames
 * cost one commit. The last frames and the end of the stream are written with the run's final status, in one commit
 * (`end`). Nothing else of a stream is written until the outcome of its end is known.
 *
 * A stream has one writer. Its row names the attempt and the next frame (functions/streams.sql), so a server that was
 * declared dead cannot write between the frames of its successor.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import type { GroupCommit } from "../../base/db/group-commit.ts";
import { isPassing, untilDone } from "../../base/db/retry.ts";
import { deferred, type Deferred } from "../../base/deferred.ts";
import type { LiveFrames } from "../../base/events/live-frames.ts";
import { sseFrame } from "../../base/events/sse.ts";
import type { Log } from "../../base/log.ts";
import type { PersistProgress, RunStream } from "./run-streams.ts";
import { sortedGroupCommit } from "../../base/db/sorted-commit.ts";
import type { FinishedRun, FinishOutcome } from "./finished-run.ts";
import {
  announceEnd,
  endKeptRuns,
  type FramesToKeep,
  keepFrames,
  type KeepOutcome,
  type KeptEnd,
  type KeptEndOutcome,
} from "./sql.ts";

/** Streams per statement; each adds a segment of about 128 KB at most. */
const BATCH = 32;
const STOP_PATIENCE_MS = 3000;

/**
 * `tail`: resolved when only the part that `end` writes is left. `"writing"`: `end` writes it, or has written it with an
 * unknown outcome.
 */
type Ending = { tail: Deferred<void> } | "writing";

interface Write {
  stream: RunStream;
  keeping: PersistProgress;
  next: number;
  marked: number;
  row: FramesToKeep;
}

const sortKey = ({ row }: Write): string => row.threadId + row.runId;

export interface StreamKeeperOptions {
  sql: Sql;
  /** Connections for the ends of runs; default: `sql`. */
  endSql?: Sql;
  log: Log;
  /** Whether other servers must be notified of events and of runs' ends. */
  notify?: () => boolean;
  /** Fast path to servers with readers; the fallback is the database's notifications. */
  live: LiveFrames | undefined;
  /** Called when another server writes this stream now. */
  onLost(stream: RunStream): void;
  /**
   * Called when events of protocol v2 are stored.
   * @param last number of the last event
   * @param frames the frames with these events; undefined: they are to be read, because the run's end is the last event
   */
  onEvents?(threadId: string, last: number, frames: string | undefined): void;
}

export class StreamKeeper {
  readonly #o: StreamKeeperOptions;
  readonly #ends: GroupCommit<KeptEnd, KeptEndOutcome>;
  /** Streams whose run is ending. */
  #ending = new Map<RunStream, Ending>();
  #changed = new Set<RunStream>();
  /** Streams whose end was announced after it. */
  readonly #announced = new WeakSet<RunStream>();
  #draining: Promise<void> | undefined;
  /** `performance.now()` until which writes are retried while the server stops. */
  #stopsAt: number | undefined;

  constructor(options: StreamKeeperOptions) {
    this.#o = options;
    const { endSql = options.sql, notify = () => true } = options;
    this.#ends = sortedGroupCommit(
      ({ threadId }) => threadId,
      (runs) => endKeptRuns(endSql, runs, notify()),
    );
  }

  /**
   * Starts writing the stream's frames from number `stored` on, where the stored stream ends. Called again for each later
   * attempt.
   */
  keep(stream: RunStream, keeping: Omit<PersistProgress, "wanted" | "marked">): void {
    stream.common = Math.max(stream.common, keeping.stored);
    if (stream.keeping) {
      this.#abandonEnd(stream);
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

  /** Notes a reader on a server that does not execute this run. */
  want(stream: RunStream): void {
    if (!stream.execution) return;
    // the reader may have seen the run before its end
    if (stream.kept) return this.#announce(stream);
    if (!stream.keeping) this.keep(stream, { ...stream.execution, stored: 0, held: !stream.outcome });
    stream.keeping!.wanted = true;
  }

  /** Announces an end that was not announced, once; readers' polls find what this misses. */
  #announce(stream: RunStream): void {
    if (this.#announced.has(stream)) return;
    this.#announced.add(stream);
    void announceEnd(this.#o.sql, stream.runId).catch(() => {});
  }

  /** Stops writing, because another server writes this stream or will. Drops frames that no reader has seen. */
  drop(stream: RunStream): void {
    stream.execution = undefined;
    if (!stream.keeping) return;
    // another server has continued after the frames that readers have seen, if they were stored
    if (stream.keeping.held) stream.dropHidden();
    this.#leave(stream);
  }

  /**
   * Writes the run's final status together with its remaining frames and the end of its stream. Rejects while the
   * database is unavailable, and must then be repeated or followed by `keep` or `drop`, because the end may be written.
   * `lost`: this attempt does not write the stream any more. An earlier call of it whose response was lost may have
   * ended the run; the caller reads its row (end-run.ts).
   * @param last data of a `feedback` event, for a run that is not rolled back
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
      // readers of protocol v2 follow the thread, and ask for no run's frames
      const quiet = run.quiet === true && !keeping.wanted && stream.protocolGraph === undefined;
      const { outcome, waiting, stored, seq } = await this.#ends
        .call({ ...run, ...tail, quiet })
        .catch((error: unknown) => {
          if (!isPassing(error)) this.#abandonEnd(stream);
          throw error;
        });
      if (seq !== undefined) this.#o.onEvents?.(run.threadId, seq, undefined);
      if (stream.keeping !== keeping) return LOST;
      if (outcome === "stale_values" || outcome === "lost" || outcome === "behind") {
        const isBehind = outcome === "behind" && stored <= log.appended;
        if (isBehind) this.#advance(stream, keeping, stored);
        this.#abandonEnd(stream);
        if (isBehind) continue;
        return outcome === "stale_values" ? { outcome, waiting } : LOST;
      }
      if (lastFrame !== null && outcome !== "deleted") stream.append("feedback", last!);
      const frames = tail.frames + (outcome === "deleted" ? "" : (lastFrame ?? ""));
      this.#publish(stream, keeping, { ...tail, frames });
      this.#advance(stream, keeping, log.appended);
      stream.kept = true;
      if (quiet && keeping.wanted) this.#announce(stream);
      this.#leave(stream);
      return { outcome, waiting };
    }
  }

  /** Waits for pending writes, for a limited time. */
  async stop(): Promise<void> {
    this.#stopsAt = performance.now() + STOP_PATIENCE_MS;
    await Promise.race([this.#draining, sleep(STOP_PATIENCE_MS, undefined, { ref: false })]);
  }

  /**
   * Resolves when all but the stream's last segment is written and no write is in progress, or it is no longer kept.
   */
  async #untilTail(stream: RunStream): Promise<void> {
    if (!stream.keeping) return;
    const tail = deferred<void>();
    this.#ending.set(stream, { tail });
    this.#touch(stream);
    await tail.promise;
  }

  /** Resumes writing the stream: its end has not been written. */
  #abandonEnd(stream: RunStream): void {
    if (this.#takeEnding(stream)) this.#touch(stream);
  }

  #takeEnding(stream: RunStream): boolean {
    const ending = this.#ending.get(stream);
    if (ending && ending !== "writing") ending.tail.resolve();
    return this.#ending.delete(stream);
  }

  /** Notes that the frames before number `stored` are stored. */
  #advance(stream: RunStream, keeping: PersistProgress, stored: number): void {
    if (stored < keeping.stored) return;
    keeping.stored = stored;
    stream.common = Math.max(stream.common, stored);
    stream.log.show(stored);
  }

  #publish(
    stream: RunStream,
    keeping: PersistProgress,
    { first, frames }: { first: number; frames: string },
    ended = true,
  ): void {
    if (keeping.wanted && this.#o.live?.connected) this.#o.live.publish(stream.runId, first, frames, ended);
  }

  #leave(stream: RunStream): void {
    this.#takeEnding(stream);
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
    // frames that arrive in this turn of the event loop join the batch
    await Promise.resolve();
    try {
      while (this.#changed.size > 0) await this.#writeSome();
    } finally {
      // synchronously after the check for changes, or a change in between would wait forever
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
    writes.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    await this.#write(writes);
  }

  async #next(stream: RunStream): Promise<Write | undefined> {
    const { keeping, log, marks } = stream;
    if (!keeping || this.#ending.get(stream) === "writing") return undefined;
    const first = keeping.stored;
    const { bytes, next } = await log.readHidden(first);
    if (stream.keeping !== keeping || keeping.stored !== first) return this.#next(stream);
    const whole = next === log.appended;
    const ending = this.#ending.get(stream);
    if (ending === "writing") return undefined;
    if (ending && whole) {
      this.#ending.set(stream, "writing");
      ending.tail.resolve();
      return undefined;
    }
    const status = stream.outcome && whole ? stream.outcome.status : null;
    const marked = marks.version;
    if (!bytes && !status && marked === keeping.marked) return undefined;
    const { threadId, attempt } = keeping;
    const frames = bytes?.toString() ?? "";
    // the database notifies unless the fast path is available
    const notify = keeping.wanted && !this.#o.live?.connected;
    const text = marked === keeping.marked ? null : marks.text(next);
    const count = next - first;
    const row = { runId: stream.runId, threadId, attempt, first, count, frames, marks: text, status, notify };
    return { stream, keeping, next, marked, row };
  }

  async #write(writes: Write[]): Promise<void> {
    try {
      const rows = writes.map((write) => write.row);
      const shouldRetry = () => this.#stopsAt === undefined || performance.now() < this.#stopsAt;
      const announce = this.#o.notify?.() ?? true;
      const outcomes = await untilDone(() => keepFrames(this.#o.sql, rows, announce), shouldRetry);
      for (const [i, write] of writes.entries()) this.#written(write, outcomes[i]!);
    } catch (error) {
      if (isPassing(error)) return;
      if (writes.length > 1) {
        for (const write of writes) await this.#write([write]);
        return;
      }
      const { stream, row } = writes[0]!;
      this.#o.log.error({ err: error, run_id: stream.runId }, "could not store the frames of a run");
      if (stream.keeping) this.#rejected(stream, stream.keeping, row.attempt);
    }
  }

  /**
   * Handles rejected frames. Those that no reader has seen are dropped, and the stored stream continues after an
   * `incomplete` event.
   */
  #rejected(stream: RunStream, keeping: PersistProgress, attempt: number): void {
    const isUnseen = keeping.held && stream.log.count === keeping.stored;
    if (isUnseen && !stream.outcome && stream.incomplete === undefined) stream.dropHidden();
    else this.#leave(stream);
    if (!stream.outcome) stream.markIncomplete("Its frames could not be stored.", attempt);
  }

  #written({ stream, keeping, next, marked, row }: Write, { outcome, stored, seq }: KeepOutcome): void {
    if (seq !== undefined) this.#o.onEvents?.(row.threadId, seq, row.status === null ? row.frames : undefined);
    if (stream.keeping !== keeping) return;
    if (outcome === "behind" && stored <= stream.log.appended) {
      this.#advance(stream, keeping, stored);
      return this.#touch(stream);
    }
    if (outcome !== "stored") {
      // the attempt has since been incremented, and the row is still this server's
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
