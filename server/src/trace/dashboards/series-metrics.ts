/** Metrics of series: statistics of runs (runs/stats.ts), and what only charts show. */
import { METRICS } from "../runs/stats.ts";
import { AGENT_METRICS, type AgentMetricName } from "./agent-metrics.ts";

/** Aggregates over units `u` (runs/stats.ts: selectUnits). */
export const UNIT_METRICS = {
  ...METRICS,
  error_count: "countIf(u.failed)",
  // runs by latency: eight bins per factor of ten, by the logarithm of their lower edge times eight
  latency_counts: `sumMap(if(u.latency is null, map(),
    map(toInt16(floor(log10(greatest(assumeNotNull(u.latency), 1e-6)) * 8 + 1e-9)), toUInt64(1))))`,
} as const;
export type UnitMetric = keyof typeof UNIT_METRICS;

/** Metrics of the feedback on the runs. With a feedback key, of that one. */
const FEEDBACK_METRICS = ["feedback", "feedback_score_avg", "feedback_values", "feedback_count"] as const;
export type FeedbackMetric = (typeof FEEDBACK_METRICS)[number];

export type RunSeriesMetric = UnitMetric | FeedbackMetric | "thread_count";
export type SeriesMetric = RunSeriesMetric | AgentMetricName;

/** All but a time. */
const UNIT_METRIC_NAMES = (Object.keys(UNIT_METRICS) as UnitMetric[]).filter((name) => name !== "last_run_start_time");
export const SERIES_METRICS: SeriesMetric[] = [
  ...UNIT_METRIC_NAMES,
  ...FEEDBACK_METRICS,
  "thread_count",
  ...(Object.keys(AGENT_METRICS) as AgentMetricName[]),
];

export const isFeedback = (metric: SeriesMetric): metric is FeedbackMetric =>
  (FEEDBACK_METRICS as readonly string[]).includes(metric);
export const isOfUnits = (metric: SeriesMetric): metric is UnitMetric => Object.hasOwn(UNIT_METRICS, metric);

/** Metrics that are 0, and not unknown, where no run started. */
const ADDITIVE = /_count$|^queue_(runs|oldest_seconds)$|^(total|prompt|completion)_(tokens|cost)$/;
export const isAdditive = (metric: SeriesMetric): boolean => ADDITIVE.test(metric);

/** Whether a trace's value needs the usage of its other runs. */
export const needsUsage = (metric: SeriesMetric): boolean => /token|cost/.test(metric) && !metric.startsWith("first_");

/** Lower edge of a bin of `latency_counts`, in seconds. */
export const latencyEdge = (bin: number): number => Number((10 ** (bin / 8)).toPrecision(5));

/** Metrics whose values are maps. */
export const isDistribution = (metric: string): boolean =>
  ["latency_counts", "feedback", "feedback_values"].includes(metric);
