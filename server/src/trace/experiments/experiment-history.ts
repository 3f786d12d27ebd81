import type { TraceDeps } from "../deps.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { computeStats, type Metric } from "../runs/stats.ts";
import { findBaseline } from "./baseline-sql.ts";
import { intervalFromMoments } from "./bootstrap-interval.ts";
import { readScoreMoments } from "./clickhouse.ts";
import { findComparativeFeedback, findLowerIsBetter, listExperimentRows } from "./scores-sql.ts";

const METRICS = [
  "run_count",
  "error_rate",
  "latency_p50",
  "latency_p95",
  "total_tokens",
  "total_cost",
] as const satisfies Metric[];

/** Returns the newest experiments of a dataset with averages and intervals of their scores, oldest first. */
export async function experimentHistory(
  deps: TraceDeps,
  tenantId: string,
  datasetId: string,
  { key, limit, before }: { key?: string[] | undefined; limit: number; before?: string | undefined },
) {
  const { sql, clickhouse } = deps;
  const rows = await listExperimentRows(sql, tenantId, datasetId, limit, before);
  const ids = rows.map((row) => row.id);
  const baseline = (await findBaseline(sql, tenantId, datasetId)) ?? null;
  if (ids.length === 0) return { baseline_experiment_id: baseline, keys: [], experiments: [] };
  const scope = await loadScope(deps, RunScope.ofTenant(tenantId));
  const excluded = await findComparativeFeedback(sql, tenantId, ids);
  const [moments, statistics] = await Promise.all([
    readScoreMoments(clickhouse, scope, ids, key, excluded),
    computeStats(deps, scope, {
      selection: { projects: ids, is_head: true },
      metrics: METRICS,
      grouping: { attribute: "project" },
      maxGroups: ids.length,
    }),
  ]);
  const keys = [...new Set(moments.map((row) => row.key))];
  const lower = await findLowerIsBetter(sql, tenantId, keys);
  const number = (value: number | string | null | undefined) => (value == null ? null : Number(value));
  return {
    baseline_experiment_id: baseline,
    keys: keys.map((name) => ({ key: name, lower_is_better: lower.has(name) })),
    experiments: rows.map(({ id, name, start_time, metadata }) => {
      const found = statistics.get(id) ?? {};
      const scores = moments.filter(({ project }) => project === id);
      return {
        id,
        name,
        start_time,
        metadata,
        runs: Number(found.run_count ?? 0),
        error_rate: number(found.error_rate),
        latency_p50: number(found.latency_p50),
        latency_p95: number(found.latency_p95),
        total_tokens: number(found.total_tokens),
        total_cost: number(found.total_cost),
        scores: Object.fromEntries(
          scores.map((score) => {
            const { n, mean, variance, skew, min, max } = score;
            const third = (skew ?? 0) * variance ** 1.5;
            const interval = intervalFromMoments({ n: Number(n), mean, variance, third, min, max });
            return [score.key, { examples: Number(n), mean, interval }];
          }),
        ),
      };
    }),
  };
}
