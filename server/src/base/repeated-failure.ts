type Line = (fields: Record<string, unknown>, message: string) => void;

/** After the first line, the next one comes so many milliseconds after the one before; then always the last. */
const REMINDERS_MS = [10_000, 60_000, 300_000];
/** Without a further failure for so long, nothing is known of the work any more. */
const CURRENT_MS = 15_000;

export interface RepeatedFailureOptions {
  log: { error: Line; warn: Line; debug: Line };
  /** Says which work fails: "runs could not be claimed". */
  message: string;
  /** In milliseconds, monotonic. */
  now?: () => number;
}

/**
 * Logs the failures of work that is tried again and again: the first at `error` at once, further ones at `debug`, with
 * a line at `error` that has their count and duration after 10 s, after 1 min more, then each 5 min. The first success
 * after a failure is a line at `warn`, so that a log that shows the failure shows its end.
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
      log.error({ err: error, ...fields, failures: count, seconds }, `${message}, still`);
      this.#remind(now);
    } else log.debug({ err: error, ...fields, failures: count }, message);
  }

  succeeded(): void {
    if (this.#count === 0) return;
    const seconds = Math.round((this.#now() - this.#since) / 1000);
    this.#options.log.warn({ failures: this.#count, seconds }, `over: ${this.#options.message}`);
    this.#count = 0;
  }

  /** Failures since the last success. */
  get count(): number {
    return this.#count;
  }

  /** Says that the work has failed for longer than `ms`, when it has and still does. Fit for anyone to read. */
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

/** An error's code, or else its name: what may be shown to callers without a key, unlike its message. */
export function errorWord(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === "string" && code !== "" ? code : typeof name === "string" ? name : "Error";
}
