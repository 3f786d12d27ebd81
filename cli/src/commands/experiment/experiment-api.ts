import { isUuid } from "../../core/uuid.ts";
import { UsageError } from "../../core/flags.ts";
import type { TraceApi } from "../../core/trace-api.ts";
import { RejectedError } from "../../core/reach.ts";

/** Experiment that the platform executes, as far as the command reads it. */
export interface Job {
  id: string;
  name: string;
  url: string;
  dataset_id: string;
  dataset_name: string | null;
  status: "pending" | "running" | "completed" | "stopped" | "cancelled";
  reason: string | null;
  created_at: string;
  target: { type: string };
  progress: {
    total: number;
    done: number;
    failed: number;
    running: number;
    judge_failures: number;
    seconds_left: number | null;
  };
  scores: Record<string, { n: number; mean: number | null }>;
  latency_ms: { p50: number | null; p95: number | null };
  error_rate: number | null;
  cost_usd: string | null;
  judge_cost_usd: string | null;
}

export interface JobRow {
  index: number;
  example_id: string;
  repetition: number;
  run_id: string | null;
  error: string | null;
  judge_errors: { evaluator: string; error: string }[] | null;
}

type Interval = [number, number] | null;

export interface Summary {
  examples: number;
  mean: number | null;
  interval: Interval;
  delta: {
    examples: number;
    mean: number;
    interval: Interval;
    better: number;
    same: number;
    worse: number;
    verdict: "better" | "worse" | "no_clear_difference" | "too_few_examples";
  } | null;
}

export interface Compared {
  id: string;
  name: string;
  is_baseline: boolean;
  examples: number;
  runs: number;
  errors: number;
  latency_p50: number | null;
  latency_p95: number | null;
  total_tokens: number | null;
  total_cost: number | null;
  scores: Record<string, Summary>;
  metrics: Partial<Record<"latency_seconds" | "total_tokens" | "total_cost" | "error_rate", Summary>>;
}

export interface ComparedRow {
  example_id: string;
  inputs_preview: string | null;
  results: Record<
    string,
    { run_id: string; scores: Record<string, number | null>; score_deltas: Record<string, number | null> }
  >;
}

export interface Comparison {
  baseline: string;
  confidence: number;
  keys: { key: string; lower_is_better: boolean }[];
  experiments: Compared[];
  rows: ComparedRow[];
  total: number;
}

/** Project of an experiment. */
export interface Experiment {
  id: string;
  name: string;
  reference_dataset_id: string | null;
}

/** @throws UsageError for an unknown experiment */
export async function findExperiment(api: TraceApi, nameOrId: string): Promise<Experiment> {
  const by = isUuid(nameOrId) ? `id=${nameOrId}` : `name=${encodeURIComponent(nameOrId)}`;
  const [found] = await api.send<Experiment[]>("GET", `/sessions?${by}&reference_free=false`);
  if (!found?.reference_dataset_id) {
    throw new UsageError(`There is no experiment "${nameOrId}". To list them: heddle experiment list`);
  }
  return found;
}

export const readJob = (api: TraceApi, id: string): Promise<Job> => api.send<Job>("GET", `/experiments/runs/${id}`);

/** Returns undefined for an experiment that the platform does not execute. */
export async function findJob(api: TraceApi, id: string): Promise<Job | undefined> {
  try {
    return await readJob(api, id);
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) return undefined;
    throw error;
  }
}

export const listFailed = (api: TraceApi, id: string, limit: number): Promise<JobRow[]> =>
  api.send<JobRow[]>("GET", `/experiments/runs/${id}/rows?status=failed&limit=${limit}`);

/** @throws UsageError for an unknown dataset */
export async function findDataset(api: TraceApi, nameOrId: string): Promise<{ id: string; name: string }> {
  const by = isUuid(nameOrId) ? `id=${nameOrId}` : `name=${encodeURIComponent(nameOrId)}`;
  const [found] = await api.send<{ id: string; name: string }[]>("GET", `/datasets?${by}`);
  if (!found) throw new UsageError(`There is no dataset "${nameOrId}".`);
  return found;
}

/** Compares an experiment with its baseline; without one, the answer has its averages alone. */
export function compare(
  api: TraceApi,
  datasetId: string,
  { experiment, baseline, rows = 0 }: { experiment: string; baseline?: string | undefined; rows?: number },
): Promise<Comparison> {
  return api.send<Comparison>("POST", `/datasets/${datasetId}/experiments/compare`, {
    experiments: [experiment],
    baseline: baseline ?? experiment,
    include: rows > 0 ? ["summary", "rows"] : ["summary"],
    ...(rows > 0 && { limit: rows, sort: { by: "regressions" } }),
  });
}

export const setBaseline = (api: TraceApi, datasetId: string, experimentId: string): Promise<unknown> =>
  api.send("PUT", `/datasets/${datasetId}/baseline`, { experiment_id: experimentId });

/**
 * Resolves `--baseline`: `none`, `latest`, a name or an id; without it, the dataset's baseline.
 * @throws UsageError for an unknown experiment
 */
export async function findBaseline(
  api: TraceApi,
  datasetId: string,
  wanted: string | undefined,
  except?: string,
): Promise<string | undefined> {
  if (wanted === "none") return undefined;
  if (wanted === "latest") {
    const query = `reference_dataset=${datasetId}&sort_by=start_time&sort_by_desc=true&limit=10`;
    const found = await api.send<Experiment[]>("GET", `/sessions?${query}`);
    return found.find(({ id }) => id !== except)?.id;
  }
  if (wanted !== undefined) {
    const { id, name, reference_dataset_id: dataset } = await findExperiment(api, wanted);
    if (dataset !== datasetId) throw new UsageError(`The baseline "${name}" is an experiment of another dataset.`);
    return id;
  }
  const { baseline_experiment_id: own } = await api.send<{ baseline_experiment_id: string | null }>(
    "GET",
    `/datasets/${datasetId}`,
  );
  return own === null || own === except ? undefined : own;
}
