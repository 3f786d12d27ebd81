import { compact, durationTicks, money, percent, seconds } from "../../ui/format.ts";
import { conjoin } from "../runs/conjoin.ts";
import type { Group, Point, TimelineInRange, TimelineSelection } from "./queries.ts";
import { feedbackSeries, groupSeries, type Metric, metricSeries, rateOf, sumOf } from "./series.ts";
import { Charts, type Place } from "./timeline-charts.tsx";

interface ChartsProps extends Place {
  group: Group | undefined;
  filter: string | undefined;
}

const secondTicks = (values: readonly number[]) => durationTicks(values.map((value) => value * 1000));
const formatInteger = (value: number) => (Number.isInteger(value) ? compact(value) : "");

/** For all runs several statistics, for groups only the first. */
const metricOrGroups =
  (group: Group | undefined, statistics: Metric[], empty: number | null = null) =>
  (timeline: TimelineInRange) =>
    group ? groupSeries(timeline, statistics[0]!.value, empty) : metricSeries(timeline, statistics, empty);

const LATENCY = [
  { label: "P50", value: (point: Point) => point.latency_p50 },
  { label: "P95", value: (point: Point) => point.latency_p95 },
  { label: "P99", value: (point: Point) => point.latency_p99 },
];
const FIRST_TOKEN = [
  { label: "P50", value: (point: Point) => point.first_token_p50 },
  { label: "P95", value: (point: Point) => point.first_token_p95 },
  { label: "P99", value: (point: Point) => point.first_token_p99 },
];

export function TraceCharts({ group, filter, ...place }: ChartsProps) {
  const selection: TimelineSelection = {
    is_root: true,
    include_provisional_roots: true,
    filter,
    group_by: group,
    select: ["run_count", "latency_p50", "latency_p95", "latency_p99", "error_rate", "feedback_stats"],
  };
  return (
    <>
      <Charts {...place} selection={selection} isRoot count={4}>
        {(draw) => (
          <>
            {draw({
              title: "Traces",
              kind: group ? "line" : "bars",
              format: formatInteger,
              toSeries: metricOrGroups(group, [{ label: "Traces", value: (point) => point.run_count }], 0),
              toLead: (timeline) => sumOf(timeline, (point) => point.run_count),
            })}
            {draw({
              title: "Latency",
              format: seconds,
              formatTicks: secondTicks,
              note: group ? "P50" : undefined,
              toSeries: metricOrGroups(group, LATENCY),
            })}
            {draw({
              title: "Error rate",
              format: percent,
              toSeries: metricOrGroups(group, [
                { label: "Failed", value: (point) => point.error_rate, color: "danger" },
              ]),
              toLead: (timeline) => rateOf(timeline, (point) => point.error_rate),
              isShare: true,
            })}
            {draw({
              title: "Feedback",
              note: "average",
              format: (value) => value.toFixed(2),
              toSeries: feedbackSeries,
            })}
          </>
        )}
      </Charts>
      <ErrorKinds {...place} filter={filter} />
    </>
  );
}

const FAILED = 'eq(status, "error")';

/** Failed traces by the error name at the start of their error message. */
function ErrorKinds({ filter, ...place }: Place & Pick<ChartsProps, "filter">) {
  const selection: TimelineSelection = {
    is_root: true,
    include_provisional_roots: true,
    filter,
    group_by: { attribute: "error_kind", max_groups: 5 },
    select: ["run_count"],
  };
  const pickFilter = conjoin(filter ?? "", FAILED);
  return (
    <Charts {...place} selection={selection} isRoot pickFilter={pickFilter} count={1}>
      {(draw) =>
        draw({
          title: "Errors by kind",
          note: "top 5",
          format: formatInteger,
          toSeries: (timeline) => groupSeries(timeline, (point) => point.run_count, 0),
          toLead: (timeline) => sumOf(timeline, (point) => point.run_count),
        })
      }
    </Charts>
  );
}

export function LlmCharts({ group, filter, ...place }: ChartsProps) {
  const selection: TimelineSelection = {
    run_type: "llm",
    filter,
    group_by: group,
    select: [
      "run_count",
      "latency_p50",
      "latency_p95",
      "latency_p99",
      "first_token_p50",
      "first_token_p95",
      "first_token_p99",
      "total_tokens",
      "prompt_tokens",
      "completion_tokens",
      "total_cost",
    ],
  };
  return (
    <>
      <Charts {...place} selection={selection} isRoot={false} count={5}>
        {(draw) => (
          <>
            {draw({
              title: "LLM calls",
              kind: group ? "line" : "bars",
              format: formatInteger,
              toSeries: metricOrGroups(group, [{ label: "LLM calls", value: (point) => point.run_count }], 0),
              toLead: (timeline) => sumOf(timeline, (point) => point.run_count),
            })}
            {draw({
              title: "LLM latency",
              format: seconds,
              formatTicks: secondTicks,
              note: group ? "P50" : undefined,
              toSeries: metricOrGroups(group, LATENCY),
            })}
            {draw({
              title: "First token",
              format: seconds,
              formatTicks: secondTicks,
              note: group ? "P50" : undefined,
              toSeries: metricOrGroups(group, FIRST_TOKEN),
            })}
            {draw({
              title: "Tokens",
              format: compact,
              toSeries: group
                ? metricOrGroups(group, [{ label: "Total", value: (point) => point.total_tokens }], 0)
                : metricOrGroups(undefined, [
                    { label: "Prompt", value: (point) => point.prompt_tokens },
                    { label: "Completion", value: (point) => point.completion_tokens },
                  ]),
              toLead: (timeline) => sumOf(timeline, (point) => point.total_tokens),
            })}
            {draw({
              title: "Cost",
              kind: group ? "line" : "bars",
              format: money,
              toSeries: metricOrGroups(group, [{ label: "Cost", value: (point) => point.total_cost }]),
              toLead: (timeline) => sumOf(timeline, (point) => point.total_cost),
            })}
          </>
        )}
      </Charts>
      <CostByModel {...place} filter={filter} />
    </>
  );
}

function CostByModel({ filter, ...place }: Place & Pick<ChartsProps, "filter">) {
  const selection: TimelineSelection = {
    run_type: "llm",
    filter,
    group_by: { attribute: "metadata", path: "ls_model_name", max_groups: 8 },
    select: ["total_cost"],
  };
  return (
    <Charts {...place} selection={selection} isRoot={false} count={1}>
      {(draw) =>
        draw({
          title: "Cost by model",
          format: money,
          toSeries: (timeline) => groupSeries(timeline, (point) => point.total_cost),
          toLead: (timeline) => sumOf(timeline, (point) => point.total_cost),
        })
      }
    </Charts>
  );
}

export function ToolCharts({ group: _group, filter, ...place }: ChartsProps) {
  const selection: TimelineSelection = {
    run_type: "tool",
    filter,
    group_by: { attribute: "name", max_groups: 5 },
    select: ["run_count", "latency_p50", "error_rate"],
  };
  return (
    <Charts {...place} selection={selection} isRoot={false} count={3}>
      {(draw) => (
        <>
          {draw({
            title: "Tool calls",
            format: formatInteger,
            toSeries: (timeline) => groupSeries(timeline, (point) => point.run_count, 0),
            toLead: (timeline) => sumOf(timeline, (point) => point.run_count),
          })}
          {draw({
            title: "Tool latency",
            note: "P50",
            format: seconds,
            formatTicks: secondTicks,
            toSeries: (timeline) => groupSeries(timeline, (point) => point.latency_p50),
          })}
          {draw({
            title: "Tool error rate",
            format: percent,
            toSeries: (timeline) => groupSeries(timeline, (point) => point.error_rate),
            toLead: (timeline) => rateOf(timeline, (point) => point.error_rate),
            isShare: true,
          })}
        </>
      )}
    </Charts>
  );
}
