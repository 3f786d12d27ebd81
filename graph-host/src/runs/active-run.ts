import { AsyncLocalStorage } from "node:async_hooks";
import type { CheckpointClock } from "../checkpoints/checkpoint-clock.ts";
import type { RunEnd, RunStart } from "../protocol.ts";

/** Why a run is to stop before its graph has ended by itself. */
export type Stop = Pick<RunEnd, "outcome" | "error">;

/** User code that does not listen to the signal is left behind after this time. */
const GRACE_MS = 1000;

/**
 * A run that goes on in this process: running → stopping → closed.
 *
 * `stop` asks user code to end, through the signal, and settles `abandoned` when it has not done so in
 * time. A closed run emits nothing any more, whatever its left-behind code still does.
 */
export class ActiveRun {
  readonly start: RunStart;
  readonly abandoned: Promise<Stop>;
  stopped: Stop | undefined;
  /** The final status is the server's to write. */
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

  /** A newer attempt of the run has come to this very process: this one must not be heard of again. */
  supersede(): void {
    this.stop({ outcome: "fenced" }, new Error("a newer attempt runs"));
    this.#closed = true;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}

/**
 * Whose code is executing: Node keeps the value across awaits, timers and input and output, and still
 * knows it when an error reaches nobody's `catch`. The exception is `queueMicrotask`.
 */
export const currentWork = new AsyncLocalStorage<Work>();

interface Work {
  fail(error: unknown): void;
  /** Makes the ids of its checkpoints. */
  clock: CheckpointClock;
}
