import type { Log } from "../log.ts";
import { RepeatedFailure } from "../repeated-failure.ts";

export interface PassOptions {
  /** Goes once over all that there is to do. */
  pass: () => Promise<void>;
  /** How often it is done without being asked for, in milliseconds. */
  everyMs: number;
  log: Log;
  /** What is said when a pass fails: once, and again with a count. */
  failing: string;
}

/**
 * Passes over what there is to do: one at a time, now and then by itself, and soon when somebody wakes it. Who wakes it
 * during a pass gets another one, for that pass may have looked already. One that failed is tried again at the next
 * occasion.
 */
export class Passes {
  readonly #options: PassOptions;
  readonly failure: RepeatedFailure;
  #timer: NodeJS.Timeout | undefined;
  #going: Promise<void> = Promise.resolve();
  #isGoing = false;
  #again = false;
  #stopped = false;

  constructor(options: PassOptions) {
    this.#options = options;
    this.failure = new RepeatedFailure({ log: options.log, message: options.failing });
  }

  start(): void {
    this.#timer ??= setInterval(() => this.wake(), this.#options.everyMs).unref();
    this.wake();
  }

  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (!this.#isGoing) this.#going = this.#go();
  }

  /** Resolves when the pass that is under way has ended; none follows. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#going;
  }

  async #go(): Promise<void> {
    const { pass } = this.#options;
    this.#isGoing = true;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        await pass();
      }
      this.failure.succeeded();
    } catch (error) {
      if (!this.#stopped) this.failure.failed(error);
    } finally {
      // in the same turn as the last look at #again, or a call in between would be lost
      this.#isGoing = false;
    }
  }
}
