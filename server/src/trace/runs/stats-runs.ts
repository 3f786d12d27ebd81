import type { TraceDeps } from "../deps.ts";
import { findFacets } from "./facets.ts";
import { naive } from "./run-fields.ts";
import type { RunScope } from "./run-scope.ts";
import { computeFeedbackStats, computeStats, type Figures, type Grouping, type Metric, METRIC_NAMES } from "./stats.ts";
import type { RunSelection } from "./selection.ts";
import type { Stats, StatsBody } from "./stats-schema.ts";

/** Costs, which ClickHouse returns as text and this endpoint as numbers. */
const COSTS: Metric[] = ["total_cost", "prompt_cost", "completion_cost"];

const TOKENS = METRIC_NAMES.filter((name) => name.includes("token"));

/** Returns the response of `POST /runs/stats`: figures, or figures by group. */
export async function statsOfRuns(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
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
  const request = {
    selection,
    metrics,
    grouping: readGrouping(body),
    maxGroups: body.group_by?.max_groups ?? 1,
    groups: body.group_by ? body.groups?.flatMap((name) => name ?? []) : undefined,
  };
  const wantsFeedback = selectedMetrics.includes("feedback_stats") || selectedMetrics.includes("all_run_stats");
  // no facets by group
  const wantsFacets = selectedMetrics.includes("run_facets") && !body.group_by;
  const [figures, feedback, facets] = await Promise.all([
    computeStats(clickhouse, scope, request),
    wantsFeedback ? computeFeedbackStats(clickhouse, scope, request) : undefined,
    wantsFacets ? findFacets(clickhouse, scope, selection, "all") : undefined,
  ]);
  const serialize = (name: string, figures: Figures | undefined): Stats => {
    const printed = serializeFigures(figures ?? { run_count: 0 });
    if (!feedback) return printed;
    const keys = feedback.filter((entry) => entry.group_name === name);
    return {
      ...printed,
      feedback_stats: Object.fromEntries(
        keys.map(({ group_name: _group, feedback_key, ...stats }) => [feedback_key, { ...stats, comments: [] }]),
      ),
    };
  };
  if (!body.group_by) return { ...serialize("", figures.get("")), ...(facets && { run_facets: facets.get("") ?? [] }) };
  return Object.fromEntries(Array.from(figures, ([name, of]) => [name, serialize(name, of)]));
}

export function readGrouping({ group_by }: Pick<StatsBody, "group_by">): Grouping | undefined {
  if (!group_by) return undefined;
  const { attribute, path } = group_by;
  return attribute === "metadata" ? { attribute, path: path! } : { attribute };
}

/** Converts costs to numbers and times to times without a zone. */
export function serializeFigures(figures: Figures): Stats {
  const entries = METRIC_NAMES.filter((name) => figures[name] !== undefined).map((name) => {
    const value = figures[name]!;
    if (value === null) return [name, null];
    if (name === "last_run_start_time") return [name, naive(String(value))];
    return [name, COSTS.includes(name) ? Number(value) : value];
  });
  return Object.fromEntries(entries) as Stats;
}
