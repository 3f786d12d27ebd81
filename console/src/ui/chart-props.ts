export interface ChartSeries {
  label: string;
  /** A value for each time; null where there is none. */
  values: (number | null)[];
  /** Series of the period before, drawn dashed in the colour of the series that it belongs to. */
  before?: number | undefined;
}

export interface ChartProps {
  title: string;
  /** Seconds since 1970, ascending. */
  times: number[];
  series: ChartSeries[];
  /** Formats a value on the axis and in the legend. */
  format: (value: number) => string;
  kind?: "line" | "bars";
  /** Called with the index of the time that the user selects. */
  onPick?: ((index: number) => void) | undefined;
  /** Called with the seconds since 1970 between which the user drags. */
  onZoom?: ((from: number, to: number) => void) | undefined;
  /** Note beside the title. */
  note?: string;
}

/** Ordered so that neighbours differ for colour-blind readers. */
export const SERIES_COLORS = ["teal", "orange", "indigo", "pink", "lime", "grape", "cyan", "red", "yellow", "gray"];

/** Returns the name of a series' colour; the period before has that of its series. */
export const seriesColor = ({ before }: ChartSeries, index: number): string =>
  SERIES_COLORS[(before ?? index) % SERIES_COLORS.length]!;
