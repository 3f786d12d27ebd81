const FACTOR = 3;
const LONGEST_MS = 4 * 3_600_000;

/**
 * Pause after the n-th attempt in milliseconds: it triples each time, up to four hours. Up to a quarter is subtracted
 * at random, so that deliveries that failed together are not retried together.
 */
export function pauseAfter(tries: number, firstMs: number, random = Math.random()): number {
  return Math.min(firstMs * FACTOR ** (tries - 1), LONGEST_MS) * (1 - random / 4);
}
