import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { MAX_POINTS } from "./series-request.ts";

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

export type SeriesDeps = Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "projects" | "stepMemory">;

/** Row of a statement about several metrics: the value of the i-th is `m<i>`. */
export type SeriesRow = { bucket: string | number; group_name: string | null } & Record<`m${number}`, unknown>;

/** Groups of a series without its own number. */
export const DEFAULT_GROUPS = 5;

/**
 * Returns the points of each metric.
 * @throws 422 for more rows than a series may have
 */
export function toPoints<M>(
  rows: readonly SeriesRow[],
  metrics: readonly M[],
  readValue: (metric: M, value: unknown) => SeriesValue,
): SeriesPoint[][] {
  if (rows.length > MAX_POINTS)
    throw unprocessable(`The series has more than ${MAX_POINTS} points. Choose longer steps.`);
  return metrics.map((metric, i) =>
    rows.map((row) => ({
      at: new Date(Number(row.bucket) * 1000),
      group: row.group_name,
      value: readValue(metric, row[`m${i}`]),
    })),
  );
}
