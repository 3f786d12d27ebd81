import { expect, test } from "vitest";

import type { Compared, Summary } from "./experiment-api.ts";
import { judgeGate, needsBaseline, parseCondition } from "./gate.ts";

const delta = (mean: number, verdict: NonNullable<Summary["delta"]>["verdict"], worse = 0): Summary["delta"] => ({
  ...{ examples: 10, mean, interval: [mean - 0.01, mean + 0.01], better: 0, same: 10 - worse, worse, verdict },
});
const experiment = (mean: number, more: Partial<Compared> = {}): Compared => ({
  ...{ id: "a", name: "a", is_baseline: false, examples: 10, runs: 20, errors: 1 },
  ...{ latency_p50: 1, latency_p95: 2.5, total_tokens: 1000, total_cost: 0.9 },
  scores: { correctness: { examples: 10, mean, interval: null, delta: delta(-0.05, "worse", 3) } },
  metrics: { latency_seconds: { examples: 10, mean: 1.2, interval: null, delta: null } },
  ...more,
});
const baseline = experiment(0.85, { id: "b", is_baseline: true, total_cost: 1 });

const outcome = (text: string, pair = { experiment: experiment(0.8), baseline: baseline as Compared | undefined }) =>
  judgeGate([parseCondition(text)], pair)[0]!.outcome;

test.each([
  ["correctness>=0.8", "passed"],
  ["correctness >= 80%", "passed"],
  ["correctness>0.8", "failed"],
  ["correctness<0.9", "passed"],
  ["correctness == 0.8", "passed"],
  ["score:correctness>=0.81", "failed"],
  ["correctness>=baseline", "failed"],
  ["correctness>=baseline-0.05", "passed"],
  ["correctness >= baseline - 4%", "failed"],
  ["p95_latency<=3s", "passed"],
  ["p95_latency<=2400ms", "failed"],
  ["latency<=1.2s", "passed"],
  ["cost<=$1.0", "passed"],
  ["cost<=baseline*0.9", "passed"],
  ["cost<=baseline*0.8", "failed"],
  ["error_rate<=5%", "passed"],
  ["error_rate<=0.01", "failed"],
  ["errors<1", "failed"],
  ["tokens<=1000", "passed"],
  ["regressions<4", "passed"],
  ["regressions(correctness)<3", "failed"],
  ["not_worse(correctness)", "failed"],
  ["unknown>=0", "failed"],
  ["regressions(unknown)<3", "failed"],
  ["constructor>=0", "failed"],
])("%s: %s", (text, expected) => {
  expect(outcome(text)).toBe(expected);
});

test("sums of floating-point numbers do not fail an equal limit", () => {
  expect(outcome("correctness>=0.3", { experiment: experiment(0.1 + 0.2), baseline })).toBe("passed");
  expect(outcome("correctness>=0.3", { experiment: experiment(0.3 - 1e-16), baseline })).toBe("passed");
});

test("without a baseline, conditions that need one are skipped, and others are judged", () => {
  const pair = { experiment: experiment(0.8), baseline: undefined };
  expect(
    ["correctness>=baseline", "regressions<1", "not_worse(correctness)"].map((text) => outcome(text, pair)),
  ).toEqual(["skipped", "skipped", "skipped"]);
  expect(outcome("correctness>=0.9", pair)).toBe("failed");
  expect(needsBaseline(parseCondition("cost<=1"))).toBe(false);
});

test.each([
  "",
  "correctness",
  ">=0.8",
  "correctness>=",
  "correctness>=high",
  "cost<=baseline*",
  "regressions<1.5",
  "a=>1",
])("rejects %j", (text) => {
  expect(() => parseCondition(text)).toThrow(/is not a condition/);
});
