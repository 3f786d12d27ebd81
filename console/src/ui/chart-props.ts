export interface ChartSeries {
  label: string;
  /** A value for each time; null where there is none. */
  values: (number | null)[];
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
  /** Note beside the title. */
  note?: string;
}

/** Ordered so that neighbours differ for colour-blind readers. */
export const SERIES_COLORS = ["teal", "orange", "indigo", "pink", "lime", "grape", "cyan", "red", "yellow", "gray"];
