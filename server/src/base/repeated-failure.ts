type Line = (fields: Record<string, unknown>, message: string) => void;

/** Delays between reminders after the first line; the last repeats. */
const REMINDERS_MS = [10_000, 60_000, 300_000];
/** Time without another failure after which the state is unknown. */
const CURRENT_MS = 15_000;

export interface RepeatedFailureOptions {
  log: { error: Line; warn: Line; debug: Line };
  /** Description of the failing work: "could not claim runs". */
  message: string;
  /** Monotonic time in milliseconds. */
  now?: () => number;
}

/**
 * Logs failures of work that is retried: the first at `error` at once, further ones at `debug`, with an `error` line of
 * their count and duration after 10 s, after 1 min more, then every 5 min. The first success after a failure is logged
 * at `warn`, so that a log that shows the failure also shows its end.
 */
export class RepeatedFailure {
  readonly #options: RepeatedFailureOptions;
  readonly #now: () => number;
  #count = 0;
  #since = 0;
  #last = 0;
  #reason = "";
  #reminders = 0;
  #remindAt = 0;

  constructor(options: RepeatedFailureOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  failed(error: unknown, fields: Record<string, unknown> = {}): void {
    const { log, message } = this.#options;
    const now = this.#now();
    if (this.#count === 0) {
      this.#since = now;
      this.#reminders = 0;
    }
    this.#count += 1;
    this.#last = now;
    this.#reason = errorWord(error);
    const count = this.#count;
    const seconds = Math.round((now - this.#since) / 1000);
    if (count === 1) {
      log.error({ err: error, ...fields }, message);
      this.#remind(now);
    } else if (now >= this.#remindAt) {
      log.error({ err: error, ...fields, failures: count, seconds }, `still failing: ${message}`);
      this.#remind(now);
    } else log.debug({ err: error, ...fields, failures: count }, message);
  }

  succeeded(): void {
    if (this.#count === 0) return;
    const seconds = Math.round((this.#now() - this.#since) / 1000);
    this.#options.log.warn({ failures: this.#count, seconds }, `recovered: ${this.#options.message}`);
    this.#count = 0;
  }

  /** Failures since the last success. */
  get count(): number {
    return this.#count;
  }

  /** Returns a description when the work has failed for longer than `ms` and still does. Safe to show to anyone. */
  failingFor(ms: number): string | undefined {
    if (this.#count === 0) return undefined;
    const now = this.#now();
    if (now - this.#since < ms || now - this.#last > CURRENT_MS) return undefined;
    const seconds = Math.round((now - this.#since) / 1000);
    return `${this.#options.message}, for ${seconds} s (${this.#reason})`;
  }

  #remind(now: number): void {
    this.#remindAt = now + REMINDERS_MS[Math.min(this.#reminders, REMINDERS_MS.length - 1)]!;
    this.#reminders += 1;
  }
}

/** Returns an error's code, or else its name. Safe to show to unauthenticated callers, unlike its message. */
export function errorWord(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === "string" && code !== "" ? code : typeof name === "string" ? name : "Error";
}
