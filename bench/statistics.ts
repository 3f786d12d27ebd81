/** Returns the value below which `share` (0 to 1) of the sorted samples lie, by nearest rank. */
export function percentile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (samples: number[]): number => percentile(samples, 0.5);

/** Returns an interval that contains the distribution's median with a probability of 0.95 (order statistics). */
export function medianInterval(values: number[]): [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(0, Math.floor((values.length - 1.96 * Math.sqrt(values.length)) / 2));
  return [sorted[rank]!, sorted[values.length - 1 - rank]!];
}
