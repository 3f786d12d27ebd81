import { deferred } from "../deferred.ts";

/** Beyond so many, waiting would only fill memory too. */
const MAX_WAITING = 1000;

/** Bytes of memory that several holders share. What does not fit waits in its turn, for a limited time. */
export class ByteBudget {
  readonly limit: number;
  #used = 0;
  readonly #waiting: { bytes: number; enter: () => void }[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether somebody waits. */
  get isShort(): boolean {
    return this.#waiting.length > 0;
  }

  /** @returns false, and takes nothing, when they don't fit or others wait for room. */
  take(bytes: number): boolean {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  /** Takes bytes as soon as there is room. @returns false when there was none within `ms`, or too many wait */
  async wait(bytes: number, ms: number): Promise<boolean> {
    if (this.#waiting.length >= MAX_WAITING) return false;
    const { promise, resolve } = deferred<boolean>();
    const entry = { bytes, enter: () => resolve(true) };
    this.#waiting.push(entry);
    const timer = setTimeout(() => resolve(false), ms);
    const entered = await promise;
    clearTimeout(timer);
    if (entered) return true;
    const at = this.#waiting.indexOf(entry);
    // it may have been let in at the very moment that it gave up
    if (at < 0) return true;
    this.#waiting.splice(at, 1);
    this.#serve();
    return false;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    this.#serve();
  }

  /** One holder alone may have more than the limit. */
  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.limit;
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.bytes)) {
      const { bytes, enter } = this.#waiting.shift()!;
      this.#used += bytes;
      enter();
    }
  }
}
