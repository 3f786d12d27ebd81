/**
 * The frames of all runs of a thread, in the order in which the runs started, for as long as a reader is connected. A
 * thread's runs take turns, so its stream is their streams one after the other.
 *
 * A frame's id is its run's id and its number there. A reader that resumes with one gets the next frame of that run,
 * whichever server executes it, and then the runs after it. Frames of runs past their time to live are left out.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { frameData, splitFrames } from "../../base/events/sse.ts";
import type { ReaderDeps } from "../runs/read-run.ts";
import { isEvent } from "../streams/protocol-frames.ts";
import type { RunStream } from "../streams/run-streams.ts";
import {
  type RunPosition,
  selectLastStarted,
  selectRunPosition,
  selectStartedRuns,
  selectThreadSigns,
  selectThreadState,
  type StartedRun,
  type ThreadVersion,
} from "./sql.ts";
import type { ThreadWatch } from "./thread-watch.ts";

/** Longest wait for existing frames to arrive from the server that executes the run. */
const ARRIVAL_MS = 1500;

export interface ThreadPosition {
  runId: string;
  /** Number of the last frame that the reader has seen. */
  number: number;
}

export type ThreadFrame =
  /** For an end, `number` is one past the run's last frame. */
  | { kind: "frame"; runId: string; number: number; name: string; frame: Buffer }
  | { kind: "end"; runId: string; number: number }
  /** JSON text of the thread's new state. */
  | { kind: "state"; state: string };

export interface ThreadFramesOptions {
  threadId: string;
  /** "now": new frames only; "start": all that are kept. */
  from: ThreadPosition | "now" | "start";
  /** Whether to emit changes of the state as well. */
  states: boolean;
  signal: AbortSignal;
}

export type ThreadReaderDeps = ReaderDeps & { threadWatch: ThreadWatch };

/**
 * Opens the stream of a thread's frames. "now" is the moment when this resolves. The stream ends when the signal
 * aborts, the thread is deleted, or the server stops. Undefined when the thread does not exist.
 */
export async function openThreadFrames(
  deps: ThreadReaderDeps,
  options: ThreadFramesOptions,
): Promise<AsyncGenerator<ThreadFrame> | undefined> {
  const [sign] = await selectThreadSigns(deps.sql, [options.threadId]);
  return sign && threadFrames(deps, options, sign, await findStart(deps, options));
}

async function* threadFrames(
  deps: ThreadReaderDeps,
  { threadId, signal, states }: ThreadFramesOptions,
  from: ThreadVersion,
  { after, resumed }: Start,
): AsyncGenerator<ThreadFrame> {
  let sign: ThreadVersion | undefined = from;
  if (resumed) yield* runFrames(deps, resumed.run, resumed.from, signal);
  while (sign && !signal.aborted) {
    for (;;) {
      const runs = await selectStartedRuns(deps.sql, threadId, after);
      for (const run of runs) {
        yield* runFrames(deps, run, 0, signal);
        after = run;
      }
      if (runs.length === 0) break;
    }
    if (signal.aborted) return;
    const before: string = sign.state;
    sign = await deps.threadWatch.next(threadId, sign, signal);
    if (states && sign && sign.state !== before) {
      const state = await selectThreadState(deps.sql, threadId);
      if (state !== undefined) yield { kind: "state", state };
    }
  }
}

interface Start {
  after: RunPosition | null;
  resumed?: { run: StartedRun; from: number };
}

async function findStart(deps: ThreadReaderDeps, { threadId, from }: ThreadFramesOptions): Promise<Start> {
  if (from === "start") return { after: null };
  if (from !== "now") {
    const run = await selectRunPosition(deps.sql, threadId, from.runId);
    if (run) return { after: run, resumed: { run, from: from.number + 1 } };
    // rolled back or deleted: no frame can follow
  }
  const run = await selectLastStarted(deps.sql, threadId);
  if (!run) return { after: null };
  if (run.is_final) return { after: run };
  const stream = openStream(deps, run);
  // existing frames are skipped; those of another server's run have to arrive first to be counted
  if (!deps.queue.has(run.run_id))
    await Promise.race([stream.log.waitFor(0), sleep(ARRIVAL_MS, undefined, { ref: false })]);
  return { after: run, resumed: { run, from: stream.log.count } };
}

function openStream({ streams, queue, follower }: ReaderDeps, run: RunPosition): RunStream {
  const local = streams.get(run.run_id);
  return local && (local.outcome || queue.has(run.run_id)) ? local : follower.follow(run.run_id);
}

/** Yields a run's frames from number `from`, then its end. */
async function* runFrames(
  deps: ThreadReaderDeps,
  run: StartedRun,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<ThreadFrame> {
  const { run_id: runId } = run;
  const { log } = openStream(deps, run);
  log.acquire();
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  try {
    for (let at = from; !signal.aborted;) {
      await Promise.race([log.waitFor(at), aborted]);
      // the run may continue on another server: the reader must reconnect, not take this for the run's end
      if (log.aborted) throw new Error("the stream of a run was disposed of");
      if (at >= log.count) {
        // the end may have been emitted already
        if (log.closed && at === log.count && log.count > 0) yield { kind: "end", runId, number: at };
        return;
      }
      const { bytes, next } = await log.read(at);
      if (next === at) throw new Error("the stream of a run was disposed of");
      for (const { name, frame } of bytes ? splitFrames(bytes) : []) {
        const number = at++;
        if (!isEvent(name)) yield { kind: "frame", runId, number, name, frame };
      }
    }
  } finally {
    log.release();
  }
}

/** Returns the frame's bytes with another id. */
export function frameWithId(name: string, frame: Buffer, id: string): Buffer {
  return Buffer.concat([Buffer.from(`event: ${name}\ndata: `), frameData(frame), Buffer.from(`\nid: ${id}\n\n`)]);
}
