/** What hosts report of the runs that they execute: events, which go to the run's stream, and marks of checkpoints. */
import type { ActiveRun } from "./active-run.ts";
import type { RunQueueOptions } from "./queue-options.ts";

export class RunFrames {
  readonly #o: Pick<RunQueueOptions, "streams" | "keeper" | "hosts">;
  readonly #active: ReadonlyMap<string, ActiveRun>;

  constructor(options: RunQueueOptions, active: ReadonlyMap<string, ActiveRun>) {
    this.#o = options;
    this.#active = active;
  }

  onEvent(runId: string, event: string, data: Buffer): void {
    const run = this.#active.get(runId);
    if (!run) return;
    this.#o.streams.open(runId).emit(run.attempt, event, data);
  }

  /** Handles an attempt that resumes from a checkpoint: the frames up to there belong to an earlier attempt. */
  onResumed(runId: string, checkpointId: string | null): void {
    const run = this.#active.get(runId);
    const stream = run && this.#o.streams.open(runId);
    if (!run || stream?.execution?.attempt !== run.attempt) return;
    if (checkpointId !== null && stream.marks.reaches(checkpointId)) return;
    stream.markIncomplete("An earlier attempt was interrupted, and some of its frames may be missing.", run.attempt);
  }

  onMark(runId: string, checkpointId: string): void {
    if (this.#active.has(runId)) this.#o.streams.get(runId)?.mark(checkpointId);
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
