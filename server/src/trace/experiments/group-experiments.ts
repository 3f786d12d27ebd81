import { groupBy } from "../../base/group-by.ts";
import type { TraceDeps } from "../deps.ts";
import { type ScoreSum, scoreSums } from "../feedback/stats.ts";
import { listProjects } from "../projects/list-projects.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { GroupedExperimentsQuery } from "./group-schema.ts";

export interface ExperimentGroup {
  /** Value of each key; null where an experiment has none. */
  metadata: Record<string, unknown>;
  experiments: { id: string; name: string; start_time: string }[];
  experiment_count: number;
  run_count: number;
  total_tokens: number;
  total_cost: string | null;
  latency_p50: number | null;
  error_rate: number | null;
  /** Averages over the scores of all experiments. */
  feedback_stats: Record<string, { n: number; avg: number | null }>;
}

const PAGE = 100;

type Item = Awaited<ReturnType<typeof listProjects>>["items"][number];

/** Groups a dataset's newest experiments by the values of metadata keys, in the order of their newest experiments. */
export async function groupExperiments(
  deps: TraceDeps,
  tenantId: string,
  datasetId: string,
  query: GroupedExperimentsQuery,
): Promise<ExperimentGroup[]> {
  const groups = new Map<string, Item[]>();
  for (let offset = 0; offset < query.experiment_limit; offset += PAGE) {
    const limit = Math.min(PAGE, query.experiment_limit - offset);
    const { items } = await listProjects(deps, RunScope.ofTenant(tenantId), {
      reference_dataset: [datasetId],
      include_stats: true,
      name_contains: query.name_contains ?? undefined,
      dataset_version: query.dataset_version ?? undefined,
      filter: query.filter ?? undefined,
      tag_value_id: query.tag_value_id ?? undefined,
      stats_start_time: query.stats_start_time ?? undefined,
      limit,
      offset,
    });
    for (const item of items) {
      const name = JSON.stringify(readKeys(item, query.metadata_keys));
      const members = groups.get(name);
      if (members) members.push(item);
      else groups.set(name, [item]);
    }
    if (items.length < limit) break;
  }
  const ids = [...groups.values()].flat().map((item) => item.id as string);
  const sums = groupBy(await scoreSums(deps.sql, tenantId, ids), (sum) => sum.session_id);
  return Array.from(groups.values(), (members) =>
    summarize(
      readKeys(members[0]!, query.metadata_keys),
      members,
      members.flatMap((item) => sums.get(item.id as string) ?? []),
    ),
  );
}

function readKeys({ extra }: Item, keys: string[]): Record<string, unknown> {
  const metadata = (extra?.["metadata"] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(keys.map((key) => [key, Object.hasOwn(metadata, key) ? metadata[key] : null]));
}

function summarize(metadata: Record<string, unknown>, members: Item[], sums: readonly ScoreSum[]): ExperimentGroup {
  const number = (item: Item, name: string) => (item[name] == null ? null : Number(item[name]));
  const sum = (name: string) => members.reduce((total, item) => total + (number(item, name) ?? 0), 0);
  const runs = sum("run_count");
  const weighted = (name: string) => {
    const known = members.filter((item) => number(item, name) !== null && Number(item["run_count"]) > 0);
    const weight = known.reduce((total, item) => total + Number(item["run_count"]), 0);
    if (weight === 0) return null;
    return known.reduce((total, item) => total + number(item, name)! * Number(item["run_count"]), 0) / weight;
  };
  const counts = new Map<string, number>();
  for (const item of members) {
    const stats = (item["feedback_stats"] ?? {}) as ExperimentGroup["feedback_stats"];
    for (const [key, { n }] of Object.entries(stats)) counts.set(key, (counts.get(key) ?? 0) + n);
  }
  const average = (key: string): number | null => {
    const own = sums.filter((sum) => sum.key === key);
    const scored = own.reduce((all, sum) => all + sum.scored, 0);
    return scored === 0 ? null : own.reduce((all, { total }) => all + total, 0) / scored;
  };
  const hasCost = members.some((item) => item["total_cost"] != null);
  return {
    metadata,
    experiments: members.map(({ id, name, start_time }) => ({ id, name, start_time })),
    experiment_count: members.length,
    run_count: runs,
    total_tokens: sum("total_tokens"),
    total_cost: hasCost ? String(Number(sum("total_cost").toPrecision(12))) : null,
    latency_p50: weighted("latency_p50"),
    error_rate: weighted("error_rate"),
    feedback_stats: Object.fromEntries(Array.from(counts, ([key, n]) => [key, { n, avg: average(key) }])),
  };
}
