/** Distribution of a metric over runs, in bins of equal width on a logarithmic scale. */
import { bind, ch, raw } from "../../base/clickhouse/fragment.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import type { PageDeps } from "./select-page.ts";
import type { RunSelection } from "./selection.ts";
import { fromSortValues, sourcesToSort } from "./sort-value.ts";
import type { Histogram, HistogramBody } from "./stats-schema.ts";

/** Bins per factor of ten; their edges are the same for every selection. */
const PER_DECADE = 8;
const MAX_BINS = 200;

/** Counts the selected runs by their latency, or by their cost as lists show it. Runs without a value are not counted. */
export async function histogramOfRuns(
  deps: PageDeps,
  scope: RunScope,
  selection: RunSelection,
  { field }: Pick<HistogramBody, "field">,
): Promise<Histogram> {
  const sources = await sourcesToSort(deps, scope, selection, field);
  // latencies are sorted in microseconds
  const value = raw(field === "latency" ? "sort_value / 1e6" : "sort_value");
  const values = ch`select ${value} as value ${fromSortValues(sources, field)}`;
  // smaller values count as a microsecond, or a millionth of a dollar
  const statement = ch`
    select toInt32(floor(log10(greatest(value, 1e-6)) * ${bind("UInt8", PER_DECADE)} + 1e-9)) as bin, count() as n
    from (${values})
    where value is not null
    group by bin order by bin limit ${bind("UInt32", MAX_BINS)}`;
  const rows = await readRows<{ bin: number; n: number | string }>(
    deps.clickhouse.forTenant(scope.tenantId),
    "runs.histogram",
    statement,
  );
  return { field, bins: rows.map(({ bin, n }) => ({ from: edge(bin), to: edge(bin + 1), n: Number(n) })) };
}

/** Returns a bin's lower edge with five digits, so that a filter can contain it exactly. */
const edge = (bin: number): number => Number((10 ** (bin / PER_DECADE)).toPrecision(5));
