import { setTimeout as sleep } from "node:timers/promises";

const PLACES = 50;
const SECONDS = 1;

/**
 * Limits attempts from unknown networks at accounts under attack to a few per second. A provider's whole network has
 * one place, however many of its addresses try.
 */
export class SlowLane {
  readonly #inside = new Set<string>();

  /** Resolves with true after a second; at once with false if the network's place or all places are taken. */
  async pass(wideNetwork: string): Promise<boolean> {
    if (this.#inside.has(wideNetwork) || this.#inside.size >= PLACES) return false;
    this.#inside.add(wideNetwork);
    try {
      await sleep(SECONDS * 1000);
      return true;
    } finally {
      this.#inside.delete(wideNetwork);
    }
  }
}
