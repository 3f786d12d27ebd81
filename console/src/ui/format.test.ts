import { expect, test } from "vitest";

import { duration, money } from "./format.ts";

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
