import { conjoin } from "./conjoin.ts";
import type { HistogramField } from "./facet-queries.ts";

/** Range in seconds or dollars. Null: no limit. */
export interface ValueRange {
  from: number | null;
  to: number | null;
}

const pattern = (field: HistogramField) => new RegExp(`gte\\(${field}, ([\\d.e-]+)\\), lt\\(${field}, ([\\d.e+]+)\\)`);
/** Exceeds every latency and cost. A range is always written with both bounds, so that it can be found again. */
const NO_LIMIT = 1e9;

/** Returns the range of a metric that {@link withRange} wrote into a filter; null when there is none. */
export function readRange(filter: string, field: HistogramField): ValueRange | null {
  const found = pattern(field).exec(filter);
  if (!found) return null;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return { from: from === 0 ? null : from, to: to === NO_LIMIT ? null : to };
}

/** Returns the filter with this range of the metric, which replaces an existing one. */
export function withRange(filter: string, field: HistogramField, { from, to }: ValueRange): string {
  const range = `gte(${field}, ${from ?? 0}), lt(${field}, ${to ?? NO_LIMIT})`;
  return pattern(field).test(filter) ? filter.replace(pattern(field), range) : conjoin(filter, `and(${range})`);
}
