import type { AlertRule } from "./queries.ts";

/** Metrics that the form offers, each with its attribute and aggregation. */
export const METRICS = {
  "error_count pct": { label: "Error rate", unit: "%" },
  "error_count sum": { label: "Errors", unit: "" },
  "run_count sum": { label: "Runs", unit: "" },
  "run_count pct": { label: "Share of runs", unit: "%" },
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

/** Metrics of the platform itself, for its administrators. */
export const PLATFORM_METRICS = {
  "platform.queue_runs avg": { label: "Platform: runs in the queue", unit: "" },
  "platform.queue_oldest_seconds avg": { label: "Platform: wait in the queue", unit: "s" },
  "platform.servers avg": { label: "Platform: agent servers", unit: "" },
  "platform.webhooks_pending avg": { label: "Platform: webhooks that wait", unit: "" },
  "platform.webhook_receivers_paused avg": { label: "Platform: receivers that fail", unit: "" },
  "platform.ingest_waiting_updates avg": { label: "Platform: updates without run", unit: "" },
  "platform.ingest_waiting_seconds avg": { label: "Platform: age of updates without run", unit: "s" },
  "platform.rules_waiting_seconds avg": { label: "Platform: delay of rules", unit: "s" },
  "platform.exports_failed sum": { label: "Platform: failed exports", unit: "" },
  "platform.failing_checks avg": { label: "Platform: failing health checks", unit: "" },
} as const;
/** Attribute and aggregation, also one that only the API offers. */
export type MetricName = string;

type Measured = Pick<AlertRule, "attribute" | "aggregation" | "type">;

export const findMetric = (name: MetricName): { label: string; unit: string } | undefined =>
  ({ ...METRICS, ...PLATFORM_METRICS } as Record<string, { label: string; unit: string }>)[name];

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
