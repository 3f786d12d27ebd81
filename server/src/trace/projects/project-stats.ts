import { groupBy } from "../../base/group-by.ts";
import type { TraceDeps } from "../deps.ts";
import type { Expression } from "../filter/expression.ts";
import { parseTime } from "../run-rows/times.ts";
import { readFilter } from "../filter/read-filter.ts";
import { feedbackStats } from "../feedback/stats.ts";
import { findFacets } from "../runs/facets.ts";
import { findTraceParts } from "../runs/fact-source.ts";
import { loadScope } from "../runs/load-scope.ts";
import { limited } from "../runs/limited.ts";
import { naive } from "../runs/run-fields.ts";
import type { RunScope } from "../runs/run-scope.ts";
import type { RunSelection } from "../runs/selection.ts";
import { computeFeedbackStats, computeStats, feedbackByKey, type Metric, METRIC_NAMES } from "../runs/stats.ts";

/** Statistics to compute, and over which runs. */
export interface ProjectStatsRequest {
  stats_start_time?: string | undefined;
  stats_filter?: string | undefined;
  stats_select?: string[] | undefined;
  /** Whether to return facets of the runs. */
  facets?: boolean | undefined;
}

const METRICS = [
  "run_count",
  "latency_p50",
  "latency_p99",
  "first_token_p50",
  "first_token_p99",
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "total_cost",
  "prompt_cost",
  "completion_cost",
  "last_run_start_time",
  "error_rate",
  "streaming_rate",
] as const satisfies Metric[];

/** Counts that are zero, not unknown, where there are no runs. */
const COUNTS = ["run_count", "total_tokens", "prompt_tokens", "completion_tokens"];

/** Returns statistics over the traces of each project, as in TracerSession. */
export async function projectStats(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "projects" | "stepMemory">,
  scope: RunScope,
  ids: string[],
  { stats_start_time, stats_filter, stats_select, facets: wantsFacets }: ProjectStatsRequest,
): Promise<Map<string, Record<string, unknown>>> {
  if (ids.length === 0) return new Map();
  const wants = (name: string) => !stats_select || stats_select.includes(name);
  const metrics = METRIC_NAMES.filter((name) => (METRICS as readonly string[]).includes(name) && wants(name));
  const filters: Expression[] = stats_filter ? [readFilter(stats_filter)] : [];
  const since = stats_start_time === undefined ? undefined : parseTime(stats_start_time);
  const selection = limited({ projects: ids, is_head: true, since, filters });
  const known = await loadScope(deps, scope, selection);
  // of all runs of these traces
  const isBounded = since !== undefined || filters.length > 0;
  const counted = { projects: ids, since, ...(filters[0] && { trace_filter: filters[0] }) };
  const [statistics, feedback, ownFeedback, facets] = await Promise.all([
    computeStats(deps, known, {
      selection,
      metrics,
      grouping: { attribute: "project" },
      maxGroups: ids.length,
    }),
    wants("feedback_stats")
      ? isBounded
        ? feedbackWithin(deps, known, counted)
        : feedbackStats(deps.sql, scope.tenantId, "projects", ids)
      : undefined,
    wants("session_feedback_stats") ? feedbackStats(deps.sql, scope.tenantId, "project_level", ids) : undefined,
    wantsFacets ? findFacets(deps.clickhouse, known, selection, "project") : undefined,
  ]);
  return new Map(
    ids.map((id) => {
      const found = statistics.get(id) ?? {};
      const entries = metrics.map((name) => {
        const value = found[name] ?? (COUNTS.includes(name) ? 0 : null);
        return [name, name === "last_run_start_time" && value !== null ? naive(String(value)) : value];
      });
      return [
        id,
        {
          ...(Object.fromEntries(entries) as Record<string, unknown>),
          ...(feedback && { feedback_stats: feedback.get(id) ?? {} }),
          ...(facets && { run_facets: facets.get(id) ?? [] }),
          ...(ownFeedback && { session_feedback_stats: ownFeedback.get(id) ?? {} }),
        },
      ];
    }),
  );
}

/** Computes statistics of the feedback on these runs, by project; without comments. */
async function feedbackWithin(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings">,
  scope: RunScope,
  selection: RunSelection,
): Promise<Map<string, object>> {
  const parts = await findTraceParts(deps, scope, selection);
  const found = await computeFeedbackStats(deps.clickhouse, parts, { selection, grouping: { attribute: "project" } });
  return new Map(
    Array.from(
      groupBy(found, (entry) => entry.group_name),
      ([id, entries]) => [id, feedbackByKey(entries)],
    ),
  );
}
