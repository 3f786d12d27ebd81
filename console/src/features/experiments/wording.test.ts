import { expect, test } from "vitest";

import { readOnly, writeOnly } from "./comparison-search.ts";
import { describeDelta, formatChange, isGood } from "./wording.ts";

const delta = { examples: 8, mean: -0.25, better: 0, same: 6, worse: 2, verdict: "no_clear_difference" as const };

test("a difference is described with its interval", () => {
  expect(describeDelta({ ...delta, interval: [-0.5, 0.125] }, 0.95)).toBe("−0.25 (95% interval −0.5 to +0.13)");
  expect(describeDelta({ ...delta, interval: null }, 0.95)).toBe("−0.25");
  expect(formatChange(0.4, "latency_seconds")).toBe("+400 ms");
  expect(formatChange(0)).toBe("±0");
  expect(formatChange(1e-9)).toBe("±0");
  expect([isGood(-1, true), isGood(-1, false), isGood(1, false)]).toEqual([true, false, true]);
});

test("a filter on differences is read from the address", () => {
  const id = "0f4c1b2e-6d55-5e0a-9a35-6a1f3a3f7c10";
  expect(readOnly(writeOnly("worse", "score:is it correct?", id))).toEqual({
    change: "worse",
    key: "is it correct?",
    experiment_id: id,
    more_than: 0,
  });
  expect(readOnly("better metric:total_cost")).toEqual({ change: "better", metric: "total_cost", more_than: 0 });
  for (const text of ["", "worse", "worse metric:beauty", "nicer score:a"]) expect(readOnly(text)).toBeUndefined();
});
