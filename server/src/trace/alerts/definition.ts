import { METRICS } from "../runs/stats.ts";

/** What a rule measures and when it fires; stored as JSON. Fields are those of the wire. */
export interface AlertDefinition {
  description: string;
  type: "threshold" | "change" | "absence";
  attribute: Attribute;
  aggregation: Aggregation;
  operator: "gt" | "gte" | "lt" | "lte";
  threshold: number | null;
  /** Of a change: fires when the value compares so with the baseline times this. */
  threshold_multiplier: number | null;
  /** Length of the baseline, which ends where the window begins; null: as long as the window. */
  threshold_window_minutes: number | null;
  window_minutes: number;
  interval_minutes: number;
  /** Minutes between the end of the window and its evaluation, for runs that arrive late. */
  delay_minutes: number;
  filter: string | null;
  denominator_filter: string | null;
  feedback_key: string | null;
  group_by: AlertGroupBy | null;
  for_evaluations: number;
  /** Windows with fewer runs have no value. */
  min_runs: number;
  resolve_threshold: number | null;
  no_data: "resolve" | "keep";
}

/** Terms of a budget, stored as JSON. The rest of its definition is that of a rule on the sum of costs. */
export interface BudgetDefinition {
  /** In USD, for a month. */
  limit: number;
  /** Whether the limit is that of the whole, or of each user. */
  per: "total" | "user";
  /** Metadata that names the user. */
  user_key: string;
  /** Percentages of the limit, ascending. */
  thresholds: number[];
  /** Percentage of the limit at which the forecast is told; null: never. */
  forecast: number | null;
  /** IANA name, of the months and days. */
  time_zone: string;
}

export interface AlertGroupBy {
  attribute: "name" | "run_type" | "tag" | "model" | "error_kind" | "metadata";
  path?: string | null | undefined;
}

export const AGGREGATIONS = ["avg", "sum", "pct", "p50", "p95", "p99", "count"] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

const quantiles = (column: string) =>
  Object.fromEntries(
    [50, 95, 99].map((level) => [`p${level}`, `quantileExactInclusive(0.${level})(toFloat64(u.${column}))`]),
  );
const seconds = (column: string) => ({ avg: `avg(u.${column})`, ...quantiles(column) });
const usage = (name: keyof typeof METRICS) => ({
  sum: `toFloat64(ifNull(${METRICS[name]}, 0))`,
  avg: `toFloat64(${METRICS[name]}) / count()`,
  ...quantiles(name),
});

/** Aggregates over units `u` (runs/stats.ts), of feedback over `f`. Those of `pct` are its numerator. */
export const ATTRIBUTES = {
  latency: seconds("latency"),
  run_latency: seconds("latency"),
  first_token: seconds("first_token"),
  error_count: { sum: "countIf(u.failed)", avg: "avg(u.failed)", pct: "countIf(u.failed)" },
  run_count: { sum: "count()", count: "count()", pct: "count()" },
  total_cost: usage("total_cost"),
  total_tokens: usage("total_tokens"),
  prompt_tokens: usage("prompt_tokens"),
  completion_tokens: usage("completion_tokens"),
  feedback_score: { avg: "avg(f.score)", sum: "sum(f.score)", count: "count()" },
} as const satisfies Record<string, Partial<Record<Aggregation, string>>>;
type RunAttribute = keyof typeof ATTRIBUTES;

/** Metrics of the platform itself: readings at the tick (`avg`), or counts in the window (`sum`). */
export const PLATFORM_METRICS = {
  "platform.queue_runs": { aggregation: "avg", label: "runs in the queue" },
  "platform.queue_oldest_seconds": { aggregation: "avg", label: "wait of the oldest run in the queue" },
  "platform.servers": { aggregation: "avg", label: "agent servers" },
  "platform.webhooks_pending": { aggregation: "avg", label: "webhooks that wait" },
  "platform.webhook_receivers_paused": { aggregation: "avg", label: "webhook receivers that fail" },
  "platform.ingest_waiting_updates": { aggregation: "avg", label: "updates that wait for their run" },
  "platform.ingest_waiting_seconds": { aggregation: "avg", label: "age of the oldest update that waits for its run" },
  "platform.rules_waiting_seconds": { aggregation: "avg", label: "age of the oldest run that waits for rules" },
  "platform.exports_failed": { aggregation: "sum", label: "failed exports" },
  "platform.failing_checks": { aggregation: "avg", label: "failing health checks" },
} as const satisfies Record<string, { aggregation: Aggregation; label: string }>;
export type PlatformMetric = keyof typeof PLATFORM_METRICS;
export const isPlatformMetric = (name: string | undefined): name is PlatformMetric =>
  name !== undefined && Object.hasOwn(PLATFORM_METRICS, name);

export type Attribute = RunAttribute | PlatformMetric;
export const ATTRIBUTE_NAMES = [...Object.keys(ATTRIBUTES), ...Object.keys(PLATFORM_METRICS)] as [
  Attribute,
  ...Attribute[],
];

export const expressionFor = (attribute: Attribute, aggregation: Aggregation): string | undefined =>
  isPlatformMetric(attribute)
    ? undefined
    : (ATTRIBUTES[attribute] as Partial<Record<Aggregation, string>>)[aggregation];

/** Whether the metric grows with the length of its window; without runs it is 0. */
export const isTotal = ({ attribute, aggregation }: Pick<AlertDefinition, "attribute" | "aggregation">): boolean =>
  aggregation === "count" || (aggregation === "sum" && attribute !== "feedback_score");
