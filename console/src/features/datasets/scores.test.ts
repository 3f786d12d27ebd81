import { expect, test } from "vitest";

import { formatDelta, readScores, sumRegressions } from "./scores.ts";

test("reads averages of numeric feedback", () => {
  expect([...readScores({ correct: { n: 2, avg: 0.5 }, tone: { n: 1, avg: null, values: { kind: 1 } } })]).toEqual([
    ["correct", 0.5],
  ]);
});

test("a delta has a sign, and none is shown without a difference or a baseline", () => {
  expect([formatDelta(1, 0.25), formatDelta(0, 1), formatDelta(1, 1), formatDelta(1, undefined)]).toEqual([
    "+0.75",
    "−1",
    null,
    null,
  ]);
});

test("regressions are counted against the first experiment, and improvements do not make up for them", () => {
  const run = (session: string, correct: number, brief: number, error: string | null = null) => ({
    session_id: session,
    feedback_stats: { correct: { avg: correct }, brief: { avg: brief } },
    error,
  });
  expect(sumRegressions({ runs: [run("a", 1, 0), run("b", 0, 1)] }, ["a", "b"])).toBe(1);
  expect(sumRegressions({ runs: [run("a", 0, 0), run("b", 1, 1)] }, ["a", "b"])).toBe(0);
  expect(sumRegressions({ runs: [run("a", 1, 1), run("b", 1, 1, "boom")] }, ["a", "b"])).toBe(1);
  expect(sumRegressions({ runs: [run("b", 0, 0)] }, ["a", "b"])).toBe(0);
});
