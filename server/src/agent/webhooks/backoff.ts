const FACTOR = 3;
const LONGEST_MS = 4 * 3_600_000;

/**
 * The pause after the n-th try in milliseconds: three times as long each time, at most four hours; up to a quarter of
 * it is chance, so that what failed together is not tried again together.
 */
export function pauseAfter(tries: number, firstMs: number, random = Math.random()): number {
  return Math.min(firstMs * FACTOR ** (tries - 1), LONGEST_MS) * (1 - random / 4);
}
