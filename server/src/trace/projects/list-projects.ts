import type { TraceDeps } from "../deps.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { projectStats } from "./project-stats.ts";
import type { ListQuery } from "./schema.ts";
import * as rows from "./sql.ts";

/** Maximum number of projects sorted by statistics over their runs; beyond it only the newest are included. */
const MAX_SORTED = 2000;

/** Metrics by sort key, for keys that are statistics over runs. */
const STATISTICS: Partial<Record<NonNullable<ListQuery["sort_by"]>, string>> = {
  last_run_start_time: "last_run_start_time",
  latency_p50: "latency_p50",
  latency_p99: "latency_p99",
  error_rate: "error_rate",
  runs_count: "run_count",
};

type Item = rows.Project & Record<string, unknown>;

export async function listProjects(
  deps: TraceDeps,
  scope: RunScope,
  query: Partial<ListQuery> & Pick<ListQuery, "limit" | "offset">,
): Promise<{ items: Item[]; total: number }> {
  const { tenantId } = scope;
  // a new workspace gets its default project, since clients read their workspace's id from the first item
  if (!(await rows.hasProjects(deps.sql, tenantId))) await deps.projects.ensureProject(tenantId);
  const descending = query.sort_by_desc ?? true;
  const { sort_by = "start_time" } = query;
  if (sort_by === "name" || sort_by === "start_time") {
    const page = await rows.listProjects(deps.sql, tenantId, { ...query, sort_by, descending });
    if (!query.include_stats && !query.facets) return { items: page.projects.map(plain), total: page.total };
    const stats = await projectStats(deps, scope, ids(page.projects), query);
    return {
      items: page.projects.map((project) => ({ ...plain(project), ...stats.get(project.id) })),
      total: page.total,
    };
  }
  const all = { ...query, sort_by: "start_time", descending: true, limit: MAX_SORTED, offset: 0 } as const;
  const { projects, total } = await rows.listProjects(deps.sql, tenantId, all);
  if (sort_by === "last_run_start_time" && !query.stats_filter && query.stats_start_time === undefined) {
    return { items: await listByLastRun(deps, scope, projects, { ...query, descending }), total };
  }
  const stats = await projectStats(deps, scope, ids(projects), {
    ...query,
    // without statistics in the response, only the statistic that is sorted by is computed
    stats_select: query.include_stats ? undefined : [STATISTICS[sort_by] ?? "feedback_stats"],
    facets: undefined,
  });
  const statistic = (item: Item): unknown => {
    if (sort_by !== "feedback") return item[STATISTICS[sort_by]!];
    const feedback = item["feedback_stats"] as Record<string, { avg: number | null }> | undefined;
    return feedback?.[query.sort_by_feedback_key ?? ""]?.avg;
  };
  const items = projects
    .map((project): Item => ({ ...plain(project), ...stats.get(project.id) }))
    .toSorted((a, b) => compare(statistic(a), statistic(b), descending))
    .slice(query.offset, query.offset + query.limit);
  if (query.facets) {
    const page = items.map((item) => item.id);
    const facets = await projectStats(deps, scope, page, { ...query, stats_select: [] });
    return { items: items.map((item) => ({ ...item, ...facets.get(item.id) })), total };
  }
  if (query.include_stats) return { items, total };
  const byId = new Map(projects.map((project) => [project.id, project]));
  return { items: items.map((item) => plain(byId.get(item.id)!)), total };
}

const DAY_MS = 86_400_000;
/** Times before now in which last runs are sought, before all runs are read. */
const WINDOWS_MS = [DAY_MS, 30 * DAY_MS];

/**
 * Returns a page of projects by their last runs. Reads backwards in time until the page is full, so that a list of the
 * newest projects does not read the runs of a year, and reads statistics for the page only.
 */
async function listByLastRun(
  deps: TraceDeps,
  scope: RunScope,
  projects: rows.Project[],
  query: Parameters<typeof listProjects>[2] & { descending: boolean },
): Promise<Item[]> {
  const { offset, limit, descending } = query;
  const last = new Map<string, unknown>();
  const now = Date.now();
  for (const since of [...WINDOWS_MS.map((ms) => new Date(now - ms).toISOString()), undefined]) {
    const rest = ids(projects).filter((id) => !last.has(id));
    if (rest.length === 0 || (descending && last.size >= offset + limit)) break;
    const request = { stats_start_time: since, stats_select: ["last_run_start_time"] };
    for (const [id, { last_run_start_time: at }] of await projectStats(deps, scope, rest, request)) {
      if (at !== null) last.set(id, at);
    }
  }
  const page = projects
    .toSorted((a, b) => compare(last.get(a.id), last.get(b.id), descending))
    .slice(offset, offset + limit);
  if (!query.include_stats && !query.facets) return page.map(plain);
  const request = query.include_stats ? query : { ...query, stats_select: [] };
  const stats = await projectStats(deps, scope, ids(page), request);
  return page.map((project) => ({ ...plain(project), ...stats.get(project.id) }));
}

const ids = (projects: rows.Project[]): string[] => projects.map((project) => project.id);

/** Adds the live time of the last run, which is null unless statistics are requested. */
export const plain = (project: rows.Project): Item => ({ ...project, last_run_start_time_live: null });

/** Compares statistics. Projects without the statistic come last in either direction. */
function compare(a: unknown, b: unknown, descending: boolean): number {
  if (a == null || b == null) return a == null ? (b == null ? 0 : 1) : -1;
  const order = a === b ? 0 : (a as number) < (b as number) ? -1 : 1;
  return descending ? -order : order;
}
