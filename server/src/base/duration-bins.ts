/** Bins of durations: twenty per factor of ten, so that a percentile is at most 6 % off. */
const PER_DECADE = 20;
const SHORTEST = 1e-4;
const LONGEST = 1e7;

/** Number of the bin: the logarithm of its lower edge, times twenty. */
export const binOf = (seconds: number): number =>
  Math.floor(Math.log10(Math.min(LONGEST, Math.max(SHORTEST, seconds))) * PER_DECADE + 1e-9);

/** Middle of a bin, in seconds. */
const middleOf = (bin: number): number => 10 ** ((bin + 0.5) / PER_DECADE);

/** Returns the percentile of durations that are counted by bin; null without any. */
export function binnedPercentile(bins: Readonly<Record<string, number>>, level: number): number | null {
  const sorted = Object.entries(bins)
    .map(([bin, n]) => [Number(bin), Number(n)] as const)
    .sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, n]) => sum + n, 0);
  if (total === 0) return null;
  let before = 0;
  for (const [bin, n] of sorted) {
    before += n;
    if (before >= level * total)
      return bin <= Math.log10(SHORTEST) * PER_DECADE ? 0 : Number(middleOf(bin).toPrecision(4));
  }
  return null;
}
