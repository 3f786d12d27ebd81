import { expect, test } from "vitest";

import { lineDiff } from "./line-diff.ts";

const text = (lines: (string | number)[]) => lines.join("\n");

test("equal texts have no diff", () => {
  expect(lineDiff("a\nb", "a\nb")).toBe("");
});

test("shows changed lines with three lines around them", () => {
  const before = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  expect(lineDiff(text(before), text([1, 2, 3, 4, "five", 6, 7, 8, 9, 10]))).toBe(
    "@@ -2 +2 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10\n",
  );
});

test("separates distant changes", () => {
  const before = Array.from({ length: 20 }, (_, n) => n);
  const after = before.flatMap((n) => (n === 2 ? [] : n === 15 ? [n, "new"] : [n]));
  expect(lineDiff(text(before), text(after))).toBe(
    "@@ -1 +1 @@\n 0\n 1\n-2\n 3\n 4\n 5\n@@ -14 +13 @@\n 13\n 14\n 15\n+new\n 16\n 17\n 18\n",
  );
});

test("the lines without additions are the old text, those without removals the new one", () => {
  const before = "a b c a b b a".replaceAll(" ", "\n");
  const after = "c b a b a c".replaceAll(" ", "\n");
  const lines = lineDiff(before, after).split("\n").slice(1, -1);
  const kept = (sign: string) => lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  expect([text(kept("+")), text(kept("-"))]).toEqual([before, after]);
});
