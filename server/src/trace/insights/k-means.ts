/** Spherical k-means: clusters of vectors of length 1 by cosine similarity. */
import { dot, type Matrix, normalizeRow } from "./vectors.ts";

export interface Clustering {
  centers: Matrix;
  /** Cluster of each vector, and its similarity to the center. */
  labels: Int32Array;
  similarities: Float32Array;
}

/** Share of vectors below which moves between clusters end the iterations. */
const SETTLED = 0.001;

/** Improves centers until few vectors change their cluster. An emptied cluster gets the vector that fits worst. */
export function improve(points: Matrix, centers: Matrix, iterations: number): Clustering {
  const { rows } = points;
  const labels = new Int32Array(rows).fill(-1);
  const similarities = new Float32Array(rows);
  for (let n = 0; ; n++) {
    const moved = assign(points, centers, labels, similarities);
    if (n >= iterations || moved <= rows * SETTLED) break;
    recenter(points, centers, labels, similarities);
  }
  return { centers, labels, similarities };
}

/** Assigns each vector to its most similar center. @returns how many changed */
function assign(points: Matrix, centers: Matrix, labels: Int32Array, similarities: Float32Array): number {
  let moved = 0;
  for (let i = 0; i < points.rows; i++) {
    let best = -2;
    let label = 0;
    for (let c = 0; c < centers.rows; c++) {
      const similarity = dot(points, i, centers, c);
      if (similarity > best) {
        best = similarity;
        label = c;
      }
    }
    if (labels[i] !== label) moved++;
    labels[i] = label;
    similarities[i] = best;
  }
  return moved;
}

function recenter(points: Matrix, centers: Matrix, labels: Int32Array, similarities: Float32Array): void {
  const { columns, data } = points;
  centers.data.fill(0);
  const sizes = new Int32Array(centers.rows);
  for (let i = 0; i < points.rows; i++) {
    const label = labels[i]!;
    sizes[label]!++;
    const from = i * columns;
    const to = label * columns;
    for (let c = 0; c < columns; c++) centers.data[to + c]! += data[from + c]!;
  }
  for (let c = 0; c < centers.rows; c++) {
    if (sizes[c] === 0) {
      let worst = 0;
      for (let i = 1; i < points.rows; i++) if (similarities[i]! < similarities[worst]!) worst = i;
      similarities[worst] = 2;
      centers.data.set(data.subarray(worst * columns, (worst + 1) * columns), c * columns);
    }
    normalizeRow(centers, c);
  }
}

/** Returns the similarities of all pairs of vectors. */
export function similarityMatrix(points: Matrix): Float32Array {
  const { rows } = points;
  const all = new Float32Array(rows * rows);
  for (let i = 0; i < rows; i++) {
    for (let j = i; j < rows; j++) {
      const similarity = dot(points, i, points, j);
      all[i * rows + j] = similarity;
      all[j * rows + i] = similarity;
    }
  }
  return all;
}

/** Returns the mean silhouette (Rousseeuw 1987) from -1 to 1, by cosine distance. */
export function silhouette(similarities: Float32Array, labels: Int32Array, k: number): number {
  const rows = labels.length;
  const sizes = new Int32Array(k);
  for (const label of labels) sizes[label]!++;
  const sums = new Float64Array(k);
  let total = 0;
  for (let i = 0; i < rows; i++) {
    const own = labels[i]!;
    if (sizes[own]! < 2) continue;
    sums.fill(0);
    for (let j = 0, p = i * rows; j < rows; j++, p++) if (j !== i) sums[labels[j]!]! += 1 - similarities[p]!;
    const inside = sums[own]! / (sizes[own]! - 1);
    let beside = Infinity;
    for (let c = 0; c < k; c++) if (c !== own && sizes[c]! > 0) beside = Math.min(beside, sums[c]! / sizes[c]!);
    if (Number.isFinite(beside)) total += (beside - inside) / Math.max(inside, beside, 1e-9);
  }
  return total / rows;
}
