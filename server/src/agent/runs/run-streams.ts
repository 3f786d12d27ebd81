import { rm } from "node:fs/promises";
import { join } from "node:path";

import { deferred, type Deferred } from "../../base/deferred.ts";
import { FrameLog } from "../../base/events/frame-log.ts";
import { frameData, splitFrames, sseFrame } from "../../base/events/sse.ts";
import type { RunStatus } from "./sql.ts";

/** How a run ended, for those who wait for it here. */
export interface RunOutcome {
  status: RunStatus | "deleted";
  /** JSON text of what `wait` and `join` answer (contract §7.5). */
  answer: Buffer | string;
}

/** What is written of a run's frames to the database; see stream-keeper.ts. */
export interface Keeping {
  threadId: string;
  attempt: number;
  /** How many of the frames are there. */
  stored: number;
  /** Readers see frames only when they are there. */
  held: boolean;
  /** Somebody elsewhere reads. */
  wanted: boolean;
}

/** Memory of one run's frames before they move to a file. */
const RUN_MEMORY_BYTES = 2 * 1024 * 1024;

/** A run's frames and its end, as long as this server knows of them. */
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
  /** Of the run that is, or was, executed here. */
  execution: { threadId: string; attempt: number } | undefined;
  keeping: Keeping | undefined;
  /** All of its frames, and its end, are written. */
  kept = false;
  /** Frames were made here that are nowhere else: those of other servers would not fit behind them. */
  own = false;
  /** Told of each new frame, and of the end. */
  onChange: (() => void) | undefined;
  /** Memory that keeping it costs, in bytes, measured: 4000 and 300 a frame for bookkeeping. Known when it has ended. */
  weight = 0;

  constructor(runId: string, file: string) {
    this.runId = runId;
    this.log = new FrameLog({ memoryBytes: RUN_MEMORY_BYTES, file });
  }

  append(event: string, data: Buffer | string): void {
    if (event === "values") this.lastValues = typeof data === "string" ? Buffer.from(data) : data;
    this.own = true;
    this.log.append(event, sseFrame(this.log.appended, event, data));
    this.onChange?.();
  }

  /** Frames that another server made, if they are the next ones. @returns false when they are not */
  appendMade(first: number, frames: string): boolean {
    if (first !== this.log.appended || this.own) return false;
    for (const { name, frame } of splitFrames(Buffer.from(frames))) {
      if (name === "values") this.lastValues = frameData(frame);
      else if (name === "error") this.lastError = frameData(frame);
      else if (name === "feedback") this.links = frameData(frame).toString();
      this.log.append(name, frame);
    }
    this.log.showAll();
    return true;
  }

  end(outcome: RunOutcome): void {
    if (this.outcome) return;
    this.outcome = outcome;
    this.endedAt = Date.now();
    this.weight = this.log.memory + this.log.appended * 300 + 4000;
    this.log.close();
    this.onChange?.();
    this.done.resolve(outcome);
  }
}

/**
 * The streams of the runs that this server executes or has executed. A finished one can be read until its time
 * to live passes, or until memory is needed for younger ones.
 */
export class RunStreams {
  readonly #directory: string;
  readonly #ttlMs: number;
  readonly #memoryBytes: number;
  #streams = new Map<string, RunStream>();
  /** Finished ones, oldest first. */
  #finished = new Map<string, RunStream>();
  #held = 0;
  #timer: NodeJS.Timeout;

  constructor(options: { dataDir: string; ttlSecs: number; memoryMb: number; serverId: string }) {
    this.#directory = join(options.dataDir, "streams", options.serverId);
    this.#ttlMs = options.ttlSecs * 1000;
    this.#memoryBytes = options.memoryMb * 1024 * 1024;
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
      stream = new RunStream(runId, join(this.#directory, `${runId}.frames`));
      this.#streams.set(runId, stream);
    }
    return stream;
  }

  end(runId: string, outcome: RunOutcome): void {
    const stream = this.#streams.get(runId);
    if (!stream || stream.outcome) return;
    stream.end(outcome);
    this.#finished.set(runId, stream);
    this.#held += stream.weight;
    this.#shrink();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const stream of this.#streams.values()) await stream.log.dispose();
    this.#streams.clear();
    this.#finished.clear();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #expire(): void {
    const before = Date.now() - this.#ttlMs;
    for (const stream of this.#finished.values()) {
      if (stream.endedAt > before) break;
      this.#forget(stream);
    }
  }

  /** Half of the memory is for finished runs. */
  #shrink(): void {
    for (const stream of this.#finished.values()) {
      if (this.#held <= this.#memoryBytes / 2) return;
      this.#forget(stream);
    }
  }

  /** Readers that still have it may go on; nobody new finds it. */
  #forget(stream: RunStream): void {
    this.#held -= stream.weight;
    this.#finished.delete(stream.runId);
    this.#streams.delete(stream.runId);
    stream.log.abandon();
  }
}
