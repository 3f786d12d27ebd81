/**
 * The frames of all runs of a thread, in the order in which the runs began, for as long as somebody listens.
 *
 * A thread's runs take turns, so its stream is their streams one after the other. A frame's id names the run and its
 * number there; a reader that comes back with one goes on with the next frame of that run, wherever it is executed,
 * and then with the runs after it. Frames of runs whose time to live is over are left out.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { frameData, splitFrames } from "../../base/events/sse.ts";
import type { ReaderDeps } from "../runs/read-run.ts";
import type { RunStream } from "../runs/run-streams.ts";
import {
  type RunPlace,
  selectLastStarted,
  selectRunPlace,
  selectStartedRuns,
  selectThreadSigns,
  selectThreadState,
  type StartedRun,
  type ThreadSign,
} from "./sql.ts";
import type { ThreadWatch } from "./thread-watch.ts";

/** How long frames that are made already may take to get here from the server that executes the run. */
const ARRIVAL_MS = 1500;

export interface ThreadPosition {
  runId: string;
  /** Of the last frame that was seen. */
  number: number;
}

export type ThreadFrame =
  /** `number` is one past the run's last frame when the run's end is told. */
  | { kind: "frame"; runId: string; number: number; name: string; frame: Buffer }
  | { kind: "end"; runId: string; number: number }
  /** JSON text of the thread's state, which has changed. */
  | { kind: "state"; state: string };

export interface ThreadFramesOptions {
  threadId: string;
  /** "now": only what comes; "start": all that is kept. */
  from: ThreadPosition | "now" | "start";
  /** Whether changes of the state are told too. */
  states: boolean;
  signal: AbortSignal;
}

export type ThreadReaderDeps = ReaderDeps & { threadWatch: ThreadWatch };

/**
 * "Now" is when this resolves. The frames end when the signal is given, the thread is gone, or the server stops.
 * Undefined: there is no such thread.
 */
export async function openThreadFrames(
  deps: ThreadReaderDeps,
  options: ThreadFramesOptions,
): Promise<AsyncGenerator<ThreadFrame> | undefined> {
  const [sign] = await selectThreadSigns(deps.sql, [options.threadId]);
  return sign && threadFrames(deps, options, sign, await startOf(deps, options));
}

async function* threadFrames(
  deps: ThreadReaderDeps,
  { threadId, signal, states }: ThreadFramesOptions,
  from: ThreadSign,
  { after, resumed }: Start,
): AsyncGenerator<ThreadFrame> {
  let sign: ThreadSign | undefined = from;
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
  after: RunPlace | null;
  resumed?: { run: StartedRun; from: number };
}

async function startOf(deps: ThreadReaderDeps, { threadId, from }: ThreadFramesOptions): Promise<Start> {
  if (from === "start") return { after: null };
  if (from !== "now") {
    const run = await selectRunPlace(deps.sql, threadId, from.runId);
    if (run) return { after: run, resumed: { run, from: from.number + 1 } };
    // rolled back or deleted meanwhile: nothing of it can follow
  }
  const run = await selectLastStarted(deps.sql, threadId);
  if (!run) return { after: null };
  if (run.is_final) return { after: run };
  const stream = streamOf(deps, run);
  // what was made before is not news; elsewhere it is known when it comes
  if (!deps.queue.has(run.run_id))
    await Promise.race([stream.log.waitFor(0), sleep(ARRIVAL_MS, undefined, { ref: false })]);
  return { after: run, resumed: { run, from: stream.log.count } };
}

function streamOf({ streams, queue, follower }: ReaderDeps, run: RunPlace): RunStream {
  const local = streams.get(run.run_id);
  return local && (local.outcome || queue.has(run.run_id)) ? local : follower.follow(run.run_id);
}

/** From frame `from` on to the run's end, and that. */
async function* runFrames(
  deps: ThreadReaderDeps,
  run: StartedRun,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<ThreadFrame> {
  const { run_id: runId } = run;
  const { log } = streamOf(deps, run);
  log.acquire();
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  try {
    for (let at = from; !signal.aborted;) {
      await Promise.race([log.waitFor(at), aborted]);
      // it may go on elsewhere: the reader has to come back, not to take this for the run's end
      if (log.aborted) throw new Error("the stream of a run was disposed of");
      if (at >= log.count) {
        // its end may have been told already
        if (log.closed && at === log.count && log.count > 0) yield { kind: "end", runId, number: at };
        return;
      }
      const { bytes, next } = await log.read(at);
      if (next === at) throw new Error("the stream of a run was disposed of");
      for (const { name, frame } of bytes ? splitFrames(bytes) : []) {
        yield { kind: "frame", runId, number: at++, name, frame };
      }
    }
  } finally {
    log.release();
  }
}

/** A frame with another id, as bytes. */
export function frameWithId(name: string, frame: Buffer, id: string): Buffer {
  return Buffer.concat([Buffer.from(`event: ${name}\ndata: `), frameData(frame), Buffer.from(`\nid: ${id}\n\n`)]);
}
