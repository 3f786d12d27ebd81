/**
 * Versions of channels, part of the key of `checkpoint_blobs`.
 *
 * The official saver counts 1, 2, 3. Two branches that start from one checkpoint then store different values under the
 * same key, and `on conflict do nothing` keeps the first: the second branch reads the first one's state. The same
 * happens after a rollback that leaves a blob behind. So here a version is the next integer plus a random fraction:
 * 1.27, 2.27, 3.84. It remains a number, which is what the library compares (text is compared by locale, and mixes
 * badly with the numbers of the official saver), and the official saver continues from it by adding 1.
 *
 * All channels that one step changes share one fraction, as they share one integer with the official saver: the library
 * infers from equal versions that two nodes ran in the same step. `newBranch` is called after each put, because only a
 * put can be branched from.
 */
export class ChannelVersions {
  #fraction = fraction();

  newBranch(): void {
    this.#fraction = fraction();
  }

  next(current: number | string | undefined): number | string {
    if (typeof current === "string") return nextText(current, this.#fraction);
    return Math.floor(current ?? 0) + 1 + this.#fraction;
  }
}

/**
 * Returns a fraction, never 0, so that no version equals one of the official saver. A double keeps 2^-40 beside 8,192
 * steps.
 */
function fraction(): number {
  return (1 + Math.floor(Math.random() * (2 ** 40 - 1))) / 2 ** 40;
}

/** Continues the format of the Python savers, for threads that they created: 32 digits, a dot, a fraction. */
function nextText(current: string, part: number): string {
  const step = Number.parseInt(current, 10) || 0;
  return `${String(step + 1).padStart(32, "0")}.${part.toFixed(16)}`;
}
