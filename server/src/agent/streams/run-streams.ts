import { rm } from "node:fs/promises";
import { join } from "node:path";

import { deferred, type Deferred } from "../../base/deferred.ts";
import { FrameLog } from "../../base/events/frame-log.ts";
import type { SpillSpace } from "../../base/events/spill-space.ts";
import { frameData, splitFrames, sseFrame } from "../../base/events/sse.ts";
import type { RunStatus } from "./finished-run.ts";
import { eventFrameName, incompleteEvent, isEvent } from "./protocol-frames.ts";
import { StreamMarks } from "./stream-marks.ts";

/** Outcome of a run, for its readers on this server. */
export interface RunOutcome {
  status: RunStatus | "deleted";
  /** JSON text of the response of `wait` and `join`, or a function that reads it. */
  output: Buffer | string | (() => Promise<Buffer | string>);
}

export const readOutput = async ({ output }: RunOutcome): Promise<Buffer | string> =>
  typeof output === "function" ? output() : output;

/** Progress of writing a run's frames to the database; see stream-keeper.ts. */
export interface PersistProgress {
  threadId: string;
  attempt: number;
  /** Number of stored frames. */
  stored: number;
  /** Version of the stored marks: `StreamMarks.version`. */
  marked: number;
  /** Whether frames are shown to readers only after they are stored. */
  held: boolean;
  /** Whether another server reads the stream. */
  wanted: boolean;
}

/** Memory of one run's frames before they move to a file. */
const RUN_MEMORY_BYTES = 2 * 1024 * 1024;
/** Marks are written with the next frames, or alone after this pause. */
const MARK_MS = 100;
/** Events that are still appended to a stream that was cut short. */
const TERMINAL_EVENTS = new Set(["incomplete", "error", "feedback"]);

/** Dependencies shared by a server's streams. */
export interface StreamBacking {
  space?: SpillSpace;
  /** Reads frames of the stored stream. */
  readKept?: (runId: string, from: number, count: number) => Promise<Buffer[]>;
  /** Marks the run's row as having an incomplete stream. Never rejects. */
  flagIncomplete?: (runId: string, reason: string) => Promise<void>;
}

/** A run's frames and its end, as far as this server knows them. */
export class RunStream {
  readonly runId: string;
  readonly log: FrameLog;
  readonly done: Deferred<RunOutcome> = deferred();
  outcome: RunOutcome | undefined;
  /** Data of the last `values` event of the root graph: the result of the run. */
  lastValues: Buffer | undefined;
  /** Data of the `feedback` event that another server sent. */
  links: string | undefined;
  /** Data of the `error` event that another server sent. */
  lastError: Buffer | undefined;
  endedAt = 0;
  /** Thread and attempt of a run that is, or was, executed here. */
  execution: { threadId: string; attempt: number } | undefined;
  /** Graph of a run of protocol v2 that is executed here. */
  protocolGraph: string | undefined;
  keeping: PersistProgress | undefined;
  /** Whether all of its frames and its end are stored. */
  kept = false;
  /** Number of leading frames known to be identical to those of the stored stream. */
  common = 0;
  readonly marks = new StreamMarks();
  /** Reason why frames are missing; undefined while none is known to be missing. */
  incomplete: string | undefined;
  /** Settles when the run's row is marked as incomplete. */
  flagged: Promise<void> | undefined;
  /** Called for each new frame and for the end. */
  onChange: (() => void) | undefined;
  /** Memory cost in bytes, set at the end: frames in memory, plus 4000 and 300 per frame for bookkeeping (measured). */
  weight = 0;

  readonly #backing: StreamBacking;
  #isCut = false;
  #isMoved = false;
  #markTimer: NodeJS.Timeout | undefined;

  constructor(runId: string, file: string, backing: StreamBacking = {}) {
    this.runId = runId;
    this.#backing = backing;
    const { space, readKept } = backing;
    this.log = new FrameLog({
      memoryBytes: RUN_MEMORY_BYTES,
      file,
      ...(space && { space }),
      ...(readKept && {
        elsewhere: {
          count: () => this.common,
          isGrowing: () => this.keeping !== undefined,
          read: (from: number, count: number) => readKept(runId, from, count),
        },
      }),
      onFull: (reason) => this.#cutShort(reason),
    });
  }

  /** Whether it has frames that were made here and exist nowhere else: frames of other servers cannot follow them. */
  get own(): boolean {
    return this.common < this.log.appended;
  }

  append(event: string, data: Buffer | string): void {
    if (event === "values") this.lastValues = typeof data === "string" ? Buffer.from(data) : data;
    if (this.#isCut && !TERMINAL_EVENTS.has(event)) return;
    this.#append(event, this.log.appended, data);
  }

  /** Appends an event of an attempt executed here. Ignored once another server writes the stream. */
  emit(attempt: number, event: string, data: Buffer | string): void {
    if (this.execution?.attempt === attempt) this.append(isEvent(event) ? eventFrameName(event) : event, data);
  }

  #append(event: string, id: number | undefined, data: Buffer | string): void {
    this.log.append(event, sseFrame(id, event, data));
    this.onChange?.();
  }

  /** Notes that all frames up to this checkpoint have been appended. */
  mark(checkpointId: string): void {
    if (this.#isCut) return;
    this.marks.add({ checkpointId, frames: this.log.appended });
    if (!this.onChange) return;
    this.#markTimer ??= setTimeout(() => {
      this.#markTimer = undefined;
      this.onChange?.();
    }, MARK_MS).unref();
  }

  /** Notes that frames are missing from here on, of `attempt` or an earlier one. Marks the stream and its run. */
  markIncomplete(reason: string, attempt: number): void {
    this.incomplete ??= reason;
    this.#append("incomplete", this.log.appended, this.#describeGap(reason, attempt));
    if (this.protocolGraph !== undefined) {
      const { event, data } = incompleteEvent({ runId: this.runId, attempt, graph: this.protocolGraph }, reason);
      this.#append(event, this.log.appended, data);
    }
    this.flagged ??= this.#backing.flagIncomplete?.(this.runId, reason);
  }

  /**
   * Ends a stream whose further frames exist elsewhere, if anywhere: marks the run, then tells the readers. The event has
   * no id, because the missing frames have the ids.
   */
  async endMoved(reason: string, attempt: number, outcome: () => RunOutcome): Promise<void> {
    if (this.#isMoved) return;
    this.#isMoved = true;
    this.incomplete ??= reason;
    await (this.flagged ??= this.#backing.flagIncomplete?.(this.runId, reason));
    this.#append("incomplete", undefined, this.#describeGap(reason, attempt));
    this.end(outcome());
  }

  #describeGap(reason: string, attempt: number): string {
    return JSON.stringify({ run_id: this.runId, attempt, reason });
  }

  /** Drops the frames that readers have not seen. */
  dropHidden(): void {
    this.log.dropHidden();
    this.marks.cut(this.log.appended);
  }

  /** Stops accepting frames because storage is exhausted. Existing frames stay; the stream ends as incomplete. */
  #cutShort(reason: string): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.markIncomplete(reason, this.execution?.attempt ?? 0);
  }

  /**
   * Appends frames that another server emitted, if they are the next ones.
   * @returns false when they are not
   */
  appendRemote(first: number, frames: string): boolean {
    if (first !== this.log.appended || this.own) return false;
    for (const { name, frame } of splitFrames(Buffer.from(frames))) {
      if (name === "values") this.lastValues = frameData(frame);
      else if (name === "error") this.lastError = frameData(frame);
      else if (name === "feedback") this.links = frameData(frame).toString();
      else if (name === "incomplete")
        this.incomplete ??= (JSON.parse(frameData(frame).toString()) as { reason: string }).reason;
      this.log.append(name, frame);
      // before a spill, which may rely on it
      this.common = this.log.appended;
    }
    this.log.showAll();
    return true;
  }

  end(outcome: RunOutcome): void {
    if (this.outcome) return;
    this.outcome = outcome;
    this.endedAt = performance.now();
    clearTimeout(this.#markTimer);
    this.weight = this.log.memory + this.log.appended * 300 + 4000;
    this.log.close();
    this.onChange?.();
    this.done.resolve(outcome);
  }
}

/**
 * Streams of the runs that this server executes or has executed. A finished one can be read until its time to live is
 * over, or until memory is needed for younger ones.
 */
export class RunStreams {
  readonly #directory: string;
  readonly #ttlMs: number;
  readonly #memoryBytes: number;
  readonly #backing: StreamBacking;
  #streams = new Map<string, RunStream>();
  /** Finished ones, oldest first. */
  #finished = new Map<string, RunStream>();
  #held = 0;
  #made = 0;
  #timer: NodeJS.Timeout;

  constructor(
    options: { dataDir: string; ttlSecs: number; memoryMb: number; serverId: string },
    backing: StreamBacking = {},
  ) {
    this.#directory = join(options.dataDir, "streams", options.serverId);
    this.#ttlMs = options.ttlSecs * 1000;
    this.#memoryBytes = options.memoryMb * 1024 * 1024;
    this.#backing = backing;
    this.#timer = setInterval(() => this.#expire(), 1000);
  }

  get(runId: string): RunStream | undefined {
    return this.#streams.get(runId);
  }

  get size(): number {
    return this.#streams.size;
  }

  open(runId: string): RunStream {
    let stream = this.#streams.get(runId);
    if (!stream) {
      stream = this.#make(runId);
      this.#streams.set(runId, stream);
    }
    return stream;
  }

  /**
   * Starts the run's stream anew, because its kept one has other frames than readers here have seen. Those readers keep
   * the old one, which ends as incomplete when the run does.
   */
  replace(old: RunStream, reason: string): RunStream {
    const fresh = this.#make(old.runId);
    this.#streams.set(old.runId, fresh);
    void fresh.done.promise.then(async (outcome) => {
      await old.endMoved(reason, fresh.execution?.attempt ?? 0, () => outcome);
      old.log.abandon();
    });
    return fresh;
  }

  end(runId: string, outcome: RunOutcome): void {
    const stream = this.#streams.get(runId);
    if (!stream || stream.outcome) return;
    stream.end(outcome);
    this.#finish(stream);
  }

  /** Ends a stream whose further frames exist elsewhere, after its run is marked. */
  async endMoved(stream: RunStream, reason: string, attempt: number, outcome: () => RunOutcome): Promise<void> {
    await stream.endMoved(reason, attempt, outcome);
    if (this.#streams.get(stream.runId) === stream) this.#finish(stream);
  }

  #finish(stream: RunStream): void {
    if (this.#finished.has(stream.runId)) return;
    this.#finished.set(stream.runId, stream);
    this.#held += stream.weight;
    this.#shrink();
  }

  #make(runId: string): RunStream {
    this.#made += 1;
    return new RunStream(runId, join(this.#directory, `${runId}.${this.#made}.frames`), this.#backing);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const stream of this.#streams.values()) await stream.log.dispose();
    this.#streams.clear();
    this.#finished.clear();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #expire(): void {
    const before = performance.now() - this.#ttlMs;
    for (const stream of this.#finished.values()) {
      if (stream.endedAt > before) break;
      this.#forget(stream);
    }
  }

  /** Evicts the oldest finished streams until they use at most half of the memory. */
  #shrink(): void {
    for (const stream of this.#finished.values()) {
      if (this.#held <= this.#memoryBytes / 2) return;
      this.#forget(stream);
    }
  }

  /** Evicts a stream. Current readers may continue; new ones do not find it. */
  #forget(stream: RunStream): void {
    this.#held -= stream.weight;
    this.#finished.delete(stream.runId);
    this.#streams.delete(stream.runId);
    stream.log.abandon();
  }
}
