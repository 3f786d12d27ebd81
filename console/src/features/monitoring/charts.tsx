import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";

import { Chart } from "../../ui/chart.tsx";
import { type ChartProps, type ChartSeries } from "../../ui/chart-props.ts";
import { compact, duration, money, percent } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import type { TimeRange } from "../../ui/time-range.ts";
import { type Group, type Point, type TimelineInRange, timelineQuery, type TimelineSelection } from "./queries.ts";
import { feedbackSeries, metricSeries, groupSeries } from "./series.ts";

interface ChartsProps {
  projectId: string;
  range: TimeRange;
  group: Group | undefined;
  filter: string | undefined;
}

const seconds = (value: number) => duration(value * 1000);
const formatInteger = (value: number) => (Number.isInteger(value) ? compact(value) : "");

/** Charts of one timeline; a click opens the runs of the selected moment. */
function Charts({
  projectId,
  range,
  selection,
  isRoot,
  count,
  children,
}: Pick<ChartsProps, "projectId" | "range"> & {
  selection: TimelineSelection;
  isRoot: boolean;
  /** Number of charts, to reserve their space. */
  count: number;
  children: (timeline: TimelineInRange, draw: (chart: ChartSpec) => ReactNode) => ReactNode;
}) {
  const navigate = useNavigate();
  const { data: timeline, error, refetch } = useQuery(timelineQuery(projectId, range, selection));
  if (error) return <Problem error={error} title="Could not load the metrics" onRetry={refetch} />;
  if (!timeline) return Array.from({ length: count }, (_, index) => <Skeleton key={index} h={262} />);
  const onPick = (index: number) => {
    const start = timeline.times[index]! * 1000;
    const end = start + timeline.bucket_seconds * 1000;
    void navigate({
      to: "/projects/$projectId",
      params: { projectId },
      search: {
        from: new Date(start).toISOString(),
        to: new Date(end).toISOString(),
        ...(isRoot ? {} : { tab: "all" }),
        ...(selection.filter !== undefined && { filter: selection.filter }),
      } as never,
    });
  };
  return children(timeline, (chart) => (
    <TimelineChart key={chart.title} {...chart} timeline={timeline} onPick={onPick} />
  ));
}

type ChartSpec = Pick<ChartProps, "title" | "format" | "kind" | "note"> & {
  toSeries: (timeline: TimelineInRange) => ChartSeries[];
};

function TimelineChart({
  toSeries,
  timeline,
  ...chart
}: ChartSpec & { timeline: TimelineInRange; onPick: (index: number) => void }) {
  // the function is new at each render but draws the same
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const series = useMemo(() => toSeries(timeline), [timeline]);
  return <Chart {...chart} times={timeline.times} series={series} />;
}

/** For all runs several figures, for groups only the first. */
const metricOrGroups =
  (
    group: Group | undefined,
    figures: { label: string; value: (point: Point) => number | null | undefined }[],
    empty: number | null = null,
  ) =>
  (timeline: TimelineInRange) =>
    group ? groupSeries(timeline, figures[0]!.value, empty) : metricSeries(timeline, figures, empty);

export function TraceCharts({ projectId, range, group, filter }: ChartsProps) {
  const selection: TimelineSelection = {
    is_root: true,
    filter,
    group_by: group,
    select: ["run_count", "latency_p50", "latency_p99", "error_rate", "feedback_stats"],
  };
  return (
    <Charts projectId={projectId} range={range} selection={selection} isRoot count={4}>
      {(_, draw) => (
        <>
          {draw({
            title: "Traces",
            kind: group ? "line" : "bars",
            format: formatInteger,
            toSeries: metricOrGroups(group, [{ label: "Traces", value: (point) => point.run_count }], 0),
          })}
          {draw({
            title: "Latency",
            format: seconds,
            note: group ? "P50" : undefined,
            toSeries: metricOrGroups(group, [
              { label: "P50", value: (point) => point.latency_p50 },
              { label: "P99", value: (point) => point.latency_p99 },
            ]),
          })}
          {draw({
            title: "Error rate",
            format: percent,
            toSeries: metricOrGroups(group, [{ label: "Failed", value: (point) => point.error_rate }]),
          })}
          {draw({ title: "Feedback", note: "average", format: (value) => value.toFixed(2), toSeries: feedbackSeries })}
        </>
      )}
    </Charts>
  );
}

export function LlmCharts({ projectId, range, group, filter }: ChartsProps) {
  const selection: TimelineSelection = {
    run_type: "llm",
    filter,
    group_by: group,
    select: [
      "run_count",
      "latency_p50",
      "latency_p99",
      "first_token_p50",
      "first_token_p99",
      "total_tokens",
      "prompt_tokens",
      "completion_tokens",
      "total_cost",
    ],
  };
  return (
    <Charts projectId={projectId} range={range} selection={selection} isRoot={false} count={5}>
      {(_, draw) => (
        <>
          {draw({
            title: "LLM calls",
            kind: group ? "line" : "bars",
            format: formatInteger,
            toSeries: metricOrGroups(group, [{ label: "LLM calls", value: (point) => point.run_count }], 0),
          })}
          {draw({
            title: "LLM latency",
            format: seconds,
            note: group ? "P50" : undefined,
            toSeries: metricOrGroups(group, [
              { label: "P50", value: (point) => point.latency_p50 },
              { label: "P99", value: (point) => point.latency_p99 },
            ]),
          })}
          {draw({
            title: "First token",
            format: seconds,
            note: group ? "P50" : undefined,
            toSeries: metricOrGroups(group, [
              { label: "P50", value: (point) => point.first_token_p50 },
              { label: "P99", value: (point) => point.first_token_p99 },
            ]),
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
          })}
          {draw({
            title: "Cost",
            kind: group ? "line" : "bars",
            format: money,
            toSeries: metricOrGroups(group, [{ label: "Cost", value: (point) => point.total_cost }]),
          })}
        </>
      )}
    </Charts>
  );
}

export function ToolCharts({ projectId, range, filter }: ChartsProps) {
  const selection: TimelineSelection = {
    run_type: "tool",
    filter,
    group_by: { attribute: "name", max_groups: 5 },
    select: ["run_count", "latency_p50", "error_rate"],
  };
  return (
    <Charts projectId={projectId} range={range} selection={selection} isRoot={false} count={3}>
      {(_, draw) => (
        <>
          {draw({
            title: "Tool calls",
            format: formatInteger,
            toSeries: (timeline) => groupSeries(timeline, (point) => point.run_count, 0),
          })}
          {draw({
            title: "Tool latency",
            note: "P50",
            format: seconds,
            toSeries: (timeline) => groupSeries(timeline, (point) => point.latency_p50),
          })}
          {draw({
            title: "Tool error rate",
            format: percent,
            toSeries: (timeline) => groupSeries(timeline, (point) => point.error_rate),
          })}
        </>
      )}
    </Charts>
  );
}
