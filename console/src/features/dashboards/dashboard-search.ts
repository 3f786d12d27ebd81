import { type MonitoringSearch, readMonitoringSearch } from "../monitoring/monitoring-search.ts";
import type { GroupBy, Owner } from "./queries.ts";

/** Search parameters of a dashboard, which make its address a link that others of the workspace can open. */
export interface DashboardSearch extends MonitoringSearch {
  /** Absent: the workspace. */
  of?: Owner | undefined;
}

export const readDashboardSearch = (search: Record<string, unknown>): DashboardSearch => ({
  ...readMonitoringSearch(search),
  of: search["of"] === "organization" ? "organization" : undefined,
});

const GROUPINGS = [
  "name",
  "run_type",
  "tag",
  "model",
  "prompt_commit",
  "revision",
  "graph",
  "assistant",
  "status",
  "project",
  "metadata",
  "feedback",
] as const;

/** Reads a grouping such as `metadata:plan`. */
export function readGrouping(text: string | undefined): GroupBy | undefined {
  const [, attribute, path] = /^(\w+)(?::(.+))?$/s.exec(text ?? "") ?? [];
  const known = GROUPINGS.find((name) => name === attribute);
  if (known === undefined) return undefined;
  if (known === "metadata" || known === "feedback") return path ? { attribute: known, path, max_groups: 6 } : undefined;
  return { attribute: known, max_groups: 6 };
}

export const printGrouping = (by: { attribute: string; path?: string | null | undefined } | null | undefined): string =>
  by == null ? "" : by.path ? `${by.attribute}:${by.path}` : by.attribute;
