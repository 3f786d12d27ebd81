import type { AlertRule } from "./queries.ts";

/** Metrics that the form offers, each with its attribute and aggregation. */
export const METRICS = {
  "error_count pct": { label: "Error rate", unit: "%" },
  "error_count sum": { label: "Errors", unit: "" },
  "run_count sum": { label: "Runs", unit: "" },
  "latency avg": { label: "Latency, average", unit: "s" },
  "latency p50": { label: "Latency, p50", unit: "s" },
  "latency p95": { label: "Latency, p95", unit: "s" },
  "latency p99": { label: "Latency, p99", unit: "s" },
  "first_token p95": { label: "Time to first token, p95", unit: "s" },
  "total_cost sum": { label: "Cost", unit: "USD" },
  "total_tokens sum": { label: "Tokens", unit: "" },
  "feedback_score avg": { label: "Feedback score, average", unit: "" },
  "feedback_score count": { label: "Feedback, count", unit: "" },
} as const;
/** Attribute and aggregation, also one that only the API offers. */
export type MetricName = string;

type Measured = Pick<AlertRule, "attribute" | "aggregation" | "type">;

export const findMetric = (name: MetricName): { label: string; unit: string } | undefined =>
  (METRICS as Record<string, { label: string; unit: string }>)[name];

const metricOf = ({ attribute, aggregation }: Measured) =>
  findMetric(`${attribute === "run_latency" ? "latency" : attribute} ${aggregation}`);

export function describeMetric(rule: Measured): string {
  if (rule.type === "absence") return "Runs";
  return metricOf(rule)?.label ?? `${rule.attribute} ${rule.aggregation}`.replaceAll("_", " ");
}

export const OPERATORS = { gt: ">", gte: "≥", lt: "<", lte: "≤" } as const;

export function formatValue(rule: Measured, value: number | null | undefined): string {
  if (value == null) return "–";
  const unit = rule.type === "absence" ? "" : (metricOf(rule)?.unit ?? "");
  const text = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }).format(value);
  return unit === "USD" ? `$${text}` : unit === "" ? text : `${text} ${unit}`;
}

export function describeCondition(rule: AlertRule): string {
  const window = `in ${rule.window_minutes} min`;
  if (rule.type === "absence") return `No runs ${window}`;
  const metric = `${describeMetric(rule)} ${OPERATORS[rule.operator]}`;
  const times =
    rule.type === "change" ? `${rule.threshold_multiplier} × the previous period` : formatValue(rule, rule.threshold);
  const group = rule.group_by ? ` by ${rule.group_by.path ?? rule.group_by.attribute}` : "";
  return `${metric} ${times} ${window}${group}`;
}
