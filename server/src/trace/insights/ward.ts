/**
 * Hierarchical clustering by Ward's method with nearest-neighbour chains (Murtagh 1983), in quadratic time. It finds
 * clusters of very different sizes, where k-means splits the largest one.
 */

/** Returns the labels of the vectors for each of these numbers of clusters. @param similarities of all pairs */
export function wardLabels(
  similarities: Float32Array,
  rows: number,
  counts: readonly number[],
): Map<number, Int32Array> {
  const merges = mergeAll(similarities, rows);
  const labels = new Map<number, Int32Array>();
  for (const k of counts) if (k >= 1 && k <= rows) labels.set(k, cut(merges, rows, k));
  return labels;
}

interface Merge {
  a: number;
  b: number;
  height: number;
}

function mergeAll(similarities: Float32Array, rows: number): Merge[] {
  // squared distances of vectors of length 1
  const distances = similarities.map((similarity) => 2 - 2 * similarity);
  const sizes = new Float64Array(rows).fill(1);
  const active = new Uint8Array(rows).fill(1);
  const merges: Merge[] = [];
  const chain: number[] = [];
  let first = 0;
  while (merges.length < rows - 1) {
    if (chain.length === 0) {
      while (!active[first]) first++;
      chain.push(first);
    }
    const a = chain.at(-1)!;
    const before = chain.at(-2);
    let b = before ?? -1;
    let best = b < 0 ? Infinity : distances[a * rows + b]!;
    for (let i = 0, p = a * rows; i < rows; i++, p++) {
      if (i !== a && active[i] && distances[p]! < best) {
        best = distances[p]!;
        b = i;
      }
    }
    if (b !== before) {
      chain.push(b);
      continue;
    }
    chain.length -= 2;
    merges.push({ a, b, height: best });
    join(distances, sizes, active, rows, a, b);
  }
  return merges.toSorted((x, y) => x.height - y.height);
}

/** Replaces `b` by both, and removes `a`. */
function join(distances: Float32Array, sizes: Float64Array, active: Uint8Array, rows: number, a: number, b: number) {
  const [x, y] = [sizes[a]!, sizes[b]!];
  const between = distances[a * rows + b]!;
  active[a] = 0;
  for (let i = 0; i < rows; i++) {
    if (!active[i] || i === b) continue;
    const z = sizes[i]!;
    const distance =
      ((x + z) * distances[a * rows + i]! + (y + z) * distances[b * rows + i]! - z * between) / (x + y + z);
    distances[b * rows + i] = distance;
    distances[i * rows + b] = distance;
  }
  sizes[b] = x + y;
}

/** Applies the lowest merges until `k` clusters are left. */
function cut(merges: readonly Merge[], rows: number, k: number): Int32Array {
  const parents = Int32Array.from({ length: rows }, (_, i) => i);
  const find = (i: number): number => {
    while (parents[i] !== i) i = parents[i] = parents[parents[i]!]!;
    return i;
  };
  for (const { a, b } of merges.slice(0, rows - k)) parents[find(a)] = find(b);
  const names = new Map<number, number>();
  return Int32Array.from({ length: rows }, (_, i) => {
    const root = find(i);
    if (!names.has(root)) names.set(root, names.size);
    return names.get(root)!;
  });
}
