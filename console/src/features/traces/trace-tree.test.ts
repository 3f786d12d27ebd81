import { expect, test } from "vitest";

import { listAncestors, initiallyCollapsed, findMatches, treeInSlices, buildTree, visibleNodes } from "./trace-tree.ts";
import { sampleTreeRun as run } from "./sample-tree-run.ts";

const tree = buildTree([
  run("b2", 30, 40, "b", { status: "error", error: "Boom" }),
  run("root", 0, 100),
  run("b", 20, 60, "root"),
  run("a", 10, 15, "root"),
  run("b1", 25, null, "b"),
  run("orphan", 50, 51, "nobody"),
]);

test("places runs below their parents in the order of their starts, and orphans at the top", () => {
  expect(visibleNodes(tree, new Set()).map(({ id, depth }) => [id, depth])).toEqual([
    ["root", 0],
    ["a", 1],
    ["b", 1],
    ["b1", 2],
    ["b2", 2],
    ["orphan", 0],
  ]);
  expect(tree.byId.get("root")).toMatchObject({ size: 4, failures: 1 });
  expect([tree.start, tree.end, tree.isRunning]).toEqual([0, 100, true]);
});

test("collapsed branches hide their descendants", () => {
  expect(visibleNodes(tree, new Set(["b"])).map(({ id }) => id)).toEqual(["root", "a", "b", "orphan"]);
});

test("search matches name, type, status and error, and expands the branches of its hits", () => {
  expect(findMatches(tree, "boom error")).toEqual(new Set(["b2"]));
  expect(findMatches(tree, " ")).toEqual(new Set());
  // short words are parts of many ids by chance, long ones of the id that was copied
  const ids = ["01a2149a-7000-7000-8000-1490000000aa", "01a2149a-7000-7000-8000-0000000000bb"] as const;
  const named = buildTree(ids.map((id, n) => run(id, n, 1, null, { name: `level ${n + 149}` })));
  expect(findMatches(named, "level 149")).toEqual(new Set([ids[0]]));
  expect(findMatches(named, "0000000000bb")).toEqual(new Set([ids[1]]));
  expect(listAncestors(tree, ["b2"])).toEqual(new Set(["b", "root"]));
});

test("building in slices produces the same tree and can be aborted in between", async () => {
  const many = Array.from({ length: 5000 }, (_, n) => run(`r${n}`, n, n + 1, n === 0 ? null : `r${n >> 2}`));
  expect(visibleNodes(await treeInSlices(many), new Set())).toEqual(visibleNodes(buildTree(many), new Set()));
  const stop = new AbortController();
  const laid = treeInSlices(
    Array.from({ length: 100_000 }, (_, n) => run(`x${n}`, n, n)),
    stop.signal,
  );
  setTimeout(() => stop.abort());
  await expect(laid).rejects.toThrow("abort");
});

test("lays out 20,000 runs and an equally deep chain at once", () => {
  const many = Array.from({ length: 20_000 }, (_, n) => run(`r${n}`, n, n + 1, n === 0 ? null : `r${n >> 3}`));
  const began = performance.now();
  const large = buildTree(many);
  const shown = visibleNodes(large, new Set());
  const took = performance.now() - began;
  console.log(`layout of 20,000 runs: ${took.toFixed(0)} ms`);
  expect(shown.length).toBe(20_000);
  expect(took).toBeLessThan(15_000);
  expect(visibleNodes(large, initiallyCollapsed(large)).length).toBeLessThan(1000);
  const chain = buildTree(
    Array.from({ length: 20_000 }, (_, n) => run(`c${n}`, n, null, n === 0 ? null : `c${n - 1}`)),
  );
  expect(chain.roots[0]!.size).toBe(19_999);
});
