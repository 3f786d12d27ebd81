/** Scores of experiments against a baseline, the first of them. More is better, as in evaluators of the SDKs. */
import type { FeedbackStatistics } from "../runs/run-record.ts";

/** Returns the average by feedback key, of keys with numbers. */
export function readScores(stats: unknown): Map<string, number> {
  const entries = Object.entries((stats ?? {}) as Record<string, FeedbackStatistics>);
  return new Map(entries.flatMap(([key, { avg }]) => (typeof avg === "number" ? [[key, avg] as const] : [])));
}

/** Formats with two decimals at most: `0.67`. */
export const formatScore = (score: number): string => String(Number(score.toFixed(2)));

/** Formats a difference with its sign; null where there is nothing to compare, or no difference. */
export function formatDelta(score: number, baseline: number | undefined): string | null {
  if (baseline === undefined) return null;
  const delta = Number((score - baseline).toFixed(2));
  return delta === 0 ? null : delta > 0 ? `+${delta}` : `−${-delta}`;
}

interface ExampleResult {
  runs: readonly { session_id: string; feedback_stats?: unknown; error?: string | null }[];
}

/** Returns the sum of what an example has lost in any experiment; a run that fails where the baseline's did not costs 1. */
export function sumRegressions({ runs }: ExampleResult, experiments: readonly string[]): number {
  const [baseline, ...others] = experiments.map((id) => runs.find(({ session_id: session }) => session === id));
  if (!baseline) return 0;
  const before = readScores(baseline.feedback_stats);
  let sum = 0;
  for (const run of others) {
    if (!run) continue;
    if (run.error != null && baseline.error == null) sum += 1;
    for (const [key, score] of readScores(run.feedback_stats)) sum += Math.max(0, (before.get(key) ?? score) - score);
  }
  return sum;
}
