import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";

import { Chart } from "../../ui/chart.tsx";
import type { ChartMarker, ChartProps, ChartSeries } from "../../ui/chart-props.ts";
import { Problem } from "../../ui/problem.tsx";
import type { TimeRange } from "../../ui/time-range.ts";
import { type TimelineInRange, timelineQuery, type TimelineSelection } from "./queries.ts";
import { describeChange, withBefore } from "./series.ts";

/** Props that all charts of the page share. */
export interface Place {
  projectId: string;
  range: TimeRange;
  /** Whether to also show the previous period. */
  before: boolean;
  /** Moves of prompts' tags in the range. */
  markers?: readonly ChartMarker[] | undefined;
  /** Called with the range that the user selects by dragging, in seconds since 1970. */
  onZoom: (from: number, to: number) => void;
}

interface PartProps extends Place {
  selection: TimelineSelection;
  isRoot: boolean;
  /** Filter of the runs behind a point, if it differs from the selection's. */
  pickFilter?: string | undefined;
  /** Number of charts, to reserve their space. */
  count: number;
  children: (draw: (chart: ChartSpec) => ReactNode) => ReactNode;
}

/** Charts of one timeline. A click opens the runs of the selected moment, and dragging selects a range. */
export function Charts({
  projectId,
  range,
  before,
  markers,
  onZoom,
  selection,
  isRoot,
  pickFilter,
  count,
  children,
}: PartProps) {
  const navigate = useNavigate();
  const { data: timeline, error, refetch } = useQuery(timelineQuery(projectId, range, selection));
  const earlier = useQuery({ ...timelineQuery(projectId, range, selection, true), enabled: before });
  if (error && !timeline) return <Problem error={error} title="Could not load the metrics" onRetry={refetch} />;
  if (!timeline) return Array.from({ length: count }, (_, index) => <Skeleton key={index} h={292} />);
  const filter = pickFilter ?? selection.filter;
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
        ...(filter !== undefined && { filter }),
      } as never,
    });
  };
  return children((chart) => (
    <TimelineChart
      key={chart.title}
      {...chart}
      timeline={timeline}
      earlier={before ? earlier.data : undefined}
      markers={markers}
      onPick={onPick}
      onZoom={(from, to) => onZoom(from, Math.max(to, from + timeline.bucket_seconds))}
    />
  ));
}

type ChartSpec = Pick<ChartProps, "title" | "format" | "formatTicks" | "kind" | "note"> & {
  toSeries: (timeline: TimelineInRange) => ChartSeries[];
  /** Number of the whole range that leads the chart; a share is compared by points. */
  toLead?: (timeline: TimelineInRange) => number | null;
  isShare?: boolean;
};

function TimelineChart({
  toSeries,
  toLead,
  isShare = false,
  timeline,
  earlier,
  ...chart
}: ChartSpec & { timeline: TimelineInRange; earlier: TimelineInRange | undefined } & Pick<
    ChartProps,
    "onPick" | "onZoom" | "markers"
  >) {
  const series = useMemo(
    () => {
      const current = toSeries(timeline);
      return earlier ? withBefore(current, toSeries(earlier)) : current;
    },
    // the function is new at each render but draws the same
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [timeline, earlier],
  );
  const now = toLead?.(timeline) ?? null;
  const change = earlier && toLead ? describeChange(now, toLead(earlier), isShare) : undefined;
  const lead = toLead && (now === null ? null : { value: chart.format(now), change });
  return <Chart {...chart} lead={lead} times={timeline.times} series={series} />;
}
