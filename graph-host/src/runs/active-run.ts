import { AsyncLocalStorage } from "node:async_hooks";
import type { CheckpointClock } from "../checkpoints/checkpoint-clock.ts";
import type { RunEnd, RunStart } from "../../../host-kit/src/host-protocol.ts";

/** Outcome of a run that is to stop before its graph has ended by itself. */
export type Stop = Pick<RunEnd, "outcome" | "error">;

/** Grace period after which user code that ignores the signal is abandoned. */
const GRACE_MS = 1000;

/**
 * A run that executes in this process: running → stopping → closed.
 *
 * `stop` asks user code to end, through the signal, and settles `abandoned` when it has not done so in time. A closed
 * run emits nothing more, whatever its abandoned code still does.
 */
export class ActiveRun {
  readonly start: RunStart;
  readonly abandoned: Promise<Stop>;
  stopped: Stop | undefined;
  /** The server writes the final status. */
  holdsEnd: boolean;
  #controller = new AbortController();
  #abandon!: (stop: Stop) => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(start: RunStart) {
    this.start = start;
    this.holdsEnd = start.hold_end ?? false;
    this.abandoned = new Promise((resolve) => (this.#abandon = resolve));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get closed(): boolean {
    return this.#closed;
  }

  stop(stop: Stop, reason: unknown): void {
    if (this.stopped || this.#closed) return;
    this.stopped = stop;
    this.#timer = setTimeout(() => this.#abandon(stop), GRACE_MS);
    this.#controller.abort(reason);
  }

  /** Closes this attempt without an end, because a newer attempt of the run was started in this process. */
  supersede(): void {
    this.stop({ outcome: "fenced" }, new Error("a newer attempt is running"));
    this.#closed = true;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}

/**
 * Run or call whose code is executing: Node keeps the value across awaits, timers and I/O, and still has it for errors
 * that no `catch` handles. The exception is `queueMicrotask`.
 */
export const currentWork = new AsyncLocalStorage<Work>();

interface Work {
  fail(error: unknown): void;
  /** Absent for calls. */
  runId?: string;
  /** Clock for the ids of its checkpoints. */
  clock: CheckpointClock;
}
