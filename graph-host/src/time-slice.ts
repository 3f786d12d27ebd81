import { setImmediate as turn } from "node:timers/promises";

/**
 * Longest time in milliseconds for which a state is read without a turn of the event loop. A run takes about ten turns
 * of the host's event loop, each of which waits for a slice.
 */
const SLICE_MS = 3;

/** Cuts long work into slices, so that it does not keep runs waiting. */
export class TimeSlice {
  #endsAt = performance.now() + SLICE_MS;

  /** Returns a promise to await when the slice is over. */
  next(): Promise<void> | undefined {
    if (performance.now() < this.#endsAt) return undefined;
    return turn().then(() => void (this.#endsAt = performance.now() + SLICE_MS));
  }
}
