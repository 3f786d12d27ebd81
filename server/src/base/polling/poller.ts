import type { Log } from "../log.ts";
import { RepeatedFailure } from "../repeated-failure.ts";

export interface PollerOptions {
  /** Processes all pending work once. May return the milliseconds until the next unprompted pass. */
  pass: () => Promise<number | void>;
  /** Milliseconds until the next unprompted pass, unless `pass` returns another value. */
  everyMs: number;
  /** Milliseconds until the pass after a failed one. Default: `everyMs`. */
  retryMs?: number;
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
  #failure: RepeatedFailure;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the next planned pass. */
  #plannedAt = Infinity;
  #going: Promise<void> = Promise.resolve();
  #isGoing = false;
  #again = false;
  #started = false;
  #stopped = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#failure = this.#noFailure();
  }

  #noFailure(): RepeatedFailure {
    return new RepeatedFailure({ log: this.#options.log, message: this.#options.failing });
  }

  /** Failure state of the passes since the last start. */
  get failure(): RepeatedFailure {
    return this.#failure;
  }

  /** Whether it runs unprompted passes. */
  get isStarted(): boolean {
    return this.#started;
  }

  /** Starts the unprompted passes, also again after a stop. */
  start(delayMs = 0): void {
    if (this.#stopped) this.#failure = this.#noFailure();
    this.#stopped = false;
    this.#started = true;
    this.wake(delayMs);
  }

  /** Runs a pass at once, or within `delayMs`. */
  wake(delayMs = 0): void {
    if (this.#stopped) return;
    if (delayMs > 0) return this.#plan(delayMs);
    this.#again = true;
    if (!this.#isGoing) this.#going = this.#go();
  }

  /** Resolves when the passes that wake-ups have asked for until now have ended. */
  settled(): Promise<void> {
    return this.#going;
  }

  /** Resolves when the current pass has ended; no other follows until the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#started = false;
    this.#again = false;
    clearTimeout(this.#timer);
    this.#plannedAt = Infinity;
    await this.#going;
  }

  #plan(ms: number): void {
    const at = performance.now() + ms;
    if (this.#stopped || at >= this.#plannedAt) return;
    clearTimeout(this.#timer);
    this.#plannedAt = at;
    this.#timer = setTimeout(() => {
      this.#plannedAt = Infinity;
      this.wake();
    }, ms).unref();
  }

  async #go(): Promise<void> {
    const { pass, everyMs, retryMs = everyMs } = this.#options;
    let pauseMs = retryMs;
    this.#isGoing = true;
    clearTimeout(this.#timer);
    this.#plannedAt = Infinity;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        pauseMs = retryMs;
        pauseMs = (await pass()) ?? everyMs;
      }
      this.#failure.succeeded();
    } catch (error) {
      if (!this.#stopped) this.#failure.failed(error);
    } finally {
      // in the same turn as the last check of #again, or a call in between would be lost
      this.#isGoing = false;
      if (this.#started) this.#plan(pauseMs);
    }
  }
}
