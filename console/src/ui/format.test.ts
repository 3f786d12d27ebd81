import { expect, test } from "vitest";

import { counted, duration, durationTicks, money, tokens } from "./format.ts";

test.each([
  [-0.004, "0 s"],
  [0.85, "850 µs"],
  [12.34, "12.3 ms"],
  [125_000, "2 min 5 s"],
])("%d ms is %s", (ms, text) => expect(duration(ms)).toBe(text));

test.each([
  [0.000078, "$0.000078"],
  [0.0000001, "<$0.000001"],
  [0.5, "$0.5000"],
])("%d dollars are %s", (dollars, text) => expect(money(dollars)).toBe(text));

test("ticks of an axis share one unit", () => {
  expect(durationTicks([0, 50_000, 100_000])).toEqual(["0 s", "50 s", "100 s"]);
  expect(durationTicks([0, 0.5, 1])).toEqual(["0 ms", "0.5 ms", "1 ms"]);
  expect(durationTicks([0, 0.2, 0.4])).toEqual(["0 µs", "200 µs", "400 µs"]);
  expect(durationTicks([0, 300_000])).toEqual(["0 min", "5 min"]);
});

test("a number is in the grammar of its noun, and no tokens are a missing number", () => {
  expect([counted(1, "trace"), counted(0, "trace"), counted(1200, "trace")]).toEqual([
    "1 trace",
    "0 traces",
    "1,200 traces",
  ]);
  expect([tokens(0), tokens(undefined), tokens(1500)]).toEqual(["–", "–", "1.5K"]);
});
