/**
 * Clusters embeddings into a tree. On a sample in few dimensions, Ward's method gives a clustering for each number of
 * clusters, k-means improves it, and the silhouette chooses among them. From there, k-means assigns all vectors in all
 * dimensions, and related leaves are merged to parents. (Seeded by k-means++ instead, k-means splits a large cluster
 * and joins small ones.) The same vectors give the same tree. 10,000 vectors of 1,536 dimensions take a few seconds.
 */
import { type Clustering, improve, silhouette, similarityMatrix } from "./k-means.ts";
import { choose, dot, matrix, type Matrix, normalizeRow, pick, project, seeded } from "./vectors.ts";
import { wardLabels } from "./ward.ts";

export interface Node {
  /** Index of the parent among the nodes; -1 for those at the top. */
  parent: number;
  /** 0: top. */
  level: number;
  isLeaf: boolean;
  size: number;
}

export interface Tree {
  /** Parents come before their children. */
  nodes: Node[];
  /** Index of the leaf of each vector, and its similarity to the leaf's center. */
  leaves: Int32Array;
  similarities: Float32Array;
  /** Mean of each node's vectors, at length 1. */
  centers: Matrix;
  silhouette: number;
}

export interface ClusterOptions {
  /** Wanted numbers of clusters by level, the leaves first. By default the data decide. */
  hierarchy?: readonly number[] | undefined;
  seed?: number;
}

const SEED = 20_251;
const CANDIDATES = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48];
const MIN_VECTORS = 4;
/** Similarity of vectors that are the same. */
const EQUAL = 0.9999;
/** Vectors by which the number of clusters is chosen. */
const SAMPLE = 1500;
/** Iterations of k-means on the sample, on all vectors in few dimensions, and in all dimensions. */
const [TRYING, ROUGH, FINE] = [10, 30, 8];
/** More clusters are preferred while the silhouette is at least this part of the best. */
const TOLERANCE = 0.98;
/** Cosine above which two groups are related, without what all have in common; that of unrelated ones is about 0. */
const RELATED = 0.15;
/** Numbers of clusters in a level above which there is another level over it. */
const [MANY_LEAVES, MANY_PARENTS] = [5, 9];

export function clusterVectors(source: Matrix, { hierarchy, seed = SEED }: ClusterOptions = {}): Tree {
  const random = seeded(seed);
  if (source.rows < MIN_VECTORS) return single(source);
  const few = project(source, random);
  const chosen = chooseClusters(few, hierarchy?.[0], random);
  if (!chosen) return single(source);
  const { labels: rough } = improve(few, chosen.centers, ROUGH);
  const found = improve(source, meansOf(source, rough, chosen.centers.rows), FINE);
  const { labels, similarities, centers } = dropEmpty(found);
  const sizes = new Int32Array(centers.rows);
  for (const label of labels) sizes[label]!++;
  const { nodes, places } = buildTree(centers, sizes, hierarchy?.slice(1));
  const leaves = labels.map((label) => places[label]!);
  return { nodes, leaves, similarities, centers: centersOf(source, nodes, leaves), silhouette: chosen.silhouette };
}

function single(source: Matrix): Tree {
  const { rows } = source;
  const nodes = [{ parent: -1, level: 0, isLeaf: true, size: rows }];
  const leaves = new Int32Array(rows);
  const centers = centersOf(source, nodes, leaves);
  const similarities = Float32Array.from({ length: rows }, (_, i) => dot(source, i, centers, 0));
  return { nodes, leaves, similarities, centers, silhouette: 0 };
}

/** Chooses the number of clusters, or the wanted one, and their centers. @returns undefined for equal vectors */
function chooseClusters(
  points: Matrix,
  wanted: number | undefined,
  random: () => number,
): { centers: Matrix; silhouette: number } | undefined {
  const some = points.rows > SAMPLE ? pick(points, choose(points.rows, SAMPLE, random)) : points;
  const all = similarityMatrix(some);
  if (all.every((each) => each > EQUAL)) return undefined;
  const distinct = distinctRows(all, some.rows);
  // copies of one vector would be the densest cluster that there can be
  const hasCopies = distinct.length >= MIN_VECTORS && distinct.length < some.rows;
  const sample = hasCopies ? pick(some, distinct) : some;
  const similarities = hasCopies ? similarityMatrix(sample) : all;
  const most = Math.min(CANDIDATES.at(-1)!, Math.max(2, Math.floor(Math.min(Math.sqrt(points.rows), sample.rows / 2))));
  const counts = wanted === undefined ? CANDIDATES.filter((each) => each <= most) : [Math.min(wanted, sample.rows)];
  const scores = Array.from(wardLabels(similarities, sample.rows, counts), ([k, labels]) => {
    const { centers, labels: improved } = improve(sample, meansOf(sample, labels, k), TRYING);
    return { centers, silhouette: silhouette(similarities, improved, k) };
  });
  const best = Math.max(...scores.map((score) => score.silhouette));
  return scores.findLast((score) => score.silhouette >= (best > 0 ? best * TOLERANCE : best));
}

/** Returns the rows that equal none before them. */
function distinctRows(similarities: Float32Array, rows: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < rows; i++) {
    if (found.every((other) => similarities[i * rows + other]! <= EQUAL)) found.push(i);
  }
  return found;
}

/** Returns the mean of each cluster, at length 1. */
function meansOf(points: Matrix, labels: Int32Array, k: number): Matrix {
  const { rows, columns, data } = points;
  const means = matrix(k, columns);
  for (let i = 0; i < rows; i++) {
    const to = labels[i]! * columns;
    const from = i * columns;
    for (let c = 0; c < columns; c++) means.data[to + c]! += data[from + c]!;
  }
  for (let c = 0; c < k; c++) normalizeRow(means, c);
  return means;
}

function dropEmpty({ labels, similarities, centers }: Clustering): Clustering {
  const used = [...new Set(labels)].toSorted((a, b) => a - b);
  const place = new Map(used.map((label, i) => [label, i]));
  return { labels: labels.map((label) => place.get(label)!), similarities, centers: pick(centers, used) };
}

interface Group {
  /** Sum of its vectors, approximately: centers times sizes. */
  sum: Float64Array;
  size: number;
  members: Group[];
  leaf: number;
}

/** Returns the centers without their mean: what all have in common does not relate them. */
function withoutCommon({ rows, columns, data }: Matrix): Float32Array {
  const mean = new Float64Array(columns);
  for (let i = 0; i < data.length; i++) mean[i % columns]! += data[i]! / rows;
  return data.map((value, i) => value - mean[i % columns]!);
}

/** Merges related leaves to parents, and those once more. A group with one member is the member itself. */
function buildTree(centers: Matrix, sizes: Int32Array, wanted: readonly number[] | undefined) {
  const { columns } = centers;
  const data = withoutCommon(centers);
  const leaves: Group[] = Array.from(sizes, (size, leaf) => ({
    sum: Float64Array.from(data.subarray(leaf * columns, (leaf + 1) * columns), (value) => value * size),
    size,
    members: [],
    leaf,
  }));
  let top = leaves;
  if (wanted) for (const count of wanted) top = agglomerate(top, count, -2);
  else {
    if (top.length > MANY_LEAVES) top = agglomerate(top, Math.max(3, Math.round(top.length / 3)), RELATED);
    if (top.length > MANY_PARENTS) top = agglomerate(top, Math.max(3, Math.round(top.length / 3)), RELATED);
  }
  const nodes: Node[] = [];
  const places = new Int32Array(sizes.length);
  const add = (group: Group, parent: number, level: number) => {
    const place = nodes.length;
    nodes.push({ parent, level, isLeaf: group.leaf >= 0, size: group.size });
    if (group.leaf >= 0) places[group.leaf] = place;
    for (const member of group.members.toSorted((a, b) => b.size - a.size)) add(member, place, level + 1);
  };
  for (const group of top.toSorted((a, b) => b.size - a.size)) add(group, -1, 0);
  return { nodes, places };
}

/** Merges the two most similar groups until there are `count`, or none are related. */
function agglomerate(groups: Group[], count: number, related: number): Group[] {
  let merged = groups.map((group) => ({ ...group, members: [group], leaf: -1 }));
  while (merged.length > count) {
    let best = { similarity: related, a: -1, b: -1 };
    for (let a = 0; a < merged.length; a++) {
      for (let b = a + 1; b < merged.length; b++) {
        const similarity = cosine(merged[a]!.sum, merged[b]!.sum);
        if (similarity > best.similarity) best = { similarity, a, b };
      }
    }
    if (best.a < 0) break;
    const [x, y] = [merged[best.a]!, merged[best.b]!];
    const sum = x.sum.map((value, i) => value + y.sum[i]!);
    const both = { sum, size: x.size + y.size, members: [...x.members, ...y.members], leaf: -1 };
    merged = [...merged.filter((group) => group !== x && group !== y), both];
  }
  return merged.map((group) => (group.members.length === 1 ? group.members[0]! : group));
}

export function cosine(a: Float64Array | Float32Array, b: Float64Array | Float32Array): number {
  let [inner, x, y] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    inner += a[i]! * b[i]!;
    x += a[i]! * a[i]!;
    y += b[i]! * b[i]!;
  }
  return x > 0 && y > 0 ? inner / Math.sqrt(x * y) : 0;
}

/** Returns the means of the original vectors, which can be compared with those of other jobs. */
function centersOf({ rows, columns, data }: Matrix, nodes: readonly Node[], leaves: Int32Array): Matrix {
  const centers = matrix(nodes.length, columns);
  for (let i = 0; i < rows; i++) {
    for (let node = leaves[i]!; node >= 0; node = nodes[node]!.parent) {
      const to = node * columns;
      const from = i * columns;
      for (let c = 0; c < columns; c++) centers.data[to + c]! += data[from + c]!;
    }
  }
  for (let n = 0; n < nodes.length; n++) normalizeRow(centers, n);
  return centers;
}
