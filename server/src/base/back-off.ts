import { setTimeout as sleep } from "node:timers/promises";

/** Pauses between retries: each twice as long as the one before, and shortened at random by up to half. */
export class BackOff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #nextMs: number;

  constructor({ firstMs, longestMs }: { firstMs: number; longestMs: number }) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  /** Makes the next pause the first one again. Call it after a success. */
  reset(): void {
    this.#nextMs = this.#firstMs;
  }

  /** Resolves after the pause, or at once when the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs * (0.5 + Math.random() / 2);
    this.#nextMs = Math.min(this.#longestMs, this.#nextMs * 2);
    await sleep(ms, undefined, { signal }).catch(() => {});
  }
}
