import type { ChartSeries } from "../../ui/chart-props.ts";
import type { Point, TimelineInRange } from "./queries.ts";

type Statistic = (point: Point) => number | null | undefined;

export interface Metric {
  label: string;
  value: Statistic;
  /** For a metric whose colour has a meaning. */
  color?: ChartSeries["color"];
}

/** Returns a point's statistic at each moment of the timeline; `empty` where no run started. */
function seriesValues(
  { times }: Pick<TimelineInRange, "times">,
  points: readonly { start: string }[],
  statistic: (point: never) => number | null | undefined,
  empty: number | null,
): (number | null)[] {
  const byTime = new Map(points.map((point) => [Date.parse(point.start) / 1000, point]));
  return times.map((time) => {
    const point = byTime.get(time);
    return point === undefined ? empty : (statistic(point as never) ?? empty);
  });
}

/** Returns several statistics of all runs, each as a series. */
export function metricSeries(
  timeline: TimelineInRange,
  statistics: Metric[],
  empty: number | null = null,
): ChartSeries[] {
  const points = timeline.series[0]?.points ?? [];
  return statistics.map(({ label, value, color }) => ({
    label,
    color,
    values: seriesValues(timeline, points, value as never, empty),
  }));
}

/** Returns one statistic of each group, each as a series. */
export const groupSeries = (timeline: TimelineInRange, value: Statistic, empty: number | null = null): ChartSeries[] =>
  timeline.series.map(({ group, points }) => ({
    label: group === "" ? "(none)" : group,
    values: seriesValues(timeline, points, value as never, empty),
  }));

const allPoints = ({ series }: Pick<TimelineInRange, "series">): Point[] => series.flatMap(({ points }) => points);

/** Returns the sum of a statistic over all buckets and groups; null where it has no value. */
export function sumOf(timeline: Pick<TimelineInRange, "series">, statistic: Statistic): number | null {
  const values = allPoints(timeline).flatMap((point) => statistic(point) ?? []);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

/** Returns the mean of a rate over all runs: each bucket counts by its runs. */
export function rateOf(timeline: Pick<TimelineInRange, "series">, rate: Statistic): number | null {
  const points = allPoints(timeline).filter((point) => rate(point) != null);
  const runs = points.reduce((sum, point) => sum + (point.run_count ?? 0), 0);
  if (runs === 0) return null;
  return points.reduce((sum, point) => sum + rate(point)! * (point.run_count ?? 0), 0) / runs;
}

/** Says how a number differs from that of the previous period; shares differ by points of a hundred. */
export function describeChange(now: number | null, before: number | null, isShare: boolean): string | undefined {
  if (now === null || before === null) return undefined;
  const difference = isShare ? (now - before) * 100 : before === 0 ? null : (now / before - 1) * 100;
  if (difference === null) return now === 0 ? "as in the previous period" : "none in the previous period";
  const rounded = Math.round(difference * (isShare ? 10 : 1)) / (isShare ? 10 : 1);
  if (rounded === 0) return "as in the previous period";
  const amount = `${rounded > 0 ? "+" : "−"}${Math.abs(rounded).toLocaleString("en")}`;
  return `${amount}${isShare ? (Math.abs(rounded) === 1 ? " point" : " points") : "%"} against the previous period`;
}

/** Returns average scores by feedback key; the most frequent keys come first. */
export function feedbackSeries(timeline: TimelineInRange, most = 5): ChartSeries[] {
  const size = ({ points }: TimelineInRange["feedback"][number]) => points.reduce((sum, { n }) => sum + n, 0);
  return timeline.feedback
    .filter(({ points }) => points.some(({ avg }) => avg !== null))
    .toSorted((a, b) => size(b) - size(a))
    .slice(0, most)
    .map(({ key, group, points }) => ({
      label: group === "" ? key : `${key}, ${group}`,
      values: seriesValues(timeline, points, ((point: { avg: number | null }) => point.avg) as never, null),
    }));
}

/** Returns the series, and series of the previous period with the same labels. Times are matched by position. */
export function withBefore(current: ChartSeries[], earlier: readonly ChartSeries[]): ChartSeries[] {
  const before = current.flatMap(({ label, values, color }, index) => {
    const match = earlier.find((candidate) => candidate.label === label);
    if (!match) return [];
    const earlierValues = values.map((_, at) => match.values[at] ?? null);
    return [{ label: `${label}, previous`, values: earlierValues, before: index, color }];
  });
  return [...current, ...before];
}
