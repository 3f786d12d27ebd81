import type { Log } from "../log.ts";
import { RepeatedFailure } from "../repeated-failure.ts";

export interface PollerOptions {
  /** Processes all pending work once. */
  pass: () => Promise<void>;
  /** Interval of unprompted passes, in milliseconds. */
  everyMs: number;
  log: Log;
  /** Message logged when a pass fails: at the first failure, then again with a count. */
  failing: string;
}

/**
 * Poller: runs one pass at a time, at an interval and soon after each wake-up. A wake-up during a pass schedules
 * another one, because the current pass may have looked already. A failed pass is retried at the next occasion.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly failure: RepeatedFailure;
  #timer: NodeJS.Timeout | undefined;
  #going: Promise<void> = Promise.resolve();
  #isGoing = false;
  #again = false;
  #stopped = false;

  constructor(options: PollerOptions) {
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

  /** Resolves when the current pass has ended; no other follows. */
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
      // in the same turn as the last check of #again, or a call in between would be lost
      this.#isGoing = false;
    }
  }
}
