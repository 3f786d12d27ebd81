/** What hosts report of the runs that they execute: events, which go to the run's stream, and marks of checkpoints. */
import type { ActiveRun } from "./active-run.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { isProtocolRun } from "./start-run.ts";

/** Prefix of events that are numbered in the thread's log instead of the run's stream. */
const PROTOCOL = "protocol:";

export class RunFrames {
  readonly #o: Pick<RunQueueOptions, "streams" | "protocol" | "keeper" | "hosts">;
  readonly #active: ReadonlyMap<string, ActiveRun>;

  constructor(options: RunQueueOptions, active: ReadonlyMap<string, ActiveRun>) {
    this.#o = options;
    this.#active = active;
  }

  onEvent(runId: string, event: string, data: Buffer): void {
    const run = this.#active.get(runId);
    if (!run) return;
    if (event.startsWith(PROTOCOL)) this.#o.protocol.append(run, event.slice(PROTOCOL.length), data);
    else this.#o.streams.open(runId).emit(run.attempt, event, data);
  }

  /** Handles an attempt that resumes from a checkpoint: the frames up to there belong to an earlier attempt. */
  onResumed(runId: string, checkpointId: string | null): void {
    const run = this.#active.get(runId);
    const stream = run && this.#o.streams.open(runId);
    if (!run || stream?.execution?.attempt !== run.attempt) return;
    if (checkpointId !== null && stream.marks.reaches(checkpointId)) return;
    const reason = "An earlier attempt was interrupted, and some of its frames may be missing.";
    stream.markIncomplete(reason, run.attempt);
    if (isProtocolRun(run)) this.#o.protocol.markIncomplete(run, reason);
  }

  onMark(runId: string, checkpointId: string): void {
    const run = this.#active.get(runId);
    const stream = this.#o.streams.get(runId);
    if (!run || !stream) return;
    if (!isProtocolRun(run)) return stream.mark(checkpointId);
    // its events are numbered separately from the stream
    void this.#o.protocol.settled(runId).then(() => stream.mark(checkpointId));
  }

  /** Handles requests of other servers whose readers follow runs that are, or were, executed here. */
  onWanted(runIds: string[]): void {
    for (const runId of runIds) {
      const stream = this.#o.streams.get(runId);
      if (!stream) continue;
      this.#o.keeper.want(stream);
      const run = this.#active.get(runId);
      if (!run || run.start.hold_end) continue;
      // its end is then written with its last frames, unless the host is about to write it
      run.start.hold_end = true;
      this.#o.hosts().holdEnd(runId);
    }
  }
}
