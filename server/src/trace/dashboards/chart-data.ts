/** Data of charts: their series over a period, in steps. */
import { unprocessable } from "../../base/errors.ts";
import { appliesToAgents } from "./agent-filter.ts";
import { groupsAgents, isOfAgents } from "./agent-metrics.ts";
import { readManySeries } from "./read-series.ts";
import type { ChartFilters, ChartWithData, DataPoint, Period, StoredSeries } from "./schema.ts";
import { isAdditive, type SeriesMetric } from "./series-metrics.ts";
import type { SeriesDeps, SeriesPoint } from "./series-point.ts";
import { MAX_GROUPS, OTHER, type SeriesRequest } from "./series-request.ts";

export interface Charted extends Pick<ChartWithData, "series" | "common_filters" | "unfiltered_series"> {
  /** Of the chart alone, for `unfiltered_series`. */
  own_filters?: ChartFilters | null;
}
interface GroupBy extends Pick<NonNullable<StoredSeries["group_by"]>, "attribute" | "max_groups"> {
  path?: string | null | undefined;
}

/** Period without a start: a week. */
const DEFAULT_MS = 7 * 86_400_000;
/** Points of one answer. */
const MAX_POINTS = 100_000;
/** Series of one answer: each may be a statement. */
const MAX_SERIES = 500;

/** Returns the data of each chart, in their order. `groupBy` applies to series without a grouping. */
export async function readCharts(
  deps: SeriesDeps,
  tenantId: string,
  charts: readonly Charted[],
  period: Period,
  now = Date.now(),
): Promise<DataPoint[][]> {
  if (period.omit_data) return charts.map(() => []);
  const bounds = readPeriod(period, now);
  const all = charts.flatMap(({ series, common_filters, own_filters = null, unfiltered_series }, chart) =>
    series.map((one) => {
      const common = unfiltered_series?.includes(one.id) ? own_filters : common_filters;
      return { chart, one, request: toRequest(one, common, bounds), whole: toWhole(one, common, bounds) };
    }),
  );
  const requests = all.flatMap(({ request, whole }) => (whole ? [request, whole] : [request]));
  if (requests.length > MAX_SERIES) {
    throw unprocessable(
      `The charts have ${requests.length} series, and an answer has at most ${MAX_SERIES}. Read dashboards one at a time, or set omit_data.`,
    );
  }
  const steps = Math.ceil((bounds.until.getTime() - bounds.since.getTime()) / 1000 / bounds.stepSeconds) + 1;
  const points = requests.reduce((sum, request) => sum + steps * (1 + (request.group_by?.max_groups ?? 0)), 0);
  if (points > MAX_POINTS) {
    throw unprocessable(
      `The charts have ${points} points in this period, and an answer at most ${MAX_POINTS}. Choose a longer stride or a shorter period.`,
    );
  }
  const read = new Map((await readManySeries(deps, tenantId, requests)).map((points, i) => [requests[i]!, points]));
  const data: DataPoint[][] = charts.map(() => []);
  for (const { chart, one, request, whole } of all) {
    const points = read.get(request)!;
    data[chart]!.push(
      ...(whole
        ? fill(one, request, divide(points, read.get(whole)!, request.metric), null)
        : fill(one, request, points, isAdditive(request.metric) ? 0 : null)),
    );
  }
  return data;
}

type Bounds = Pick<SeriesRequest, "since" | "until" | "stepSeconds"> & { offsetSeconds: number };

function readPeriod({ start_time, end_time, stride, timezone }: Omit<Period, "omit_data">, now: number): Bounds {
  const until = end_time == null ? new Date(now) : new Date(end_time);
  const since = start_time == null ? new Date(until.getTime() - DEFAULT_MS) : new Date(start_time);
  const stepSeconds = stride.days * 86_400 + stride.hours * 3600 + stride.minutes * 60;
  return { since, until, stepSeconds, offsetSeconds: -zoneSeconds(timezone, since) };
}

/** Returns how far local time is ahead of UTC. */
function zoneSeconds(timeZone: string, at: Date): number {
  const name = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" })
    .formatToParts(at)
    .find(({ type }) => type === "timeZoneName")!.value;
  const [, sign, hours, minutes = "0"] = /([+-])(\d\d):?(\d\d)?/.exec(name) ?? [undefined, "+", "0"];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

function toRequest(series: StoredSeries, common: ChartFilters | null, bounds: Bounds): SeriesRequest {
  const own = series.filters;
  return {
    ...bounds,
    metric: series.metric as SeriesMetric,
    feedback_key: series.feedback_key,
    projects: both(common?.session, own?.session),
    filters: {
      filter: conjoin(common?.filter, own?.filter),
      trace_filter: conjoin(common?.trace_filter, own?.trace_filter),
      tree_filter: conjoin(common?.tree_filter, own?.tree_filter),
    },
    group_by: series.group_by,
  };
}

/** Returns the request of a series' denominator: with the same common filters and groups. */
function toWhole(series: StoredSeries, common: ChartFilters | null, bounds: Bounds): SeriesRequest | undefined {
  const { denominator, group_by: by } = series;
  if (!denominator) return undefined;
  const { metric, filters = null, feedback_key = null } = denominator;
  // its largest groups may be others
  const group_by = by && { ...by, max_groups: MAX_GROUPS };
  return toRequest({ ...series, metric, filters, feedback_key, group_by }, common, bounds);
}

/** Divides points of the same step and group. Of the group of all smaller groups both have other runs. */
function divide(points: readonly SeriesPoint[], whole: readonly SeriesPoint[], metric: SeriesMetric): SeriesPoint[] {
  const key = ({ at, group }: SeriesPoint) => `${at.getTime()} ${group}`;
  const values = new Map(points.map((point) => [key(point), point.value]));
  const groups = new Set([null, ...points.map(({ group }) => group)].filter((group) => group !== OTHER));
  return whole.flatMap((point) => {
    const value = values.get(key(point)) ?? (isAdditive(metric) ? 0 : null);
    const isRatio = typeof value === "number" && typeof point.value === "number" && point.value !== 0;
    return groups.has(point.group) && isRatio ? [{ ...point, value: value / (point.value as number) }] : [];
  });
}

function both(a: string[] | null | undefined, b: string[] | null | undefined): string[] | undefined {
  if (!a?.length) return b?.length ? b : undefined;
  return b?.length ? a.filter((id) => b.includes(id)) : a;
}

/** Each within `and`, because adjacent conditions on pairs mean the same pair. */
function conjoin(a: string | null | undefined, b: string | null | undefined): string | undefined {
  const [first, second] = [a?.trim(), b?.trim()];
  if (!first || !second) return first || second || undefined;
  return `and(and(${first}), and(${second}))`;
}

/** Adds the steps without runs. */
function fill(
  series: StoredSeries,
  request: SeriesRequest,
  points: readonly SeriesPoint[],
  empty: 0 | null,
): DataPoint[] {
  const { since, until, stepSeconds, offsetSeconds = 0 } = request;
  const step = stepSeconds * 1000;
  const offset = offsetSeconds * 1000;
  const first = Math.floor((since.getTime() - offset) / step) * step + offset;
  const groups = new Map<string | null, Map<number, SeriesPoint["value"]>>();
  if (!request.group_by) groups.set(null, new Map());
  for (const { at, group, value } of points) {
    let values = groups.get(group);
    if (!values) groups.set(group, (values = new Map()));
    values.set(at.getTime(), value);
  }
  return Array.from(groups).flatMap(([group, values]) => {
    const data: DataPoint[] = [];
    for (let at = first; at < until.getTime(); at += step) {
      data.push({
        series_id: series.id,
        timestamp: new Date(at).toISOString(),
        value: (values.get(at) ?? empty) as DataPoint["value"],
        group,
      });
    }
    return data;
  });
}

const metricsOf = ({ metric, denominator }: StoredSeries): string[] => [
  metric,
  ...(denominator ? [denominator.metric] : []),
];

/**
 * Gives charts the filters of the whole dashboard, beside their own. Series of agents that lack what a filter tests get
 * only its projects, and are listed.
 */
export const filterCharts = <T extends Charted>(charts: readonly T[], filters: ChartFilters | null | undefined): T[] =>
  charts.map((chart) => {
    if (!filters) return chart;
    const own = chart.common_filters;
    const session = both(filters.session, own?.session);
    const lacks = (metric: string) => isOfAgents(metric) && !appliesToAgents(filters, metric);
    return {
      ...chart,
      own_filters: { ...own, session },
      unfiltered_series: chart.series.filter((series) => metricsOf(series).some(lacks)).map(({ id }) => id),
      common_filters: {
        filter: conjoin(filters.filter, own?.filter),
        trace_filter: conjoin(filters.trace_filter, own?.trace_filter),
        tree_filter: conjoin(filters.tree_filter, own?.tree_filter),
        session,
      },
    };
  });

/** Gives series without a grouping that of the whole dashboard, where their metrics have it. */
export function groupSeries<T extends Charted>(charts: readonly T[], by: GroupBy | null | undefined): T[] {
  if (!by) return [...charts];
  const group_by = { ...by, path: by.path ?? null, set_by: "section" as const };
  const has = (metric: string) => (isOfAgents(metric) ? groupsAgents(by.attribute) : by.attribute !== "status");
  return charts.map((chart) => ({
    ...chart,
    series: chart.series.map((series) =>
      series.group_by || !metricsOf(series).every(has) ? series : { ...series, group_by },
    ),
  }));
}
