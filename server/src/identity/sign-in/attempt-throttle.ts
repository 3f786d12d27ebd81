import { setTimeout as sleep } from "node:timers/promises";

const SLOTS = 50;
const DELAY_MS = 1000;

/**
 * Limits sign-in attempts from unknown networks on accounts under attack to a few per second. All addresses of a
 * provider's network share one slot.
 */
export class AttemptThrottle {
  readonly #occupied = new Set<string>();

  /** Resolves with true after a second, or immediately with false if the network's slot or all slots are in use. */
  async pass(wideNetwork: string): Promise<boolean> {
    if (this.#occupied.has(wideNetwork) || this.#occupied.size >= SLOTS) return false;
    this.#occupied.add(wideNetwork);
    try {
      await sleep(DELAY_MS);
      return true;
    } finally {
      this.#occupied.delete(wideNetwork);
    }
  }
}
