import type { ReactNode } from "react";

export interface ChartSeries {
  label: string;
  /** A value for each time; null where there is none. */
  values: (number | null)[];
  /** For a series whose colour has a meaning: errors, and lines that only compare, such as limits. */
  color?: "danger" | "neutral" | undefined;
  /** For a series of the previous period: index of the current series, whose colour it has. It is drawn dashed. */
  before?: number | undefined;
}

/** Event that a chart shows as a vertical line. */
export interface ChartMarker {
  /** Seconds since 1970. */
  time: number;
  label: string;
  /** Of events of one project: charts of other projects leave them out. */
  projectId?: string;
}

export interface ChartProps {
  title: string;
  /** Seconds since 1970, ascending. */
  times: number[];
  series: ChartSeries[];
  /** Formats a value on the axis and in the legend. */
  format: (value: number) => string;
  /** Formats the ticks of the value axis together; without it, each is formatted by `format`. */
  formatTicks?: ((values: readonly number[]) => string[]) | undefined;
  kind?: "line" | "bars";
  /** Called with the index of the time that the user selects. */
  onPick?: ((index: number) => void) | undefined;
  /** Called with the range that the user selects by dragging, in seconds since 1970. */
  onZoom?: ((from: number, to: number) => void) | undefined;
  markers?: readonly ChartMarker[] | undefined;
  /** The number that leads, with how it differs from the previous period in words; null keeps its room. */
  lead?: { value: string; change?: string | undefined } | null | undefined;
  /** Note beside the title. */
  note?: string | undefined;
  /** Beside the title, at its end. */
  actions?: ReactNode;
}

/** Dashes and gaps of a previous period's line, in pixels. */
export const DASH = [4, 4];

/** Number of colours of series: those after it repeat them. */
const SERIES = 8;

/** Returns the CSS variable of a series' colour. A series of the previous period has the colour of the current one. */
export const seriesColor = ({ before, color }: ChartSeries, index: number): string =>
  color ? `--heddle-${color}` : `--heddle-series-${((before ?? index) % SERIES) + 1}`;
