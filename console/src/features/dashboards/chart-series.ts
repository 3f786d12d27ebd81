import type { ChartSeries } from "../../ui/chart-props.ts";
import { compact, money, percent, seconds } from "../../ui/format.ts";
import type { ChartData, DataPoint } from "./queries.ts";

/** How a chart is shown; `metadata.display` of the chart. */
export const DISPLAYS = ["line", "bar", "table", "number", "heatmap"] as const;
export type Display = (typeof DISPLAYS)[number];
export type Width = 1 | 2 | 3;

export function displayOf({ metadata, chart_type: type }: Pick<ChartData, "metadata" | "chart_type">): Display {
  const display = metadata?.["display"];
  return DISPLAYS.find((known) => known === display) ?? type;
}

export function widthOf({ metadata }: Pick<ChartData, "metadata">): Width {
  const width = metadata?.["width"];
  return width === 2 || width === 3 ? width : 1;
}

/** Section of a dashboard that the chart is in; `metadata.section`. */
export const sectionOf = ({ metadata }: Pick<ChartData, "metadata">): string => {
  const section = metadata?.["section"];
  return typeof section === "string" ? section : "";
};

export function formatOf(metric: string): (value: number) => string {
  if (/cost/.test(metric)) return money;
  if (/^(latency|first_token|queue_oldest|queue_wait|agent_duration)/.test(metric)) return seconds;
  if (metric.endsWith("rate")) return percent;
  if (metric === "feedback_score_avg") return (value) => value.toFixed(2);
  return compact;
}

export interface Lines {
  /** Seconds since 1970. */
  times: number[];
  series: (ChartSeries & { total: number | null })[];
}

const numberOf = ({ value }: DataPoint): number | null => (typeof value === "number" ? value : null);

/** Returns the lines of a chart; names of groups follow those of series only where there are several series. */
export function toLines({ series, data }: Pick<ChartData, "series" | "data">): Lines {
  const times = [...new Set(data.map(({ timestamp }) => Date.parse(timestamp) / 1000))].toSorted((a, b) => a - b);
  const places = new Map(times.map((time, index) => [time, index]));
  const lines = new Map<string, Lines["series"][number]>();
  for (const point of data) {
    const owner = series.find(({ id }) => id === point.series_id);
    if (!owner) continue;
    const group = point.group === "" ? "(none)" : point.group;
    const label = group === null ? owner.name : series.length > 1 ? `${owner.name}, ${group}` : group;
    const key = `${point.series_id} ${point.group ?? ""}`;
    const line =
      lines.get(key) ??
      ({
        label,
        values: times.map(() => null),
        total: null,
        ...(/error/.test(owner.metric) && group === null && { color: "danger" }),
      } as Lines["series"][number]);
    lines.set(key, line);
    line.values[places.get(Date.parse(point.timestamp) / 1000)!] = numberOf(point);
  }
  const all = [...lines.values()];
  for (const line of all) line.total = summary(series[0]?.metric ?? "", line.values);
  return { times, series: distinct(all) };
}

/** Labels are keys of the chart's lines. */
function distinct(lines: Lines["series"]): Lines["series"] {
  const seen = new Map<string, number>();
  return lines.map((line) => {
    const n = (seen.get(line.label) ?? 0) + 1;
    seen.set(line.label, n);
    return n === 1 ? line : { ...line, label: `${line.label} (${n})` };
  });
}

/** A period's value of a metric: the sum of counts, tokens and costs, else the mean of the steps. */
export function summary(metric: string, values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const sum = known.reduce((total, value) => total + value, 0);
  return isSummed(metric) ? sum : sum / known.length;
}

const isSummed = (metric: string): boolean =>
  metric.endsWith("_count") || /^(total|prompt|completion)_(tokens|cost)$/.test(metric);

/** Returns the change against the previous period in words, such as "12 % more than before". */
export function differenceText(metric: string, now: number | null, before: number | null): string {
  if (now === null) return "";
  if (before === null) return "No data in the previous period";
  const format = formatOf(metric);
  if (now === before) return `As in the previous period (${format(before)})`;
  const direction = now > before ? "more" : "less";
  if (metric.endsWith("rate")) {
    const points = Math.abs(now - before) * 100;
    return `${points < 10 ? points.toFixed(1) : points.toFixed(0)} points ${direction} than before (${format(before)})`;
  }
  if (before === 0) return `Up from ${format(before)}`;
  const change = Math.abs(now - before) / Math.abs(before);
  const size =
    change >= 2 && now > before
      ? `${(now / before).toFixed(1)} times as much as`
      : `${Math.round(change * 100)} % ${direction} than`;
  return `${size} before (${format(before)})`;
}

/** Quotes a cell, and keeps spreadsheets from taking a text as a formula. */
const cell = (value: string | number | null): string => {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** Returns a chart's points as CSV: a row per time, a column per line. Distributions are JSON. */
export function toCsv(chart: Pick<ChartData, "series" | "data">): string {
  const isMaps = chart.data.some(({ value }) => typeof value === "object" && value !== null);
  if (isMaps) {
    const rows = chart.data.map(({ timestamp, group, value }) => [timestamp, group, JSON.stringify(value)]);
    return [["time", "group", "value"], ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
  }
  const { times, series } = toLines(chart);
  const rows = times.map((time, index) => [
    new Date(time * 1000).toISOString(),
    ...series.map(({ values }) => values[index] ?? null),
  ]);
  return [["time", ...series.map(({ label }) => label)], ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
}
