import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { StopJob } from "./budget.ts";
import { clusterInThread } from "./cluster-in-thread.ts";
import { cosine, type Tree } from "./cluster-vectors.ts";
import { deleteClusters, insertClusters, listPrevious, type NewCluster, type PreviousCluster } from "./cluster-sql.ts";
import { batches } from "./embed-runs.ts";
import { keyTerms } from "./key-terms.ts";
import { MAX_NAME } from "./prompts.ts";
import { type ClaimedJob, fence, setStage } from "./queue-sql.ts";
import { readRunTexts } from "./read-run-texts.ts";
import { assignRuns, listEmbeddings, listExamples } from "./run-sql.ts";
import { tidy } from "./text-of-run.ts";
import { type Matrix, matrix, pick } from "./vectors.ts";

const BATCH = 500;
/** Runs of a cluster that give it its first name. */
const TYPICAL = 20;
/** Cosine of two centers above which they are the same kind. */
const SAME = 0.8;

/** Clusters the vectors that the job has, and stores the tree and each run's cluster. Replaces an earlier tree. */
export async function clusterRuns(
  deps: TraceDeps,
  job: ClaimedJob,
  scope: RunScope,
  signal: AbortSignal,
  /** Whether the stage is complete; a job that stopped earlier comes back. */
  advances: boolean,
): Promise<void> {
  const { sql } = deps;
  const { ids, points } = await loadVectors(deps, job);
  if (ids.length === 0) throw new StopJob("empty", "None of the runs has a text that can be embedded.");
  const columns = points.columns;
  const tree = await clusterInThread(points, { hierarchy: job.options.hierarchy ?? undefined }, signal);
  const previous = await matchPrevious(deps, job, tree, columns);
  const clusterIds = tree.nodes.map(() => uuid7());
  const clusters = tree.nodes.map(({ parent, level, isLeaf, size }, place): NewCluster => ({
    id: clusterIds[place]!,
    parent_id: parent < 0 ? null : clusterIds[parent]!,
    level,
    place,
    is_leaf: isLeaf,
    name: "",
    num_runs: size,
    centroid: pick(tree.centers, [place]).data,
    stats: { previous: previous.matches.get(place) ?? null, compared: previous.exists },
  }));
  const assigned = ids.map((run_id, i) => ({
    run_id,
    cluster_id: clusterIds[tree.leaves[i]!]!,
    similarity: Math.round(tree.similarities[i]! * 1e6) / 1e6,
  }));
  await sql.begin(async (tx) => {
    await fence(tx, job);
    await deleteClusters(tx, job);
    for (const batch of batches(assigned, BATCH)) await assignRuns(tx, job, batch);
    await insertClusters(tx, job, clusters);
  });
  const names = await nameByTerms(deps, job, scope, clusters);
  await sql.begin(async (tx) => {
    await fence(tx, job);
    await deleteClusters(tx, job);
    await insertClusters(
      tx,
      job,
      clusters.map((cluster, i) => ({ ...cluster, name: names[i]! })),
    );
    if (advances) await setStage(tx, job, "name");
  });
}

async function loadVectors({ sql }: TraceDeps, job: ClaimedJob): Promise<{ ids: string[]; points: Matrix }> {
  const ids: string[] = [];
  const rows: Float32Array[] = [];
  for (let after = -1; ;) {
    const batch = await listEmbeddings(sql, job, after, BATCH);
    for (const { run_id, embedding } of batch) {
      ids.push(run_id);
      // a copy, aligned
      rows.push(new Float32Array(Uint8Array.from(embedding).buffer));
    }
    if (batch.length < BATCH) break;
    after = batch.at(-1)!.place;
  }
  const points = matrix(rows.length, rows[0]?.length ?? 0);
  for (const [i, row] of rows.entries()) points.data.set(row.subarray(0, points.columns), i * points.columns);
  return { ids, points };
}

/** Finds for each node the previous job's cluster that it resembles most, and that resembles it most. */
async function matchPrevious({ sql }: TraceDeps, job: ClaimedJob, { nodes, centers }: Tree, dimensions: number) {
  const model = job.options.embedding.model;
  const others = await listPrevious(sql, job, { series: job.series, model, dimensions });
  const matches = new Map<number, { job_id: string; cluster_id: string; name: string; share: number | null }>();
  const centersOfOthers = others.map(({ centroid }) => new Float32Array(Uint8Array.from(centroid).buffer));
  const similarity = nodes.map((_, i) => centersOfOthers.map((other) => cosine(pick(centers, [i]).data, other)));
  for (let i = 0; i < nodes.length; i++) {
    const j = indexOfMost(similarity[i]!);
    if (j < 0 || similarity[i]![j]! < SAME) continue;
    if (indexOfMost(similarity.map((row) => row[j]!)) !== i) continue;
    const { job_id, id, name, share } = others[j] as PreviousCluster;
    matches.set(i, { job_id, cluster_id: id, name, share });
  }
  return { exists: others.length > 0, matches };
}

const indexOfMost = (values: readonly number[]): number =>
  values.reduce((best, value, i) => (best < 0 || value > values[best]! ? i : best), -1);

async function nameByTerms(
  deps: TraceDeps,
  job: ClaimedJob,
  scope: RunScope,
  clusters: readonly NewCluster[],
): Promise<string[]> {
  const texts: string[][] = [];
  for (const { id, is_leaf } of clusters) {
    const runs = is_leaf ? await listExamples(deps.sql, job, [id], true, TYPICAL) : [];
    const found = await readRunTexts(deps, scope, job.options.subject, runs);
    texts.push(runs.flatMap(({ run_id, summary }) => summary || found.get(run_id) || []));
  }
  // children come after their parents
  for (let i = clusters.length - 1; i >= 0; i--) {
    const parent = clusters.findIndex(({ id }) => id === clusters[i]!.parent_id);
    if (parent >= 0) texts[parent]!.push(...texts[i]!);
  }
  const leaves = clusters.flatMap(({ is_leaf }, i) => (is_leaf ? [i] : []));
  const parents = clusters.flatMap(({ is_leaf }, i) => (is_leaf ? [] : [i]));
  const names = Array.from({ length: clusters.length }, () => "");
  for (const group of [leaves, parents]) {
    const found = keyTerms(group.map((i) => texts[i]!));
    for (const [n, i] of group.entries()) names[i] = tidy(found[n]!, MAX_NAME);
  }
  return names;
}
