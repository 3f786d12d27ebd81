import { expect, test } from "vitest";

import { commitMetrics, describeChange } from "./metric-rows.ts";
import type { Commit, CommitStatistics } from "./queries.ts";

const statistics = (hash: string, changes: Partial<CommitStatistics> = {}): CommitStatistics => ({
  commit_hash: hash,
  run_count: 4,
  error_count: 1,
  latency_p50_ms: 100,
  latency_p99_ms: 200,
  total_tokens: 40,
  total_cost: 0.4,
  first_run_at: "2026-01-01T00:00:00Z",
  last_run_at: "2026-01-01T00:00:00Z",
  feedback: {},
  ...changes,
});

test("rows follow the commits, newest first, and know the values of the commit before", () => {
  const commits = [{ commit_hash: "b" }, { commit_hash: "a" }] as Commit[];
  const { rows, metrics } = commitMetrics(
    [statistics("a"), statistics("old"), statistics("b", { latency_p50_ms: 150, error_count: 4 })],
    commits,
  );
  expect(rows.map(({ hash }) => hash)).toEqual(["b", "a", "old"]);
  expect(rows[0]).toMatchObject({ values: { p50: 150, errors: 1, cost: 0.1 }, before: { p50: 100, errors: 0.25 } });
  expect(rows[2]!.before).toEqual({});
  expect(metrics.find(({ id }) => id === "p50")!.most).toBe(150);
});

test("shows the most frequent feedback keys with scores, and no columns without values", () => {
  const feedback = Object.fromEntries(["a", "b", "c", "d"].map((key, n) => [key, { n: n + 1, avg: 0.5 }]));
  const row = statistics("a", { total_cost: 0, total_tokens: 0, feedback: { ...feedback, tone: { n: 9, avg: null } } });
  expect(commitMetrics([row], []).metrics.map(({ id }) => id)).toEqual([
    "p50",
    "p99",
    "errors",
    "feedback d",
    "feedback c",
    "feedback b",
  ]);
});

test("a change is worse or better by its metric", () => {
  const latency = { unit: "milliseconds", isHigherBetter: false } as const;
  const score = { unit: "score", isHigherBetter: true } as const;
  expect(describeChange(latency, 135, 100)).toEqual({ text: "+35%", isUp: true, isWorse: true });
  expect(describeChange(latency, 103, 100)).toBeNull();
  expect(describeChange(latency, 1, null)).toBeNull();
  expect(describeChange(score, 0.5, 0.75)).toEqual({ text: "−0.25", isUp: false, isWorse: true });
  expect(describeChange({ unit: "share", isHigherBetter: false }, 0.1, 0.3)).toMatchObject({
    text: "−20 points",
    isWorse: false,
  });
});
