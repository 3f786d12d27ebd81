/** A checkpoint's values are emitted just after its commit; by this time they are on their way. */
const SETTLE_MS = 10;

/**
 * Tells the server which checkpoints of a run are behind the frames that it has been sent: a mark follows the commit of
 * a checkpoint as soon as what led to it, and its own values, have been sent. Checkpoints that follow each other within
 * a few milliseconds share a mark.
 */
export class ProgressMarks {
  readonly #send: (checkpointId: string) => void;
  readonly #pause: () => Promise<void> | undefined;
  #reached: string | undefined;
  /** When `#reached` was committed last, the timer is for an earlier one. */
  #isNew = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(send: (checkpointId: string) => void, pause: () => Promise<void> | undefined) {
    this.#send = send;
    this.#pause = pause;
  }

  /** A checkpoint of the root graph is committed. */
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
    // frames wait for the server to take those before them
    if (this.#isNew || this.#pause()) {
      this.#isNew = false;
      this.#timer = setTimeout(() => this.#settled(), SETTLE_MS).unref();
      return;
    }
    this.#send(this.#reached!);
  }
}
