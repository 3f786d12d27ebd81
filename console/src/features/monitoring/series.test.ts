import { expect, test } from "vitest";

import { zoomRange } from "./monitoring-search.ts";
import { withBefore } from "./series.ts";

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
