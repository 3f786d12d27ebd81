import type { TraceDeps } from "../deps.ts";
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
  /** Averages over the experiments, weighted by their numbers of scores. */
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
  return [...groups.values()].map((members) => summarize(readKeys(members[0]!, query.metadata_keys), members));
}

function readKeys({ extra }: Item, keys: string[]): Record<string, unknown> {
  const metadata = (extra?.["metadata"] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(keys.map((key) => [key, Object.hasOwn(metadata, key) ? metadata[key] : null]));
}

function summarize(metadata: Record<string, unknown>, members: Item[]): ExperimentGroup {
  const number = (item: Item, name: string) => (item[name] == null ? null : Number(item[name]));
  const sum = (name: string) => members.reduce((total, item) => total + (number(item, name) ?? 0), 0);
  const runs = sum("run_count");
  const weighted = (name: string) => {
    const known = members.filter((item) => number(item, name) !== null && Number(item["run_count"]) > 0);
    const weight = known.reduce((total, item) => total + Number(item["run_count"]), 0);
    if (weight === 0) return null;
    return known.reduce((total, item) => total + number(item, name)! * Number(item["run_count"]), 0) / weight;
  };
  const scores = new Map<string, { n: number; total: number; scored: number }>();
  for (const item of members) {
    for (const [key, { n, avg }] of Object.entries(
      (item["feedback_stats"] ?? {}) as ExperimentGroup["feedback_stats"],
    )) {
      const score = scores.get(key) ?? { n: 0, total: 0, scored: 0 };
      score.n += n;
      if (avg !== null) {
        score.total += avg * n;
        score.scored += n;
      }
      scores.set(key, score);
    }
  }
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
    feedback_stats: Object.fromEntries(
      Array.from(scores, ([key, { n, total, scored }]) => [key, { n, avg: scored === 0 ? null : total / scored }]),
    ),
  };
}
