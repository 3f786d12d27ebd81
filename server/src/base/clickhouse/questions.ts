import { deferred } from "../deferred.ts";
import { unavailable } from "../errors.ts";

export interface QuestionLimits {
  /** How long the engine works on one; then it stops. */
  seconds: number;
  /** Of a process, at once. */
  atOnce: number;
  /** How many may wait for their turn, and for how long. */
  waiting?: number;
  waitMs?: number;
}

/**
 * Bounds what callers ask of the store. They take turns, so that fifty of them leave a connection for what ingest
 * looks up, and processors for what it writes; the rest wait, and those that are too many, or wait for too long, are
 * sent away before anything was done for them.
 */
export class Questions {
  readonly seconds: number;
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #waitMs: number;
  #asking = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ seconds, atOnce, waiting = 100, waitMs = 30_000 }: QuestionLimits) {
    this.seconds = seconds;
    this.#atOnce = atOnce;
    this.#mostWaiting = waiting;
    this.#waitMs = waitMs;
  }

  /** @throws 503 with Retry-After when its turn does not come */
  async ask<T>(question: () => Promise<T>): Promise<T> {
    if (this.#asking >= this.#atOnce) await this.#turn();
    else this.#asking++;
    try {
      return await question();
    } finally {
      // whoever is next takes the place over
      const next = this.#waiting.shift();
      if (next) next();
      else this.#asking--;
    }
  }

  async #turn(): Promise<void> {
    if (this.#waiting.length >= this.#mostWaiting) throw busy();
    const { promise, resolve, reject } = deferred<void>();
    this.#waiting.push(resolve);
    const timer = setTimeout(() => {
      const at = this.#waiting.indexOf(resolve);
      // its turn may have come at the very moment
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(busy());
    }, this.#waitMs);
    await promise.finally(() => clearTimeout(timer));
  }
}

const busy = () => unavailable("Too many queries are under way. Try again later.", 5);
