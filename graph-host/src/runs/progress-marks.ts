/** Delay after a commit by which a checkpoint's values have been emitted. */
const SETTLE_MS = 10;

/**
 * Reports to the server which checkpoints of a run precede the frames sent so far: a mark follows the commit of a
 * checkpoint as soon as the events that led to it, and its own values, have been sent. Checkpoints within a few
 * milliseconds of each other share a mark.
 */
export class ProgressMarks {
  readonly #send: (checkpointId: string) => void;
  readonly #pause: () => Promise<void> | undefined;
  #reached: string | undefined;
  /** Whether `#reached` is newer than the running timer. */
  #isNew = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(send: (checkpointId: string) => void, pause: () => Promise<void> | undefined) {
    this.#send = send;
    this.#pause = pause;
  }

  /** Records that a checkpoint of the root graph is committed. */
  reached(checkpointId: string): void {
    if (this.#closed) return;
    this.#reached = checkpointId;
    this.#isNew = this.#timer !== undefined;
    this.#timer ??= setTimeout(() => this.#settled(), SETTLE_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #settled(): void {
    this.#timer = undefined;
    if (this.#closed) return;
    // frames wait until the server has consumed the previous ones
    if (this.#isNew || this.#pause()) {
      this.#isNew = false;
      this.#timer = setTimeout(() => this.#settled(), SETTLE_MS).unref();
      return;
    }
    this.#send(this.#reached!);
  }
}
