/** Formats mean scores: `correctness 0.82, toxicity 0`. */
export function formatScores(scores: Record<string, { mean: number | null }>): string {
  const parts = Object.entries(scores).flatMap(([key, { mean }]) =>
    mean === null ? [] : [`${key} ${Number(mean.toFixed(3))}`],
  );
  return parts.length === 0 ? "–" : parts.join(", ");
}
