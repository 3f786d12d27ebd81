import { money, percent, seconds, tokens } from "../../ui/format.ts";
import type { MetricName, Summary } from "./queries.ts";

/** Formats with two decimals at most: `0.67`. */
export const formatScore = (score: number): string => String(Number(score.toFixed(2)));

type Delta = NonNullable<Summary["delta"]>;

export const VERDICTS: Record<Delta["verdict"], string> = {
  better: "probably better",
  worse: "probably worse",
  no_clear_difference: "no clear difference",
  too_few_examples: "too few examples to tell",
};

export const METRIC_LABELS: Record<MetricName, string> = {
  latency_seconds: "Latency",
  total_tokens: "Tokens",
  total_cost: "Cost",
  error_rate: "Errors",
};

const FORMATS: Record<MetricName, (value: number) => string> = {
  latency_seconds: seconds,
  total_tokens: (value) => tokens(value),
  total_cost: (value) => money(value),
  error_rate: (value) => percent(value),
};

export const METRIC_NAMES = Object.keys(METRIC_LABELS) as MetricName[];

/** Formats a value of a score (without a metric) or of a metric. */
export const formatValue = (value: number | null | undefined, metric?: MetricName): string =>
  value == null ? "–" : metric ? FORMATS[metric](value) : formatScore(value);

/** Formats a difference with its sign. */
export function formatChange(delta: number, metric?: MetricName): string {
  const size = formatValue(Math.abs(delta), metric);
  if (size === formatValue(0, metric) || size === "–") return "±0";
  return `${delta > 0 ? "+" : "−"}${size}`;
}

/** Returns an arrow for the direction of a value; whether it is good is another matter. */
export const arrow = (delta: number): string => (delta > 0 ? "▲" : delta < 0 ? "▼" : "");

/** Describes a difference: `−0.25 (95% interval −0.5 to +0.1)`. */
export function describeDelta({ mean, interval }: Delta, confidence: number, metric?: MetricName): string {
  const change = formatChange(mean, metric);
  if (interval === null) return change;
  const [low, high] = interval as [number, number];
  return `${change} (${percent(confidence)} interval ${formatChange(low, metric)} to ${formatChange(high, metric)})`;
}

/** Whether a difference is good, given which direction is better. */
export const isGood = (delta: number, lowerIsBetter: boolean): boolean => (lowerIsBetter ? delta < 0 : delta > 0);
