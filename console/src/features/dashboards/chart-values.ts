import { type Display, displayOf, widthOf } from "./chart-series.ts";
import { printGrouping, readGrouping } from "./dashboard-search.ts";
import type { ChartBody, ChartData } from "./queries.ts";

export const UNITS = {
  traces: "Traces",
  llm: "LLM calls",
  tool: "Tool calls",
  all: "All runs",
  agents: "Agents",
} as const;
type Unit = keyof typeof UNITS;

type SeriesMetric = ChartBody["series"][number]["metric"];

/** Values of the form of a chart. */
export interface ChartValues {
  title: string;
  metrics: string[];
  feedbackKey: string;
  unit: Unit;
  projectId: string | null;
  /** In charts of an organization; null: all. */
  workspaceId: string | null;
  filter: string;
  /** Metric of the same runs without the filter by which the others are divided; empty: none. */
  denominator: string;
  /** Such as `metadata:plan`; empty: none. */
  group: string;
  display: Display;
  section: string;
}

export const METRIC_LABELS: Record<string, string> = {
  run_count: "Count",
  error_rate: "Error rate",
  error_count: "Errors",
  latency_p50: "Latency, P50",
  latency_p95: "Latency, P95",
  latency_p99: "Latency, P99",
  latency_avg: "Latency, mean",
  latency_counts: "Latency, distribution",
  first_token_p50: "First token, P50",
  first_token_p95: "First token, P95",
  first_token_p99: "First token, P99",
  total_tokens: "Tokens",
  prompt_tokens: "Prompt tokens",
  completion_tokens: "Completion tokens",
  total_cost: "Cost",
  prompt_cost: "Prompt cost",
  completion_cost: "Completion cost",
  cost_p50: "Cost, P50",
  cost_p99: "Cost, P99",
  streaming_rate: "Share of streamed answers",
  thread_count: "Threads",
  feedback_score_avg: "Feedback, mean score",
  feedback_count: "Feedback, count",
};
export const AGENT_METRIC_LABELS: Record<string, string> = {
  agent_run_count: "Runs",
  agent_error_rate: "Error rate of runs",
  agent_error_count: "Failed runs",
  agent_duration_p50: "Duration, P50",
  agent_duration_p95: "Duration, P95",
  agent_duration_p99: "Duration, P99",
  agent_duration_avg: "Duration, mean",
  queue_runs: "Waiting runs",
  queue_oldest_seconds: "Age of the oldest waiting run",
  queue_wait_p50: "Wait until start, P50",
  queue_wait_p95: "Wait until start, P95",
  queue_wait_p99: "Wait until start, P99",
  cron_fired_count: "Crons fired",
  cron_failed_count: "Crons failed",
  cron_missed_count: "Crons missed",
  webhook_delivered_count: "Webhooks delivered",
  webhook_failed_count: "Webhooks failed",
  webhook_retry_count: "Retries of webhooks",
};
const labelOf = (metric: string): string => METRIC_LABELS[metric] ?? AGENT_METRIC_LABELS[metric] ?? metric;
const isAgentMetric = (metric: string): boolean => Object.hasOwn(AGENT_METRIC_LABELS, metric);

const UNIT_FILTERS: Record<Unit, string | null> = {
  traces: "eq(is_root, true)",
  llm: 'eq(run_type, "llm")',
  tool: 'eq(run_type, "tool")',
  all: null,
  agents: null,
};

export const isFeedbackMetric = (metric: string): boolean => metric.startsWith("feedback");

/** The unit is the chart's common filter, the text of the form that of its series. */
export function valuesOf(chart: ChartData | undefined, projectId?: string): ChartValues {
  const first = chart?.series[0];
  const common = chart?.common_filters;
  const unit = (Object.keys(UNIT_FILTERS) as Unit[]).find((name) => UNIT_FILTERS[name] === (common?.filter ?? null));
  return {
    title: chart?.title ?? "",
    metrics: chart?.series.map(({ metric }) => metric) ?? ["run_count"],
    feedbackKey: first?.feedback_key ?? "",
    unit: first && isAgentMetric(first.metric) ? "agents" : chart ? (unit ?? "all") : "traces",
    projectId: common?.session?.[0] ?? projectId ?? null,
    workspaceId: first?.workspace_id ?? null,
    // a filter that is no unit is kept as text
    filter: first?.filters?.filter ?? (unit === undefined ? (common?.filter ?? "") : ""),
    denominator: first?.denominator?.metric ?? "",
    group: printGrouping(first?.group_by),
    display: chart ? displayOf(chart) : "line",
    section: typeof chart?.metadata?.["section"] === "string" ? chart.metadata["section"] : "",
  };
}

/** Returns the common filter of a chart that is no unit, where the form shows that of the series instead. */
function hiddenFilter(chart: ChartData | undefined): string | undefined {
  const common = chart?.common_filters?.filter;
  const isShown = common == null || Object.values(UNIT_FILTERS).includes(common);
  return isShown || chart?.series[0]?.filters?.filter == null ? undefined : common;
}

/** Builds the body of a chart. What the form does not show stays: filters of single series, further projects, names. */
export function bodyOf(values: ChartValues, initial: ChartData | undefined, dashboardId: string): ChartBody {
  const { display, unit, projectId } = values;
  const metrics = display === "heatmap" ? ["latency_counts"] : values.metrics;
  const filter = unit === "agents" ? "" : values.filter.trim();
  const group = readGrouping(values.group);
  const before = initial && valuesOf(initial);
  const isSame = (...names: (keyof ChartValues)[]) =>
    before !== undefined && names.every((name) => values[name] === before[name]);
  const selectsSame = isSame("unit", "projectId", "filter");
  const hidden = hiddenFilter(initial);
  const earlier = [...(initial?.series ?? [])];
  /** A series of the same metric stays the same, for links and alerts on it. */
  const takeEarlier = (metric: string) => {
    const at = earlier.findIndex((series) => series.metric === metric);
    return at < 0 ? undefined : earlier.splice(at, 1)[0];
  };
  return {
    title: values.title.trim() || metrics.map(labelOf).join(", "),
    description: initial?.description ?? null,
    section_id: dashboardId,
    chart_type: display === "bar" ? "bar" : "line",
    metadata: {
      ...initial?.metadata,
      display,
      width: initial ? widthOf(initial) : 1,
      section: values.section.trim() || undefined,
    },
    common_filters:
      initial && selectsSame
        ? initial.common_filters
        : {
            filter: isSame("unit") ? (hidden ?? UNIT_FILTERS[unit]) : UNIT_FILTERS[unit],
            session: projectId === null ? null : [projectId],
          },
    series: metrics.map((metric) => {
      const old = takeEarlier(metric);
      const denominator = old?.denominator?.metric === values.denominator ? old.denominator : undefined;
      return {
        ...(old && { id: old.id }),
        name: old?.name ?? labelOf(metric),
        metric: metric as SeriesMetric,
        feedback_key: !isFeedbackMetric(metric)
          ? null
          : old && isSame("feedbackKey")
            ? old.feedback_key
            : values.feedbackKey.trim() || null,
        filters: old && selectsSame ? old.filters : filter === "" ? null : { filter },
        ...(values.denominator !== "" && {
          denominator: denominator ?? { metric: values.denominator as SeriesMetric },
        }),
        group_by: old && isSame("group") ? old.group_by : (group ?? null),
        ...(values.workspaceId !== null && { workspace_id: values.workspaceId }),
      };
    }),
  };
}
