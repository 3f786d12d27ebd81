import { takeTurns } from "../../base/take-turns.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { RunScope } from "../runs/run-scope.ts";
import { CONFIDENCE, quantile } from "./bootstrap-interval.ts";
import { findBaseline } from "./baseline-sql.ts";
import { readPreviews } from "./clickhouse.ts";
import type { CompareRequest, ComparedRow, Comparison } from "./compare-schema.ts";
import { type ExperimentValues, type Measure, METRICS, readValues, type Values } from "./experiment-values.ts";
import { findLowerIsBetter, readExamplePreviews } from "./scores-sql.ts";
import { type Compared, METRIC_MEASURES, selectRows } from "./select-rows.ts";
import { summarizeDeltas } from "./summarize-deltas.ts";

/**
 * Compares experiments with a baseline: that of the request, else the dataset's if it is among them, else the first.
 *
 * @throws 404 for a dataset or an experiment that the workspace does not have, 422 for an experiment of another dataset
 */
export async function compareExperiments(
  deps: TraceDeps,
  tenantId: string,
  datasetId: string,
  request: CompareRequest,
): Promise<Comparison> {
  if (!(await findDatasetRow(deps.sql, tenantId, datasetId))) throw notFound("Dataset not found");
  const chosen = request.baseline ?? (await findBaseline(deps.sql, tenantId, datasetId));
  const requested = [...new Set(request.experiments)];
  const isAdded = request.baseline != null && !requested.includes(request.baseline);
  const ids = isAdded ? [request.baseline!, ...requested] : requested;
  const query = { datasetId, experiments: ids, keys: request.keys ?? undefined, splits: request.splits ?? undefined };
  const values = await readValues(deps, tenantId, query);
  const lower = await findLowerIsBetter(deps.sql, tenantId, values.keys);
  const baseline = values.experiments.find(({ experiment }) => experiment.id === chosen) ?? values.experiments[0];
  if (!baseline) throw unprocessable("experiments: needs at least one.");
  const compared: Compared = {
    size: values.examples.length,
    baseline,
    others: values.experiments.filter((experiment) => experiment !== baseline),
    lowerIsBetter: new Set<Measure>([...METRIC_MEASURES, ...[...lower].map((key): Measure => `score:${key}`)]),
    measures: [...values.keys.map((key): Measure => `score:${key}`), ...METRIC_MEASURES],
  };
  const places = selectRows(compared, request);
  const start = Number(request.cursor ?? 0);
  const page = places.slice(start, start + request.limit);
  const [experiments, rows] = await Promise.all([
    request.include.includes("summary") ? summarizeAll(compared, values) : [],
    request.include.includes("rows") ? readPage(deps, tenantId, datasetId, values, compared, page) : [],
  ]);
  return {
    baseline: baseline.experiment.id,
    confidence: CONFIDENCE,
    examples: values.examples.length,
    keys: values.keys.map((key) => ({ key, lower_is_better: lower.has(key) })),
    experiments,
    rows,
    total: places.length,
    next_cursor: start + page.length < places.length ? String(start + page.length) : null,
  };
}

async function summarizeAll(compared: Compared, { experiments, keys }: Values): Promise<Comparison["experiments"]> {
  const turn = takeTurns();
  const summaries: Comparison["experiments"] = [];
  for (const each of experiments) {
    const { experiment, values, latencies } = each;
    const isBaseline = each === compared.baseline;
    const summarize = async (measure: Measure) => {
      await turn();
      const before = isBaseline ? undefined : compared.baseline.values.get(measure);
      return summarizeDeltas(values.get(measure), before, compared.lowerIsBetter.has(measure));
    };
    const scores: Record<string, Awaited<ReturnType<typeof summarize>>> = {};
    for (const key of keys) scores[key] = await summarize(`score:${key}`);
    const metrics: Comparison["experiments"][number]["metrics"] = {};
    for (const name of METRICS) metrics[name] = await summarize(`metric:${name}`);
    const { id, name, start_time, metadata } = experiment;
    summaries.push({
      id,
      name,
      start_time,
      metadata,
      is_baseline: isBaseline,
      examples: each.runs.filter((count) => count > 0).length,
      runs: each.runCount,
      errors: each.failedCount,
      latency_p50: latencies.length === 0 ? null : quantile(latencies, 0.5),
      latency_p95: latencies.length === 0 ? null : quantile(latencies, 0.95),
      total_tokens: each.totalTokens,
      total_cost: each.totalCost,
      scores,
      metrics,
    });
  }
  return summaries;
}

async function readPage(
  { sql, clickhouse }: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  datasetId: string,
  { examples, experiments, keys }: Values,
  { baseline }: Compared,
  page: number[],
): Promise<ComparedRow[]> {
  const scope = RunScope.ofTenant(tenantId);
  const runs = page.flatMap((place) => experiments.flatMap(({ firstRun }) => firstRun[place] ?? []));
  const [previews, texts] = await Promise.all([
    readPreviews(
      clickhouse,
      scope,
      experiments.map(({ experiment }) => experiment.id),
      runs,
    ),
    readExamplePreviews(
      sql,
      tenantId,
      datasetId,
      page.map((place) => examples[place]!),
    ),
  ]);
  const measuresOf = (prefix: "score" | "metric", names: readonly string[], each: ExperimentValues, place: number) => {
    const pairs = names.map((name) => {
      const measure = `${prefix}:${name}` as Measure;
      const value = each.values.get(measure)?.[place] ?? NaN;
      return [name, value, value - (baseline.values.get(measure)?.[place] ?? NaN)] as const;
    });
    const known = (number: number) => (Number.isNaN(number) ? null : number);
    return {
      values: Object.fromEntries(pairs.map(([name, value]) => [name, known(value)])),
      deltas: each === baseline ? {} : Object.fromEntries(pairs.map(([name, , delta]) => [name, known(delta)])),
    };
  };
  return page.map((place) => {
    const example_id = examples[place]!;
    const text = texts.get(example_id);
    const firstPreview = experiments.flatMap(({ firstRun }) => previews.get(firstRun[place] ?? "") ?? [])[0];
    const results: ComparedRow["results"] = {};
    for (const each of experiments) {
      const run_id = each.firstRun[place];
      if (run_id === undefined) continue;
      const preview = previews.get(run_id);
      const scores = measuresOf("score", keys, each, place);
      const metrics = measuresOf("metric", METRICS, each, place);
      results[each.experiment.id] = {
        run_id,
        runs: each.runs[place]!,
        outputs_preview: preview?.outputs_preview ?? null,
        error: preview?.error ?? null,
        scores: scores.values,
        score_deltas: scores.deltas,
        metrics: metrics.values,
        metric_deltas: metrics.deltas,
      };
    }
    return {
      example_id,
      inputs_preview: text?.inputs ?? firstPreview?.inputs_preview ?? null,
      reference_preview: text?.outputs ?? null,
      results,
    };
  });
}
