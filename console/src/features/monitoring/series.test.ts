import { expect, test } from "vitest";

import { zoomRange } from "./monitoring-search.ts";
import { describeChange, rateOf, sumOf, withBefore } from "./series.ts";

test("the previous period is matched by label and position", () => {
  const current = [
    { label: "a", values: [1, 2, null] },
    { label: "new", values: [0, 0, 1] },
  ];
  const earlier = [
    { label: "gone", values: [7, 7, 7] },
    { label: "a", values: [3, null] },
  ];
  expect(withBefore(current, earlier)).toEqual([
    ...current,
    { label: "a, previous", values: [3, null, null], before: 0 },
  ]);
});

test("zooming selects whole seconds, and at least ten", () => {
  expect(zoomRange(100.4, 160.2)).toEqual({ from: "1970-01-01T00:01:40.000Z", to: "1970-01-01T00:02:41.000Z" });
  expect(zoomRange(100.4, 101)).toEqual({ from: "1970-01-01T00:01:40.000Z", to: "1970-01-01T00:01:50.000Z" });
});

test("a number leads a chart, and says how it differs from the previous period", () => {
  const point = (run_count: number, error_rate: number | null) => ({ run_count, error_rate });
  const timeline = { series: [{ group: "", points: [point(90, 0), point(10, 1), point(0, null)] }] } as never;
  expect(sumOf(timeline, ({ run_count: count }) => count)).toBe(100);
  // 10 of 100 runs, though the mean of the buckets is a half
  expect(rateOf(timeline, ({ error_rate: rate }) => rate)).toBe(0.1);
  expect(rateOf({ series: [] } as never, ({ error_rate: rate }) => rate)).toBeNull();
  expect(describeChange(150, 100, false)).toBe("+50% against the previous period");
  expect(describeChange(0.1, 0.12, true)).toBe("−2 points against the previous period");
  expect(describeChange(0.11, 0.1, true)).toBe("+1 point against the previous period");
  expect(describeChange(1001, 1000, false)).toBe("as in the previous period");
  expect(describeChange(5, 0, false)).toBe("none in the previous period");
  expect(describeChange(null, 3, false)).toBeUndefined();
});
