import type { TraceDeps } from "../deps.ts";

export interface SeriesPoint {
  /** Start of the bucket. */
  at: Date;
  /** Null without grouping. */
  group: string | null;
  /** A count per value or bin for metrics that are distributions. */
  value: SeriesValue;
}
export type SeriesValue = number | Record<string, number> | FeedbackSummary | null;
export interface FeedbackSummary {
  n: number;
  avg: number | null;
  values: Record<string, number>;
}

export type SeriesDeps = Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "projects">;
