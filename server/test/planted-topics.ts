/** Vectors with planted topics, and the measure of how well a clustering recovers them. */
import { type Matrix, matrix, normalizeRow, seeded } from "../src/trace/insights/vectors.ts";

/**
 * @param noise length of the random part of a vector, beside 1 of the topic's
 * @param related topics that share a direction
 */
export function planted({
  topics,
  count,
  noise,
  columns,
  related = 1,
  seed = 7,
}: {
  topics: number;
  count: number;
  noise: number;
  columns: number;
  related?: number;
  seed?: number;
}): { points: Matrix; labels: number[]; groups: number[] } {
  const random = seeded(seed);
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const direction = () => {
    const made = matrix(1, columns);
    for (let c = 0; c < columns; c++) made.data[c] = gauss();
    normalizeRow(made, 0);
    return made.data;
  };
  const common = Array.from({ length: Math.ceil(topics / related) }, direction);
  const own = Array.from({ length: topics }, (_, t) => {
    const shared = related > 1 ? common[Math.floor(t / related)]! : undefined;
    return direction().map((value, c) => value + 0.9 * (shared?.[c] ?? 0));
  });
  const points = matrix(count, columns);
  const labels = Array.from({ length: count }, (_, i) => i % topics);
  for (let i = 0; i < count; i++) {
    const [topic, other] = [own[labels[i]!]!, direction()];
    for (let c = 0; c < columns; c++) points.data[i * columns + c] = topic[c]! + noise * other[c]!;
    normalizeRow(points, i);
  }
  return { points, labels, groups: labels.map((label) => Math.floor(label / related)) };
}

/** Adjusted Rand index (Hubert and Arabie 1985): 1 for the same partition, about 0 for a random one. */
export function randIndex(a: ArrayLike<number | string>, b: ArrayLike<number | string>): number {
  const pairs = (n: number) => (n * (n - 1)) / 2;
  const [both, left, right] = [new Map<string, number>(), new Map<unknown, number>(), new Map<unknown, number>()];
  const count = <K>(map: Map<K, number>, key: K) => map.set(key, (map.get(key) ?? 0) + 1);
  for (let i = 0; i < a.length; i++) {
    count(both, `${a[i]} ${b[i]}`);
    count(left, a[i]);
    count(right, b[i]);
  }
  const sum = (map: Map<unknown, number>) => [...map.values()].reduce((total, n) => total + pairs(n), 0);
  const [index, x, y] = [sum(both), sum(left), sum(right)];
  const expected = (x * y) / pairs(a.length);
  const most = (x + y) / 2;
  return most === expected ? 1 : (index - expected) / (most - expected);
}
