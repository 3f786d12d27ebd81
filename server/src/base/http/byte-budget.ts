import { deferred } from "../deferred.ts";

/** Most waiters; more would only fill memory themselves. */
const MAX_WAITING = 1000;

/** Memory budget in bytes, shared by several holders. Requests that don't fit wait in turn, for a limited time. */
export class ByteBudget {
  readonly limit: number;
  #used = 0;
  readonly #waiting: { bytes: number; own: number; enter: () => void }[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether a request waits. */
  get isShort(): boolean {
    return this.#waiting.length > 0;
  }

  /**
   * @param own what the holder has already
   * @returns false, and takes nothing, when the bytes don't fit or others wait.
   */
  take(bytes: number, own = 0): boolean {
    if (this.#waiting.length > 0 || !this.#fits(bytes, own)) return false;
    this.#used += bytes;
    return true;
  }

  /** Takes bytes as soon as there is room. @returns false when there was none within `ms`, or too many wait */
  async wait(bytes: number, ms: number, own = 0): Promise<boolean> {
    if (this.#waiting.length >= MAX_WAITING) return false;
    const { promise, resolve } = deferred<boolean>();
    const entry = { bytes, own, enter: () => resolve(true) };
    this.#waiting.push(entry);
    const timer = setTimeout(() => resolve(false), ms);
    const entered = await promise;
    clearTimeout(timer);
    if (entered) return true;
    const at = this.#waiting.indexOf(entry);
    // admitted at the very moment of the timeout
    if (at < 0) return true;
    this.#waiting.splice(at, 1);
    this.#serve();
    return false;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    this.#serve();
  }

  /** Whether the bytes fit. A single holder may exceed the limit. */
  #fits(bytes: number, own: number): boolean {
    return this.#used <= own || this.#used + bytes <= this.limit;
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.bytes, this.#waiting[0]!.own)) {
      const { bytes, enter } = this.#waiting.shift()!;
      this.#used += bytes;
      enter();
    }
  }
}
