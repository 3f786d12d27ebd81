import { optionalText } from "../../ui/search-params.ts";
import { readTimeRange, type TimeRange } from "../../ui/time-range.ts";
import type { Group } from "./queries.ts";

/**
 * Search parameters of `/projects/$projectId/monitoring`: the range, and the key by which runs are grouped, such as
 * `metadata:user`.
 */
export interface MonitoringSearch {
  last?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  group?: string | undefined;
  filter?: string | undefined;
}

export const readMonitoringSearch = (search: Record<string, unknown>): MonitoringSearch => ({
  last: optionalText(search["last"]),
  from: optionalText(search["from"]),
  to: optionalText(search["to"]),
  group: optionalText(search["group"]),
  filter: optionalText(search["filter"]),
});

export const monitoringRange = (search: MonitoringSearch): TimeRange => readTimeRange(search, { last: "24h" });

/** Number of groups that a chart shows. */
const MAX_GROUPS = 8;

export function readGroup({ group }: MonitoringSearch): Group | undefined {
  if (group === undefined) return undefined;
  if (group === "name" || group === "tag" || group === "run_type") return { attribute: group, max_groups: MAX_GROUPS };
  const path = /^metadata:(.+)$/.exec(group)?.[1];
  return path === undefined ? undefined : { attribute: "metadata", path, max_groups: MAX_GROUPS };
}
