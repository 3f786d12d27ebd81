import { expect, test } from "vitest";

import { clusterInThread } from "./cluster-in-thread.ts";
import { clusterVectors } from "./cluster-vectors.ts";
import { planted, randIndex } from "../../../test/planted-topics.ts";
import { matrix, pick } from "./vectors.ts";

const fit = (topics: number, count: number, noise: number, columns = 256) => {
  const { points, labels } = planted({ topics, count, noise, columns });
  const tree = clusterVectors(points);
  return { index: randIndex(labels, tree.leaves), tree };
};

test.each([
  [5, 200, 0.5],
  [5, 1000, 0.8],
  [12, 1500, 0.6],
])("recovers %i planted topics in %i vectors with noise %f", (topics, count, noise) => {
  const { index, tree } = fit(topics, count, noise);
  expect(index).toBeGreaterThanOrEqual(0.9);
  expect(tree.nodes.filter((node) => node.isLeaf)).toHaveLength(topics);
});

test("copies of a vector are no topic of their own", () => {
  const { points, labels } = planted({ topics: 5, count: 10, noise: 0.4, columns: 256 });
  const copied = Array.from({ length: 6 }, () => [...labels.keys()]).flat();
  const { leaves, nodes } = clusterVectors(pick(points, copied));
  expect(nodes.filter((node) => node.isLeaf)).toHaveLength(5);
  expect(
    randIndex(
      copied.map((row) => labels[row]!),
      leaves,
    ),
  ).toBe(1);
});

test("recovers topics of many dimensions after the projection", () => {
  expect(fit(8, 800, 0.7, 1536).index).toBeGreaterThanOrEqual(0.9);
});

test("gives the same tree for the same vectors", () => {
  const [a, b] = [fit(6, 300, 0.6).tree, fit(6, 300, 0.6).tree];
  expect([...a.leaves]).toEqual([...b.leaves]);
  expect(a.nodes).toEqual(b.nodes);
});

test("puts related topics below a parent", () => {
  const { points, labels, groups } = planted({ topics: 9, count: 900, noise: 0.5, columns: 512, related: 3 });
  const { nodes, leaves } = clusterVectors(points);
  expect(randIndex(labels, leaves)).toBeGreaterThanOrEqual(0.9);
  const tops = leaves.map((leaf) => {
    let node = leaf;
    while (nodes[node]!.parent >= 0) node = nodes[node]!.parent;
    return node;
  });
  expect(randIndex(groups, tops)).toBeGreaterThanOrEqual(0.9);
  expect(nodes.every(({ parent }, i) => parent < i)).toBe(true);
});

test("follows a wanted hierarchy", () => {
  const { points } = planted({ topics: 6, count: 300, noise: 0.6, columns: 64 });
  const { nodes } = clusterVectors(points, { hierarchy: [10, 3] });
  expect(nodes.filter((node) => node.isLeaf)).toHaveLength(10);
  expect(nodes.filter((node) => node.level === 0)).toHaveLength(3);
});

test.each([0, 1, 2, 3, 4, 50])("accepts %i equal vectors", (count) => {
  const points = matrix(count, 8);
  points.data.fill(1 / Math.sqrt(8));
  const { nodes, leaves } = clusterVectors(points);
  expect(nodes).toHaveLength(1);
  expect(leaves).toHaveLength(count);
});

test("works in a thread, which can be aborted", async () => {
  const { points, labels } = planted({ topics: 5, count: 500, noise: 0.6, columns: 256 });
  const tree = await clusterInThread(points, {}, new AbortController().signal);
  expect(randIndex(labels, tree.leaves)).toBeGreaterThanOrEqual(0.9);
  const other = planted({ topics: 5, count: 3000, noise: 0.6, columns: 1024 });
  const signal = AbortSignal.timeout(50);
  await expect(clusterInThread(other.points, {}, signal)).rejects.toThrow("timeout");
});
