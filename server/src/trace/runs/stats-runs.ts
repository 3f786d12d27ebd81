import type { TraceDeps } from "../deps.ts";
import { findTraceParts } from "./fact-source.ts";
import { findFacets } from "./facets.ts";
import { naive } from "./run-fields.ts";
import type { RunScope } from "./run-scope.ts";
import {
  computeFeedbackStats,
  computeProjectFeedbackStats,
  computeStats,
  feedbackByKey,
  type Statistics,
  type Grouping,
  type Metric,
  METRIC_NAMES,
} from "./stats.ts";
import type { RunSelection } from "./selection.ts";
import type { Stats, StatsBody } from "./stats-schema.ts";
import { DETAIL_COLUMNS } from "./trace-totals.ts";

/** Costs, which ClickHouse returns as text and this endpoint as numbers. */
const COSTS: Metric[] = ["total_cost", "prompt_cost", "completion_cost"];

const TOKENS = METRIC_NAMES.filter((name) => name.includes("token"));

/** Returns the response of `POST /runs/stats`: statistics, or statistics by group. */
export async function statsOfRuns(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "stepMemory">,
  scope: RunScope,
  selection: RunSelection,
  body: Pick<StatsBody, "select" | "group_by" | "groups"> = {},
): Promise<Stats | Record<string, Stats>> {
  const selectedMetrics = body.select ?? [...METRIC_NAMES, "feedback_stats" as const];
  const metrics = METRIC_NAMES.filter(
    (name) =>
      selectedMetrics.includes(name) ||
      selectedMetrics.includes("all_run_stats") ||
      (selectedMetrics.includes("all_token_stats") && TOKENS.includes(name)),
  );
  const details = DETAIL_COLUMNS.filter(
    (name) =>
      selectedMetrics.includes(name) ||
      selectedMetrics.includes("all_run_stats") ||
      (selectedMetrics.includes("all_token_stats") && name.includes("token")),
  );
  const request = {
    selection,
    metrics,
    details,
    grouping: readGrouping(body),
    maxGroups: body.group_by?.max_groups ?? 1,
    groups: body.group_by ? body.groups?.flatMap((name) => name ?? []) : undefined,
  };
  const { clickhouse } = deps;
  scope = await findTraceParts(deps, scope, selection);
  const wantsFeedback = selectedMetrics.includes("feedback_stats") || selectedMetrics.includes("all_run_stats");
  // no facets by group
  const wantsFacets = selectedMetrics.includes("run_facets") && !body.group_by;
  const wantsProjectFeedback = selectedMetrics.includes("session_feedback_stats");
  const [statistics, feedback, projectFeedback, facets] = await Promise.all([
    computeStats(deps, scope, request),
    wantsFeedback ? computeFeedbackStats(clickhouse, scope, request) : undefined,
    wantsProjectFeedback ? computeProjectFeedbackStats(clickhouse, scope, selection.projects) : undefined,
    wantsFacets ? findFacets(clickhouse, scope, selection, "all") : undefined,
  ]);
  const serialize = (name: string, statistics: Statistics | undefined): Stats => {
    return {
      ...serializeStatistics(statistics ?? { run_count: 0 }),
      ...(feedback && { feedback_stats: feedbackByKey(feedback.filter((entry) => entry.group_name === name)) }),
      // feedback is on runs and projects, never on threads
      ...(selectedMetrics.includes("thread_feedback_stats") && { thread_feedback_stats: {} }),
      ...(projectFeedback && { session_feedback_stats: feedbackByKey(projectFeedback) }),
    };
  };
  if (!body.group_by)
    return { ...serialize("", statistics.get("")), ...(facets && { run_facets: facets.get("") ?? [] }) };
  return Object.fromEntries(Array.from(statistics, ([name, of]) => [name, serialize(name, of)]));
}

export function readGrouping({ group_by }: Pick<StatsBody, "group_by">): Grouping | undefined {
  if (!group_by) return undefined;
  const { attribute, path } = group_by;
  return attribute === "metadata" ? { attribute, path: path! } : { attribute };
}

/** Converts costs to numbers and times to times without a zone. */
export function serializeStatistics(statistics: Statistics): Stats {
  const entries = METRIC_NAMES.filter((name) => statistics[name] !== undefined).map((name) => {
    const value = statistics[name]!;
    if (value === null) return [name, null];
    if (name === "last_run_start_time") return [name, naive(String(value))];
    return [name, COSTS.includes(name) ? Number(value) : value];
  });
  const details = DETAIL_COLUMNS.filter((name) => statistics[name] !== undefined).map((name) => [
    name,
    Object.fromEntries(Object.entries(statistics[name]!).map(([category, value]) => [category, Number(value)])),
  ]);
  return Object.fromEntries([...entries, ...details]) as Stats;
}
