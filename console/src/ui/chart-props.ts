export interface ChartSeries {
  label: string;
  /** One for each time; null where there is nothing. */
  values: (number | null)[];
}

export interface ChartProps {
  title: string;
  /** Seconds since 1970, rising. */
  times: number[];
  series: ChartSeries[];
  /** Of a value on the axis and in the legend. */
  format: (value: number) => string;
  kind?: "line" | "bars";
  /** Somebody picked a moment: the time's index. */
  onPick?: ((index: number) => void) | undefined;
  /** Beside the title. */
  note?: string;
}

/** In an order in which neighbours differ for people who see few colours. */
export const SERIES_COLORS = ["teal", "orange", "indigo", "pink", "lime", "grape", "cyan", "red", "yellow", "gray"];
