/** Starts runs: continues their streams after the frames of earlier attempts, and hands them to graph hosts. */
import type { RunStream } from "../streams/run-streams.ts";
import type { KeptLength } from "../streams/sql.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunEvent } from "./phase.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { type BegunRun, isProtocolRun, metadataOf, parseQuestions } from "./start-run.ts";
import { continueStream } from "./take-over.ts";

/** Stored stream of earlier attempts: absent, or it could not be determined. */
export type Kept = KeptLength | "unknown" | undefined;

const CANCELLED = { is: "ended", end: { outcome: "cancelled" } } as const;

export class RunDispatch {
  readonly #o: Pick<RunQueueOptions, "hosts" | "streams" | "follower" | "keeper">;
  /** Time until which no other server can declare this one dead, by `performance.now()`. */
  #leasedUntil = Number.POSITIVE_INFINITY;

  constructor(options: RunQueueOptions) {
    this.#o = options;
  }

  /** @returns whether the lease was in doubt until now */
  renewLease(until: number): boolean {
    const wasDoubted = performance.now() >= this.#leasedUntil;
    this.#leasedUntil = until;
    return wasDoubted;
  }

  /**
   * Prepares the run's stream.
   * @param kept its stream in the database; undefined when there is no stored stream of an earlier attempt
   * @param isKept whether its frames are stored
   */
  prepare(run: ActiveRun, row: BegunRun, kept: Kept, isKept: boolean): RunEvent | Promise<RunEvent> {
    const stream = this.#o.streams.open(run.runId);
    setExecution(stream, run);
    if (kept === "unknown") {
      this.emitMetadata(run);
      if (isKept) stream.markIncomplete("Its frames could not be stored.", run.attempt);
      return this.#prepared(run, row);
    }
    // the frames of earlier attempts come first
    if (kept)
      return continueStream(this.#o, stream, run.attempt, kept).then(
        (own) => {
          if (run.phase !== "gone") this.#keep(run, own, kept.frames);
          return this.#prepared(run, row);
        },
        () => ({ is: "returned", blame: false, reason: "The frames of its earlier attempts could not be read." }),
      );
    if (row.metadataStored) {
      run.hasMetadata = true;
      // a follower may have read the stored frame already
      if (stream.log.appended === 0) stream.emit(run.attempt, "metadata", metadataOf(run.runId, run.attempt));
    }
    if (isKept) this.#keep(run, stream, row.metadataStored ? 1 : 0);
    return this.#prepared(run, row);
  }

  /** @param stored number of frames already kept */
  #keep(run: ActiveRun, stream: RunStream, stored: number): void {
    setExecution(stream, run);
    const { threadId, attempt } = run;
    this.#o.keeper.keep(stream, { threadId, attempt, stored, held: true });
  }

  #prepared(run: ActiveRun, row: BegunRun): RunEvent {
    if (row.cancel_action) return CANCELLED;
    const rejected = parseQuestions(row.kwargs)?.refused;
    if (rejected === undefined) return { is: "prepared" };
    this.emitMetadata(run);
    return { is: "ended", end: { outcome: "refused", error: { error: "UnknownInterruptError", message: rejected } } };
  }

  /** Hands the run to a host. */
  dispatch(run: ActiveRun): RunEvent {
    const hosts = this.#o.hosts();
    try {
      if (run.graphId === null) throw new Error("The run's assistant was deleted.");
      hosts.checkGraph(run.graphId);
    } catch (error) {
      const failure = { error: "GraphLoadError", message: (error as Error).message };
      return { is: "ended", end: { outcome: "error", error: failure } };
    }
    // the lease may have expired, and another server ended the run: wait for a heartbeat that still shows its row
    if (performance.now() >= this.#leasedUntil) return { is: "doubted" };
    return hosts.startRun(run.start, run.kwargs, run.suspicion) ? { is: "hosted" } : { is: "unhosted" };
  }

  /** Emits the first frame of the attempt: here, not in the host, so that it waits for no process. */
  emitMetadata(run: ActiveRun): void {
    if (run.hasMetadata) return;
    run.hasMetadata = true;
    const discarded = parseQuestions(run.kwargs)?.discarded;
    this.#o.streams.open(run.runId).emit(run.attempt, "metadata", metadataOf(run.runId, run.attempt, discarded));
  }
}

function setExecution(stream: RunStream, run: ActiveRun): void {
  stream.execution = { threadId: run.threadId, attempt: run.attempt };
  if (isProtocolRun(run)) stream.protocolGraph = run.graphId ?? "";
}
