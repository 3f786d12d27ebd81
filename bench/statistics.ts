/** The value below which `share` (0 to 1) of the sorted samples lie, by nearest rank. */
export function percentile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (samples: number[]): number => percentile(samples, 0.5);
