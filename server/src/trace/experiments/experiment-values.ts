import { notFound, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { readRunColumns } from "./clickhouse.ts";
import { type ExperimentRow, findExamplesInSplits, findExperimentRows, readScores } from "./scores-sql.ts";

/** Numbers of a run beside its scores. For all of them, less is better. */
export const METRICS = ["latency_seconds", "total_tokens", "total_cost", "error_rate"] as const;
export type MetricName = (typeof METRICS)[number];

/** What is compared: a score by its key, or a metric. */
export type Measure = `score:${string}` | `metric:${MetricName}`;

/** An experiment's numbers by example. Absent values are NaN. */
export interface ExperimentValues {
  experiment: ExperimentRow;
  /** Number of runs by example; 0: none. */
  runs: Uint32Array;
  /** The first run of each example. */
  firstRun: (string | undefined)[];
  /** Averages over all scores of an example, of all its runs. */
  values: Map<Measure, Float64Array>;
  /** Latencies of all runs, sorted. */
  latencies: Float64Array;
  runCount: number;
  failedCount: number;
  totalTokens: number | null;
  totalCost: number | null;
}

export interface Values {
  /** Ids of the examples with a run in any of the experiments, sorted. */
  examples: string[];
  /** In the order of the request. */
  experiments: ExperimentValues[];
  keys: string[];
}

export interface ValuesQuery {
  datasetId: string;
  experiments: string[];
  keys?: string[] | undefined;
  splits?: string[] | undefined;
  /** Scores of this comparison instead of those outside of comparisons. */
  comparison?: string | null | undefined;
  /** Restricts the result to these examples. */
  only?: ReadonlySet<string> | undefined;
}

/**
 * Reads the numbers of experiments by example, and no texts.
 *
 * @throws 404 for an experiment that is not in the workspace, 422 for one of another dataset
 */
export async function readValues(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "settings" | "projects">,
  tenantId: string,
  query: ValuesQuery,
): Promise<Values> {
  const rows = await checkExperiments(deps, tenantId, query.datasetId, query.experiments);
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId));
  const [columns, scores, inSplits] = await Promise.all([
    readRunColumns(deps.clickhouse, scope, query.experiments),
    readScores(deps.sql, tenantId, query.experiments, query.keys, query.comparison),
    query.splits ? findExamplesInSplits(deps.sql, tenantId, query.datasetId, query.splits) : undefined,
  ]);
  const isIncluded = (id: string) => (inSplits?.has(id) ?? true) && (query.only?.has(id) ?? true);
  const examples = [...new Set(columns.flatMap((column) => column.examples))].filter(isIncluded).toSorted();
  const places = new Map(examples.map((id, place) => [id, place]));
  const keys = [...new Set(scores.map(({ key }) => key))].toSorted();
  const experiments = rows.map((experiment) => {
    const column = columns.find(({ project }) => project === experiment.id);
    const placeOfRun = new Map<string, number>();
    column?.runs.forEach((run, i) => {
      const place = places.get(column.examples[i]!);
      if (place !== undefined) placeOfRun.set(run, place);
    });
    const values = new Map<Measure, Float64Array>();
    for (const { project, key, runs, scores: found } of scores) {
      if (project !== experiment.id) continue;
      values.set(`score:${key}`, averageByPlace(runs, found, placeOfRun, examples.length));
    }
    if (!column) return emptyValues(experiment, examples.length);
    const metric = (numbers: (number | null)[]) => averageByPlace(column.runs, numbers, placeOfRun, examples.length);
    values.set("metric:latency_seconds", metric(column.latencies));
    values.set("metric:total_tokens", metric(column.tokens));
    values.set("metric:total_cost", metric(column.costs));
    values.set("metric:error_rate", metric(column.failed));
    const runs = new Uint32Array(examples.length);
    const firstRun = Array.from<string | undefined>({ length: examples.length });
    const counted = column.runs.flatMap((run, i) => (placeOfRun.has(run) ? [i] : []));
    for (const i of counted) {
      const place = placeOfRun.get(column.runs[i]!)!;
      runs[place]!++;
      if (firstRun[place] === undefined || column.runs[i]! < firstRun[place]) firstRun[place] = column.runs[i]!;
    }
    const latencies = Float64Array.from(counted.flatMap((i) => column.latencies[i] ?? [])).toSorted();
    return {
      experiment,
      runs,
      firstRun,
      values,
      latencies,
      runCount: counted.length,
      failedCount: counted.reduce((sum, i) => sum + column.failed[i]!, 0),
      totalTokens: sumOf(counted.flatMap((i) => column.tokens[i] ?? [])),
      totalCost: sumOf(counted.flatMap((i) => column.costs[i] ?? [])),
    };
  });
  return { examples, experiments, keys };
}

/** @throws 404, 422 */
export async function checkExperiments(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  datasetId: string,
  ids: string[],
): Promise<ExperimentRow[]> {
  const found = new Map((await findExperimentRows(sql, tenantId, ids)).map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = found.get(id);
    if (!row) throw notFound(`Experiment ${id} not found`);
    if (row.dataset !== datasetId) throw unprocessable(`Experiment ${id} did not run on dataset ${datasetId}.`);
    return row;
  });
}

/** Averages by example; NaN without a value. */
function averageByPlace(
  runs: string[],
  numbers: (number | null)[],
  placeOfRun: Map<string, number>,
  size: number,
): Float64Array {
  const sums = new Float64Array(size);
  const counts = new Uint32Array(size);
  for (let i = 0; i < runs.length; i++) {
    const place = placeOfRun.get(runs[i]!);
    const number = numbers[i];
    if (place === undefined || number == null) continue;
    sums[place]! += number;
    counts[place]!++;
  }
  for (let place = 0; place < size; place++) sums[place] = counts[place]! === 0 ? NaN : sums[place]! / counts[place]!;
  return sums;
}

const emptyValues = (experiment: ExperimentRow, size: number): ExperimentValues => ({
  experiment,
  runs: new Uint32Array(size),
  firstRun: Array.from({ length: size }),
  values: new Map(),
  latencies: new Float64Array(),
  runCount: 0,
  failedCount: 0,
  totalTokens: null,
  totalCost: null,
});

const sumOf = (numbers: number[]): number | null =>
  numbers.length === 0 ? null : numbers.reduce((sum, number) => sum + number);
