/** Texts of alerts for people. */
import { type AlertDefinition, isPlatformMetric, PLATFORM_METRICS, type PlatformMetric } from "./definition.ts";

const NAMES: Record<Exclude<AlertDefinition["attribute"], PlatformMetric>, string> = {
  latency: "latency",
  run_latency: "latency",
  first_token: "time to first token",
  error_count: "errors",
  run_count: "runs",
  total_cost: "cost",
  total_tokens: "tokens",
  prompt_tokens: "prompt tokens",
  completion_tokens: "completion tokens",
  feedback_score: "feedback score",
};
const WORDS = { gt: ">", gte: "≥", lt: "<", lte: "≤" } as const;

/** Describes the metric: `p95 latency`, `errors in percent`, `average feedback score "helpful"`. */
export function describeMetric({ attribute, aggregation, feedback_key: key, type }: AlertDefinition): string {
  if (type === "absence") return "runs";
  if (isPlatformMetric(attribute)) return PLATFORM_METRICS[attribute].label;
  const name = key === null ? NAMES[attribute] : `${NAMES[attribute]} "${key}"`;
  if (aggregation === "pct") return `${name} in percent`;
  if (aggregation === "avg") return `average ${name}`;
  return aggregation === "sum" || aggregation === "count" ? name : `${aggregation} ${name}`;
}

/** Formats a value of the metric with its unit. */
export function formatValue({ attribute, aggregation, type }: AlertDefinition, value: number | null): string {
  if (value === null) return "no data";
  const text = String(Number(value.toPrecision(4)));
  if (type === "absence") return text;
  if (aggregation === "pct") return `${text} %`;
  if (attribute === "total_cost") return `$${text}`;
  return /latency|first_token|_seconds$/.test(attribute) ? `${text} s` : text;
}

export function describeCondition(definition: AlertDefinition, threshold: number | null): string {
  if (definition.type === "absence") return `no runs in ${definition.window_minutes} min`;
  const limit = formatValue(definition, threshold);
  const within = `within ${definition.window_minutes} min`;
  if (definition.type === "threshold") return `${WORDS[definition.operator]} ${limit} ${within}`;
  const times = definition.threshold_multiplier ?? 1;
  return `${WORDS[definition.operator]} ${times} times the previous period (${limit}) ${within}`;
}

/** Describes what an incident is about; of a budget, its month and share. */
export function describeIncident(
  definition: AlertDefinition,
  { threshold, period, level }: { threshold: number | null; period: string | null; level: string | null },
): string {
  if (period === null) return describeCondition(definition, threshold);
  const budget = `budget of ${formatValue(definition, definition.threshold)} for ${period}`;
  if (level === "forecast") return `forecast ≥ ${formatValue(definition, threshold)}, ${budget}`;
  return `≥ ${level} % of the ${budget}`;
}

/** A Markdown-free line for each fact. */
export interface Fact {
  title: string;
  value: string;
}
