import type { DataPoint, StoredSeries } from "./schema.ts";
import { isAdditive, type SeriesMetric } from "./series-metrics.ts";

interface OfWorkspace {
  id: string;
  name: string;
  data: readonly DataPoint[];
}

const separate = ({ metric, denominator }: StoredSeries): boolean =>
  denominator != null || metric === "queue_oldest_seconds" || !isAdditive(metric as SeriesMetric);

/**
 * Merges the data of a chart in several workspaces. Counts, tokens and costs are added up. Of other metrics, such as
 * percentiles, each workspace is a separate group: they do not follow from those of the workspaces.
 */
export function mergeWorkspaces(series: readonly StoredSeries[], workspaces: readonly OfWorkspace[]): DataPoint[] {
  const known = new Map(series.map((one) => [one.id, one]));
  const names = workspaces.map(({ name }) => name);
  const merged = new Map<string, DataPoint>();
  for (const { id, name, data } of workspaces) {
    const label = names.filter((other) => other === name).length > 1 ? `${name} (${id.slice(0, 8)})` : name;
    for (const point of data) {
      const one = known.get(point.series_id)!;
      const isApart = one.workspace_id == null && separate(one);
      const group = isApart ? (point.group === null ? label : `${label}: ${point.group}`) : point.group;
      const key = JSON.stringify([point.series_id, group, point.timestamp]);
      const before = merged.get(key);
      const value =
        typeof before?.value === "number" && typeof point.value === "number" ? before.value + point.value : point.value;
      merged.set(key, { ...point, group, value });
    }
  }
  return [...merged.values()];
}
