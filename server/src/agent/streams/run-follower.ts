/**
 * Streams of runs that are not executed here: pending ones, those of other servers, and ended ones whose frames are
 * kept. Each is a local stream that grows along with the kept one in the database, and ends when the run does, on
 * whichever server.
 *
 * The executing server is asked to keep the run's frames and to announce them: by Redis if configured, else by the
 * database's notifications. Both may fail; one query for all followed runs, twice a second, finds what was missed.
 */
import type { Sql } from "../../base/db/connect.ts";
import type { LiveFrames } from "../../base/events/live-frames.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { withLinks } from "../feedback-links/emit-links.ts";
import { buildOutput } from "./run-output.ts";
import type { RunOutcome, RunStream, RunStreams } from "./run-streams.ts";
import type { StreamKeeper } from "./stream-keeper.ts";
import { endAbandonedStream } from "./end-abandoned-stream.ts";
import {
  reserveStream,
  type FollowedRun,
  selectFollowedRuns,
  selectSegments,
  selectUnendedStreams,
  wantStreams,
} from "./sql.ts";

const POLL_MS = 500;
/** Interval for repeating the request to the executing server, which may have changed. */
const WANT_MS = 2000;
/** Longest time that a living server takes to write a run's last frames after the run's end. */
const LAST_FRAMES_MS = 3000;
/** Longest wait for frames of an ended run that may not exist any more. */
const FORGOTTEN_MS = 800;

const MOVED = "Another server executed the run in the meantime, and this server does not have its frames.";

export interface RunFollowerOptions {
  sql: Sql;
  streams: RunStreams;
  log: Log;
  serverId: string;
  keeper: StreamKeeper;
  live: LiveFrames | undefined;
  /** Whether this server executes the run. */
  isActive(runId: string): boolean;
  /** Whether no other server shares the database. */
  alone(): boolean;
}

interface Followed {
  stream: RunStream;
  askedAt: number;
  /** Time at which the run was first seen as ended while its stream was not. */
  finalAt: number;
  /** Whether the run was seen before its end, so that its frames are recent enough to exist. */
  seenUnfinished: boolean;
  /** The latest attempt seen; 0: none has started, as far as this server knows. */
  attempt: number;
  /** Whether it was cancelled while pending, so that no frames will arrive. */
  neverResumes: boolean;
}

export class RunFollower {
  readonly #o: RunFollowerOptions;
  readonly #poller: Poller;
  #followed = new Map<string, Followed>();

  constructor(options: RunFollowerOptions) {
    this.#o = options;
    const failing = "could not follow runs of other servers";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: POLL_MS, log: options.log, failing });
    this.#poller.start(POLL_MS);
    options.live?.listen((runId, first, frames, ended) => {
      const followed = this.#followed.get(runId);
      if (!followed || followed.stream.keeping || this.#o.isActive(runId)) return;
      const fits = frames === "" || followed.stream.appendRemote(first, frames);
      if (!fits || ended) this.#pollSoon();
    });
  }

  /**
   * Returns the run's stream, which will end when the run does.
   * @param mayBePending whether the server that will execute the run is asked to keep its frames from the start
   */
  follow(runId: string, mayBePending = false): RunStream {
    const stream = this.#o.streams.open(runId);
    if (stream.outcome || this.#followed.has(runId)) return stream;
    const { execution } = stream;
    const progress = { seenUnfinished: execution !== undefined, attempt: execution?.attempt ?? 0 };
    this.#followed.set(runId, { stream, askedAt: 0, finalAt: 0, neverResumes: false, ...progress });
    this.#o.live?.subscribe(runId);
    if (mayBePending && !this.#o.alone()) {
      // if this fails, the frames arrive as well, but later
      reserveStream(this.#o.sql, runId).catch(() => {});
    }
    this.#pollSoon();
    return stream;
  }

  /** Whether no other server can have frames that are not kept. */
  get alone(): boolean {
    return this.#o.alone();
  }

  /** Handles a notification about this run. */
  onNotice(runId: string): void {
    if (this.#followed.has(runId)) this.#pollSoon();
  }

  /**
   * Handles the cancellation of a run that is not executed here. Its readers here, if any, end when the run and its
   * frames do, which another server may execute and write for a while.
   * @param wasPending whether the run ended with the cancellation
   */
  onCancelled(runId: string, wasPending: boolean): void {
    const stream = this.#o.streams.get(runId);
    if (!stream || stream.outcome) return;
    this.follow(runId);
    this.#followed.get(runId)!.neverResumes ||= wasPending;
    this.#pollSoon();
  }

  stop(): Promise<void> {
    this.#followed.clear();
    return this.#poller.stop();
  }

  /**
   * Copies the kept frames that are missing here into the stream. Stops at a stream with frames that only readers here
   * have seen.
   */
  async catchUp(stream: RunStream, frames: number): Promise<void> {
    while (stream.log.appended < frames && !stream.own) {
      const segments = await selectSegments(this.#o.sql, stream.runId, stream.log.appended);
      const before = stream.log.appended;
      for (const { first, frames: text } of segments) stream.appendRemote(first, text);
      // deleted by a sweep meanwhile
      if (stream.log.appended === before) return;
    }
  }

  /** Calls of one turn of the event loop share a pass. */
  #pollSoon(): void {
    this.#poller.wake(1);
  }

  async #pass(): Promise<number> {
    // runs executed here end with their execution, which knows more than their rows
    const ids = [...this.#followed.keys()].filter((id) => !this.#o.isActive(id));
    const rows = ids.length > 0 ? await selectFollowedRuns(this.#o.sql, ids) : [];
    const found = new Map(rows.map((row) => [row.run_id, row]));
    const requestedIds: string[] = [];
    for (const id of ids) {
      const followed = this.#followed.get(id);
      // it may have been claimed while the query was in progress
      if (!followed || this.#o.isActive(id)) continue;
      if (await this.#advance(followed, found.get(id))) requestedIds.push(id);
    }
    if (requestedIds.length > 0) await wantStreams(this.#o.sql, requestedIds);
    return this.#followed.size === 0 ? Infinity : POLL_MS;
  }

  /** @returns true when the executing server is to be asked */
  async #advance(followed: Followed, row: FollowedRun | undefined): Promise<boolean> {
    const { stream } = followed;
    if (stream.outcome) {
      this.#forget(stream.runId);
      return false;
    }
    const elsewhere = row?.run_status === "running" && row.server_id !== this.#o.serverId;
    // a deleted run's row has no attempt
    followed.attempt = Math.max(followed.attempt, row?.attempt ?? 0);
    const isSuperseded = stream.execution !== undefined && stream.execution.attempt < followed.attempt;
    // one of its writes may still hang; its hidden frames have no place in a stream that another attempt continued
    if (elsewhere || isSuperseded) this.#o.keeper.drop(stream);
    if (row?.frames && !stream.keeping) await this.catchUp(stream, row.frames);
    if (row?.run_status === "pending" || row?.run_status === "running") {
      followed.seenUnfinished = true;
      if (!elsewhere || performance.now() - followed.askedAt < WANT_MS) return false;
      followed.askedAt = performance.now();
      return true;
    }
    // its last attempt was executed here and was released into the queue with all of its frames
    const isLastHere = stream.execution !== undefined && stream.execution.attempt >= followed.attempt;
    const patience = isLastHere ? 0 : this.#patience(followed, row);
    if (patience > 0) {
      followed.finalAt ||= performance.now();
      if (performance.now() - followed.finalAt < patience) return !row?.frames;
    }
    if (row && !isLastHere && (await this.#endUnended(followed, row))) {
      this.#poller.wake();
      return false;
    }
    if (this.#o.isActive(stream.runId)) return false;
    this.#forget(stream.runId);
    const isWhole = row?.stream_status != null && row.frames === stream.common;
    if (!isLastHere && (stream.own || (followed.seenUnfinished && !isWhole && followed.attempt > 0))) {
      // not awaited: marking may take a while, and other runs are followed meanwhile
      void this.#o.streams.endMoved(stream, MOVED, followed.attempt, () => toOutcome(stream, row));
    } else this.#o.streams.end(stream.runId, toOutcome(stream, row));
    return false;
  }

  /** Ends a stored stream whose writer has not, so that all readers get the same end. */
  async #endUnended({ stream, seenUnfinished, attempt }: Followed, row: FollowedRun): Promise<boolean> {
    if (row.stream_status !== null || stream.own) return false;
    const isGone = row.run_status === null;
    // a stream without frames is empty, unless it was reserved for readers that waited for some
    if (!row.frames && !isGone && !(seenUnfinished && row.attempt)) return false;
    if (row.frames === null) await reserveStream(this.#o.sql, stream.runId);
    const [unended] = await selectUnendedStreams(this.#o.sql, stream.runId);
    if (!unended) return true;
    // the attempt that ended it may not have begun to keep its frames
    await endAbandonedStream(this.#o.sql, { ...unended, attempt: Math.max(unended.attempt, attempt) });
    return true;
  }

  /** Time that the end of a run's stream may lag behind the run's own end. */
  #patience({ seenUnfinished, neverResumes }: Followed, row: FollowedRun | undefined): number {
    if (neverResumes) return 0;
    if (row?.frames) {
      if (row.stream_status !== null) return 0;
      return row.server_lives || row.run_status === null ? LAST_FRAMES_MS : 0;
    }
    // a temporary run is deleted at its end; the server that executed it has its frames, but may not be known here yet
    if (!row || row.run_status === null) return LAST_FRAMES_MS;
    if (this.#o.alone() || row.attempt === 0 || row.stream_status !== null) return 0;
    if (!row.server_lives || row.server_id === this.#o.serverId || !row.is_recent) return 0;
    return seenUnfinished ? LAST_FRAMES_MS : FORGOTTEN_MS;
  }

  #forget(runId: string): void {
    this.#followed.delete(runId);
    this.#o.live?.unsubscribe(runId);
  }
}

function toOutcome(stream: RunStream, row: FollowedRun | undefined): RunOutcome {
  const status = row?.stream_status ?? row?.run_status ?? "deleted";
  const error = row?.error ?? parseError(stream.lastError) ?? undefined;
  if (error && stream.log.appended === 0) stream.append("error", JSON.stringify(error));
  // unless all frames are here, none is certain to be the last
  const whole = row?.stream_status != null && stream.incomplete === undefined;
  return {
    status,
    output: withLinks(
      buildOutput(
        status,
        error,
        whole ? stream.lastValues : undefined,
        () => row?.values ?? null,
        () => row?.interrupts,
      ),
      stream.links ?? row?.links ?? undefined,
    ),
  };
}

function parseError(data: Buffer | undefined): { error: string; message: string } | undefined {
  return data && (JSON.parse(data.toString()) as { error: string; message: string });
}
