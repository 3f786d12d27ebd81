/** Examples of experiments grouped by a metadata value of their runs or of the examples themselves. */
import { bind, ch } from "../../base/clickhouse/fragment.ts";
import type { TraceDeps } from "../deps.ts";
import type { Expression } from "../filter/expression.ts";
import { readFilter } from "../filter/read-filter.ts";
import { loadScope } from "../runs/load-scope.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import { fromRuns, type RunSelection } from "../runs/selection.ts";
import {
  computeFeedbackStats,
  computeStats,
  feedbackByKey,
  groupColumn,
  type Metric,
  type Statistics,
} from "../runs/stats.ts";
import { naive } from "../runs/run-fields.ts";
import { examplesPassing } from "./experiment-runs.ts";
import type { GroupQuery } from "./group-schema.ts";
import { groupExamplesByMetadata } from "./group-sql.ts";

export interface ExampleGroup {
  key: string | number;
  /** Filter expression that selects the group's runs. */
  filter: string;
  /** Conditions on the group's runs beyond their example. */
  runs: Expression[];
  /** Examples that every experiment has in this group. */
  examples: string[];
}

/** Returns a page of groups, those with the most examples first. */
export async function groupExamples(
  deps: TraceDeps,
  tenantId: string,
  datasetId: string,
  query: GroupQuery,
): Promise<ExampleGroup[]> {
  const { metadata_key: key, session_ids: projects } = query;
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId));
  const passing = query.filters ? await examplesPassing(deps, scope, query.filters) : undefined;
  const isRunMetadata = query.group_by === "run_metadata";
  const grouping = isRunMetadata ? ({ attribute: "metadata", path: key } as const) : undefined;
  const statement = ch`
    select ${groupColumn(grouping)} as value, toString(r.project_id) as project,
      groupUniqArray(toString(assumeNotNull(r.reference_example_id))) as examples
    ${fromRuns(scope, { projects, is_root: true, has_example: true })}
    group by value, project order by value limit ${bind("UInt32", MAX_GROUPS)}`;
  type Found = { value: string; project: string; examples: string[] };
  const found = await readRows<Found>(deps.clickhouse.forTenant(tenantId), "experiments.groups", statement);
  const inAll = (value: string): string[] => {
    const lists = projects.map((id) => found.find((row) => row.value === value && row.project === id)?.examples ?? []);
    const others = lists.slice(1).map((list) => new Set(list));
    return lists[0]!.filter((id) => others.every((list) => list.has(id)) && (passing?.has(id) ?? true)).toSorted();
  };
  const groups = isRunMetadata
    ? [...new Set(found.map((row) => row.value))].map((value) => {
        const filter = `and(eq(is_root, true), and(eq(metadata_key, ${quote(key)}), eq(metadata_value, ${quote(value)})))`;
        return { key: value, filter, runs: [readFilter(filter)], examples: inAll(value) };
      })
    : groupByExample(await groupExamplesByMetadata(deps.sql, tenantId, datasetId, key), new Set(inAll("")));
  return groups
    .filter(({ examples }) => examples.length > 0)
    .toSorted((a, b) => b.examples.length - a.examples.length || (String(a.key) < String(b.key) ? -1 : 1))
    .slice(query.offset, query.offset + query.limit);
}

const MAX_GROUPS = 10_000;
/** Examples in a filter expression. */
const MAX_IN_FILTER = 1000;

const quote = (text: string): string => JSON.stringify(text);

function groupByExample(
  found: { value: string | number; examples: string[] }[],
  all: ReadonlySet<string>,
): ExampleGroup[] {
  return found.map(({ value, examples }) => {
    const shared = examples.filter((id) => all.has(id)).toSorted();
    const ids = shared.slice(0, MAX_IN_FILTER).map(quote).join(", ");
    return {
      key: value,
      filter: `and(eq(is_root, true), in(reference_example_id, [${ids}]))`,
      runs: [],
      examples: shared,
    };
  });
}

const METRICS = [
  "run_count",
  "latency_p50",
  "latency_p99",
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "total_cost",
  "prompt_cost",
  "completion_cost",
  "error_rate",
] as const satisfies Metric[];

export interface GroupStatistics {
  /** Of all experiments together. */
  all: Record<string, unknown>;
  byProject: Map<string, Record<string, unknown>>;
}

/** Computes the statistics of a group's runs. */
export async function groupStatistics(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "stepMemory">,
  scope: RunScope,
  projects: string[],
  group: ExampleGroup,
): Promise<GroupStatistics> {
  const { clickhouse } = deps;
  const { examples: reference_examples, runs: filters } = group;
  const selection: RunSelection = { projects, is_root: true, reference_examples, filters };
  const byProject = { attribute: "project" } as const;
  const [all, each, feedback, feedbackOfEach, times] = await Promise.all([
    computeStats(deps, scope, { selection, metrics: METRICS }),
    computeStats(deps, scope, { selection, metrics: METRICS, grouping: byProject, maxGroups: projects.length }),
    computeFeedbackStats(clickhouse, scope, { selection, grouping: undefined, groups: undefined }),
    computeFeedbackStats(clickhouse, scope, { selection, grouping: byProject, groups: undefined }),
    readTimes(clickhouse, scope, selection),
  ]);
  const statsOf = (
    statistics: Statistics | undefined,
    found: typeof feedback,
    bounds: { first: string; last: string } | undefined,
  ) => ({
    ...Object.fromEntries(METRICS.map((name) => [name, statistics?.[name] ?? null])),
    run_count: Number(statistics?.run_count ?? 0),
    feedback_stats: feedbackByKey(found),
    min_start_time: bounds ? naive(bounds.first) : null,
    max_start_time: bounds ? naive(bounds.last) : null,
    filter: group.filter,
    example_count: group.examples.length,
  });
  const first = times.map((row) => row.first).toSorted()[0];
  const last = times
    .map((row) => row.last)
    .toSorted()
    .at(-1);
  return {
    all: statsOf(all.get(""), feedback, first && last ? { first, last } : undefined),
    byProject: new Map(
      projects.map((id) => {
        const own = feedbackOfEach.filter((entry) => entry.group_name === id);
        return [
          id,
          statsOf(
            each.get(id),
            own,
            times.find((row) => row.project === id),
          ),
        ];
      }),
    ),
  };
}

const readTimes = (clickhouse: TraceDeps["clickhouse"], scope: RunScope, selection: RunSelection) =>
  readRows<{ project: string; first: string; last: string }>(
    clickhouse.forTenant(scope.tenantId),
    "experiments.group_times",
    ch`select toString(r.project_id) as project, min(r.start_time) as first, max(r.start_time) as last
      ${fromRuns(scope, selection)} group by project`,
  );
