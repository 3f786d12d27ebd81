/**
 * Streams of runs that are not executed here: pending ones, those of other servers, and ended ones whose frames are
 * kept. What is read here of such a run is a local stream that grows as the kept one in the database does, and ends
 * when the run does, wherever that is.
 *
 * Whoever executes the run is asked to keep its frames and to tell of them: by Redis where there is one, else by the
 * database's notifications. Both may fail; one query for all followed runs, twice a second, finds what was missed.
 */
import type { Sql } from "../../base/db/connect.ts";
import { isDatabaseAway } from "../../base/db/retry.ts";
import type { LiveFrames } from "../../base/events/live-frames.ts";
import type { Log } from "../../base/log.ts";
import { withLinks } from "../feedback-links/tell-links.ts";
import { answerOf } from "./answer.ts";
import type { RunOutcome, RunStream, RunStreams } from "./run-streams.ts";
import type { StreamKeeper } from "./stream-keeper.ts";
import { endKeptStream } from "./end-kept-stream.ts";
import {
  announceWant,
  type FollowedRun,
  selectFollowedRuns,
  selectSegments,
  selectUnendedStreams,
  wantStreams,
} from "./stream-sql.ts";

const POLL_MS = 500;
/** How often the executing server is asked again; it may be another one by now. */
const WANT_MS = 2000;
/** How long a living server may take to write a run's last frames after the run's end. */
const LAST_FRAMES_MS = 3000;
/** How long to wait for frames of an ended run that nobody may have any more. */
const FORGOTTEN_MS = 800;

export interface RunFollowerOptions {
  sql: Sql;
  streams: RunStreams;
  log: Log;
  serverId: string;
  keeper: StreamKeeper;
  live: LiveFrames | undefined;
  /** Whether this server executes the run. */
  isActive(runId: string): boolean;
  /** True when no other server shares the database. */
  alone(): boolean;
}

interface Followed {
  stream: RunStream;
  askedAt: number;
  /** When the run was first seen to have ended, although its stream had not. */
  finalAt: number;
}

export class RunFollower {
  readonly #o: RunFollowerOptions;
  #followed = new Map<string, Followed>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #again = false;

  constructor(options: RunFollowerOptions) {
    this.#o = options;
    options.live?.listen((runId, first, frames, ended) => {
      const followed = this.#followed.get(runId);
      if (!followed || followed.stream.keeping || this.#o.isActive(runId)) return;
      const fits = frames === "" || followed.stream.appendMade(first, frames);
      if (!fits || ended) this.#lookSoon();
    });
  }

  /**
   * The run's stream, which will end when the run does.
   * @param pendingOn its thread, when the run may be pending: whoever will execute it keeps its frames from the start
   */
  follow(runId: string, pendingOn?: string): RunStream {
    const stream = this.#o.streams.open(runId);
    if (stream.outcome || this.#followed.has(runId)) return stream;
    this.#followed.set(runId, { stream, askedAt: 0, finalAt: 0 });
    this.#o.live?.subscribe(runId);
    this.#timer ??= setInterval(() => void this.#look(), POLL_MS);
    if (pendingOn !== undefined && !this.#o.alone()) {
      // without it the frames come as well, later
      announceWant(this.#o.sql, runId, pendingOn).catch(() => {});
    }
    this.#lookSoon();
    return stream;
  }

  /** True when nobody but this server can have frames that are not kept. */
  get alone(): boolean {
    return this.#o.alone();
  }

  /** The database says that something happened to this run. */
  onNotice(runId: string): void {
    if (this.#followed.has(runId)) this.#lookSoon();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#followed.clear();
  }

  /** Reads into a stream what is kept of it and not yet here. */
  async catchUp(stream: RunStream, frames: number): Promise<void> {
    while (stream.log.appended < frames && !stream.own) {
      const segments = await selectSegments(this.#o.sql, stream.runId, stream.log.appended);
      const before = stream.log.appended;
      for (const { first, frames: text } of segments) stream.appendMade(first, text);
      // swept away meanwhile
      if (stream.log.appended === before) return;
    }
  }

  #lookSoon(): void {
    if (this.#looking) this.#again = true;
    else setImmediate(() => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      // those that are executed here end with their execution, which knows more than their rows
      const ids = [...this.#followed.keys()].filter((id) => !this.#o.isActive(id));
      const rows = ids.length > 0 ? await selectFollowedRuns(this.#o.sql, ids) : [];
      const found = new Map(rows.map((row) => [row.run_id, row]));
      const wanted: string[] = [];
      for (const id of ids) {
        const followed = this.#followed.get(id);
        // it may have been claimed while the query was under way
        if (!followed || this.#o.isActive(id)) continue;
        if (await this.#advance(followed, found.get(id))) wanted.push(id);
      }
      if (wanted.length > 0) await wantStreams(this.#o.sql, wanted);
    } catch (error) {
      if (!isDatabaseAway(error)) this.#o.log.error({ err: error }, "runs could not be followed");
    } finally {
      this.#looking = false;
      if (this.#followed.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      } else if (this.#again) {
        this.#again = false;
        this.#lookSoon();
      }
    }
  }

  /** @returns true when the executing server is to be asked */
  async #advance(followed: Followed, row: FollowedRun | undefined): Promise<boolean> {
    const { stream } = followed;
    if (stream.outcome) {
      this.#forget(stream.runId);
      return false;
    }
    const elsewhere = row?.run_status === "running" && row.server_id !== this.#o.serverId;
    if (elsewhere) this.#o.keeper.drop(stream);
    if (row?.frames && !stream.keeping) await this.catchUp(stream, row.frames);
    if (row?.run_status === "pending" || row?.run_status === "running") {
      if (!elsewhere || Date.now() - followed.askedAt < WANT_MS) return false;
      followed.askedAt = Date.now();
      return true;
    }
    const patience = this.#patience(row);
    if (patience > 0) {
      followed.finalAt ||= Date.now();
      if (Date.now() - followed.finalAt < patience) return !row?.frames;
    }
    if (row?.frames && row.stream_status === null && !row.server_lives && !stream.own) {
      const [unended] = await selectUnendedStreams(this.#o.sql, stream.runId);
      if (unended) await endKeptStream(this.#o.sql, unended);
      this.#again = true;
      return false;
    }
    if (this.#o.isActive(stream.runId)) return false;
    this.#forget(stream.runId);
    this.#o.streams.end(stream.runId, outcomeOf(stream, row));
    return false;
  }

  /** How long the end of a run's stream may come after the run's own. */
  #patience(row: FollowedRun | undefined): number {
    if (row?.frames) {
      if (row.stream_status !== null) return 0;
      return row.server_lives || row.run_status === null ? LAST_FRAMES_MS : 0;
    }
    // a temporary run goes with its end; who executed it has its frames, though it may be too new to be known here
    if (!row || row.run_status === null) return LAST_FRAMES_MS;
    if (this.#o.alone()) return 0;
    return row.server_lives && row.server_id !== this.#o.serverId && row.is_recent ? FORGOTTEN_MS : 0;
  }

  #forget(runId: string): void {
    this.#followed.delete(runId);
    this.#o.live?.unsubscribe(runId);
  }
}

function outcomeOf(stream: RunStream, row: FollowedRun | undefined): RunOutcome {
  const status = row?.stream_status ?? row?.run_status ?? "deleted";
  const error = row?.error ?? parseError(stream.lastError) ?? undefined;
  if (error && stream.log.appended === 0) stream.append("error", JSON.stringify(error));
  // all frames are here, or none can be trusted to be the last
  const whole = row?.stream_status != null && !stream.own;
  const state = row?.values ? `{"values":${row.values}}` : null;
  return {
    status,
    answer: withLinks(
      answerOf(status, error, whole ? stream.lastValues : undefined, state),
      stream.links ?? row?.links ?? undefined,
    ),
  };
}

function parseError(data: Buffer | undefined): { error: string; message: string } | undefined {
  return data && (JSON.parse(data.toString()) as { error: string; message: string });
}
