import { setTimeout as sleep } from "node:timers/promises";

const PLACES = 50;
const SECONDS = 1;

/**
 * Lets few attempts a second through: those at accounts that are attacked, from networks that are not known. A provider's
 * whole network has one place, however many addresses of it try.
 */
export class SlowLane {
  readonly #inside = new Set<string>();

  /** Resolves after a second; at once with false when the network has its place, or all places are taken. */
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
