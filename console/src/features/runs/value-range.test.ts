import { expect, test } from "vitest";

import { readRange, withRange } from "./value-range.ts";

test("a range becomes part of a filter, is found there again, and is replaced", () => {
  const first = withRange('eq(status, "error")', "latency", { from: 0.5, to: 2 });
  expect(first).toBe('and(eq(status, "error"), and(gte(latency, 0.5), lt(latency, 2)))');
  expect(readRange(first, "latency")).toEqual({ from: 0.5, to: 2 });
  expect(readRange(first, "total_cost")).toBeNull();
  const second = withRange(first, "latency", { from: null, to: 8 });
  expect(second).toBe('and(eq(status, "error"), and(gte(latency, 0), lt(latency, 8)))');
  expect(readRange(withRange("", "latency", { from: 3, to: null }), "latency")).toEqual({ from: 3, to: null });
});
