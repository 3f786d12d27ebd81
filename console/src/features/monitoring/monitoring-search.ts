import { optionalText } from "../../ui/search-params.ts";
import { readTimeRange, type TimeRange } from "../../ui/time-range.ts";
import type { Group } from "./queries.ts";

/** Search parameters of the charts of a project or a dashboard. */
export interface MonitoringSearch {
  last?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** What groups the runs: `model`, `metadata:plan`, `feedback:helpful`. */
  group?: string | undefined;
  /** Filter of all charts. */
  filter?: string | undefined;
  /** Whether charts also show the previous period. */
  before?: boolean | undefined;
}

export const readMonitoringSearch = (search: Record<string, unknown>): MonitoringSearch => ({
  last: optionalText(search["last"]),
  from: optionalText(search["from"]),
  to: optionalText(search["to"]),
  group: optionalText(search["group"]),
  filter: optionalText(search["filter"]),
  before: search["before"] === true ? true : undefined,
});

export const monitoringRange = (search: MonitoringSearch): TimeRange => readTimeRange(search, { last: "24h" });

/** Number of groups that a chart shows. */
const MAX_GROUPS = 8;

/** Shortest range that dragging across a chart selects, in seconds. */
const MIN_ZOOM = 10;

/** Returns the range between two times in seconds since 1970, widened to whole seconds. */
export function zoomRange(from: number, to: number): { from: string; to: string } {
  const start = Math.floor(from);
  const end = Math.max(Math.ceil(to), start + MIN_ZOOM);
  return { from: new Date(start * 1000).toISOString(), to: new Date(end * 1000).toISOString() };
}

export function readGroup({ group }: MonitoringSearch): Group | undefined {
  if (group === undefined) return undefined;
  if (group === "name" || group === "tag" || group === "run_type") return { attribute: group, max_groups: MAX_GROUPS };
  const path = /^metadata:(.+)$/.exec(group)?.[1];
  return path === undefined ? undefined : { attribute: "metadata", path, max_groups: MAX_GROUPS };
}
