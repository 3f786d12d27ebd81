import { expect, test } from "vitest";

import { criticalPath, joinClose, longestOnPath, sumIntervals, workIntervals } from "./run-times.ts";
import { sampleTreeRun } from "./sample-tree-run.ts";
import { panWindow, roundTimes, spanPosition, windowAround, zoomWindow } from "./time-window.ts";
import { buildTree } from "./trace-tree.ts";

const run = (id: string, start: number, end: number | null, parentId: string | null = "root", more = {}) =>
  sampleTreeRun(id, start, end, parentId, more);

test("a run works while none of its children runs, and a model's call from its first token", () => {
  const tree = buildTree([
    run("root", 0, 100, null),
    run("a", 10, 30),
    run("b", 20, 40),
    run("background", 90, 120),
    run("call", 50, 60, "root", { firstToken: 54 }),
  ]);
  expect(workIntervals(tree.byId.get("root")!, 0)).toEqual([
    [0, 10],
    [40, 50],
    [60, 90],
  ]);
  expect(sumIntervals(workIntervals(tree.byId.get("call")!, 0))).toBe(6);
  const live = buildTree([run("root", 0, null, null), run("a", 10, null)]);
  expect(workIntervals(live.byId.get("root")!, 50)).toEqual([[0, 10]]);
});

test("the critical path follows the children that ended last, and adds up to the duration", () => {
  const tree = buildTree([
    run("root", 0, 100, null),
    run("plan", 5, 20),
    // beside the slow one, and therefore not on the path
    run("fast", 20, 50),
    run("slow", 20, 80),
    run("inner", 30, 75, "slow"),
    run("answer", 82, 98),
    // continues after its parent
    run("background", 98, 200),
  ]);
  const path = criticalPath(tree, 0);
  expect([...path.keys()].toSorted()).toEqual(["answer", "background", "inner", "plan", "root", "slow"]);
  expect(path.get("root")).toEqual([
    [0, 5],
    [80, 82],
  ]);
  expect(path.get("slow")).toEqual([
    [20, 30],
    [75, 80],
  ]);
  expect([...path.values()].reduce((sum, own) => sum + sumIntervals(own), 0)).toBe(100);
  expect(longestOnPath(tree, path, 2)).toEqual([
    ["inner", 45],
    ["answer", 16],
  ]);
  expect(criticalPath(buildTree([]), 0).size).toBe(0);
});

test("the critical path of 20,000 runs and of an equally deep chain is found at once", () => {
  const wide = Array.from({ length: 20_000 }, (_, n) => run(`r${n}`, n, n + 1, n === 0 ? null : "r0"));
  wide[0]!.end = 20_000;
  expect(criticalPath(buildTree(wide), 0).size).toBe(20_000);
  const deep = Array.from({ length: 20_000 }, (_, n) => run(`r${n}`, n, 20_000, n === 0 ? null : `r${n - 1}`));
  expect(criticalPath(buildTree(deep), 0).size).toBe(20_000);
});

test("intervals closer than a row can show are joined", () => {
  expect(
    joinClose(
      [
        [0, 1],
        [1.1, 2],
        [5, 6],
      ],
      0.5,
    ),
  ).toEqual([
    [0, 2],
    [5, 6],
  ]);
});

test("the window zooms about a time, pans, and stays within the trace", () => {
  const whole: [number, number] = [0, 1000];
  expect(zoomWindow(whole, whole, 0.5, 200)).toEqual([100, 600]);
  expect(zoomWindow([100, 600], whole, 4, 300)).toBeNull();
  expect(zoomWindow([0, 100], whole, 0.5, 0)).toEqual([0, 50]);
  expect(panWindow([100, 300], whole, 0.5)).toEqual([200, 400]);
  expect(panWindow([100, 300], whole, -5)).toEqual([0, 200]);
  expect(windowAround([500, 600], whole)).toEqual([490, 610]);
  expect(windowAround([0, 1000], whole)).toBeNull();
});

test("ticks are round times after the trace's start", () => {
  expect(roundTimes([1000, 1420], 1000, 4)).toEqual([0, 200, 400]);
  expect(roundTimes([1210, 1290], 1000, 4)).toEqual([220, 240, 260, 280]);
  expect(roundTimes([5, 5], 5, 4)).toEqual([0]);
});

test("bars are shares of the window, and those outside have none", () => {
  expect(spanPosition([20, 60], [0, 100])).toEqual({ left: 0.2, width: expect.closeTo(0.4) });
  expect(spanPosition([20, 60], [40, 80])).toEqual({ left: 0, width: 0.5 });
  expect(spanPosition([20, 60], [70, 80])).toBeNull();
  expect(spanPosition([0, 0], [0, 0])).toEqual({ left: 0, width: 0 });
});
