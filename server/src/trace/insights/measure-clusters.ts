/** Statistics of clusters, extrapolated from the sample to all runs, and the comparison with the previous job. */
import type { TraceDeps } from "../deps.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { measureTraces, readScores, type ScoreRow } from "./clickhouse.ts";
import { type ClusterRow, type ClusterStats, listClusters, setStats } from "./cluster-sql.ts";
import { type ClaimedJob, fence, setReport, setStage } from "./queue-sql.ts";
import { type ClusteredRun, countRead, listClustered, listExamples } from "./run-sql.ts";
import { writeReport } from "./write-report.ts";

const BATCH = 1000;
const CENTRAL = 5;

/** Sums over the runs of a cluster; weighted ones are estimates for all runs. */
interface Sums {
  weight: number;
  failedWeight: number;
  costWeight: number;
  cost: number;
  latencies: number[];
  feedback: Map<string, { n: number; sum: number }>;
}

export async function measureClusters(
  deps: TraceDeps,
  job: ClaimedJob,
  scope: RunScope,
  advances: boolean,
): Promise<void> {
  const clusters = await listClusters(deps.sql, job.tenant_id, job.id);
  const sums = new Map<string, Sums>(clusters.map(({ id }) => [id, emptySums()]));
  for (let after = -1; ;) {
    const runs = await listClustered(deps.sql, job, after, BATCH);
    if (runs.length > 0) await addRuns(deps, scope, runs, sums);
    if (runs.length < BATCH) break;
    after = runs.at(-1)!.place;
  }
  // children come after their parents
  for (const { id, parent_id } of clusters.toReversed())
    if (parent_id !== null) addSums(sums.get(parent_id)!, sums.get(id)!);
  // of a job that stopped, only the first part of the sample was read
  const { read } = await countRead(deps.sql, job);
  const scale = read === 0 ? 1 : (job.sampled ?? read) / read;
  const population = job.population ?? 0;
  const measured: { cluster: ClusterRow; stats: ClusterStats }[] = [];
  for (const cluster of clusters) {
    const ids = leavesBelow(cluster, clusters);
    const central = await listExamples(deps.sql, job, ids, true, CENTRAL);
    const stats = toStats(sums.get(cluster.id)!, scale, population);
    const central_run_ids = central.map(({ run_id }) => run_id);
    measured.push({ cluster, stats: { ...cluster.stats, ...stats, central_run_ids } });
  }
  const report = writeReport(job, measured);
  await deps.sql.begin(async (tx) => {
    await fence(tx, job);
    await setStats(
      tx,
      job,
      measured.map(({ cluster, stats }) => ({ id: cluster.id, stats })),
    );
    await setReport(tx, job, report);
    if (advances) await setStage(tx, job, "done");
  });
}

const emptySums = (): Sums => ({
  weight: 0,
  failedWeight: 0,
  costWeight: 0,
  cost: 0,
  latencies: [],
  feedback: new Map(),
});

async function addRuns(deps: TraceDeps, scope: RunScope, runs: ClusteredRun[], sums: Map<string, Sums>): Promise<void> {
  const traces = new Map((await measureTraces(deps.clickhouse, scope, runs)).map((row) => [row.trace, row]));
  const scores = new Map<string, ScoreRow[]>();
  for (const row of await readScores(deps.clickhouse, scope, [...traces.keys()])) {
    scores.set(row.trace, [...(scores.get(row.trace) ?? []), row]);
  }
  for (const { trace_id, cluster_id, weight, failed } of runs) {
    const into = sums.get(cluster_id);
    if (!into) continue;
    const trace = traces.get(trace_id);
    into.weight += weight;
    if (failed) into.failedWeight += weight;
    if (trace?.latency != null) into.latencies.push(trace.latency);
    if (trace?.cost != null) {
      into.costWeight += weight;
      into.cost += weight * Number(trace.cost);
    }
    for (const { key, n, avg } of scores.get(trace_id) ?? []) addScore(into, key, Number(n), avg);
  }
}

function addScore({ feedback }: Sums, key: string, n: number, avg: number): void {
  const { n: count, sum } = feedback.get(key) ?? { n: 0, sum: 0 };
  feedback.set(key, { n: count + n, sum: sum + n * avg });
}

function addSums(into: Sums, from: Sums): void {
  into.weight += from.weight;
  into.failedWeight += from.failedWeight;
  into.costWeight += from.costWeight;
  into.cost += from.cost;
  for (const latency of from.latencies) into.latencies.push(latency);
  for (const [key, { n, sum }] of from.feedback) addScore(into, key, n, sum / n);
}

function toStats(sums: Sums, scale: number, population: number): ClusterStats {
  const { weight, failedWeight, cost, costWeight, latencies, feedback } = sums;
  const sorted = latencies.toSorted((a, b) => a - b);
  const estimated = weight * scale;
  return {
    share: population === 0 ? 0 : round(estimated / population),
    estimated_runs: Math.round(estimated),
    error_rate: weight === 0 ? null : round(failedWeight / weight),
    latency_p50: sorted.length === 0 ? null : round(sorted[Math.floor((sorted.length - 1) / 2)]!),
    mean_cost: costWeight === 0 ? null : cost / costWeight,
    estimated_cost: costWeight === 0 ? null : cost * scale,
    feedback: Object.fromEntries([...feedback].map(([key, { n, sum }]) => [key, { n, avg: round(sum / n) }])),
  };
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;

function leavesBelow(cluster: ClusterRow, clusters: readonly ClusterRow[]): string[] {
  if (cluster.is_leaf) return [cluster.id];
  return clusters.filter(({ parent_id }) => parent_id === cluster.id).flatMap((child) => leavesBelow(child, clusters));
}
