import { expect, test } from "vitest";

import { allExpanded, initiallyExpanded, PAGE, visibleRows } from "./json-rows.ts";

const shown = new Map<string, number>();

test("walks only expanded branches", () => {
  const value = { a: { b: [1, "two", null] }, c: true };
  expect(visibleRows(value, { open: new Set([""]), shown }).map(({ key, kind, size }) => [key, kind, size])).toEqual([
    [null, "object", 2],
    ["a", "object", 1],
    ["c", "boolean", 0],
  ]);
  const all = visibleRows(value, { open: allExpanded(value), shown });
  expect(all.map(({ depth, value: rowValue }) => [depth, rowValue]).slice(2)).toEqual([
    [2, [1, "two", null]],
    [3, 1],
    [3, "two"],
    [3, null],
    [1, true],
  ]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});

test("shows a long list in pages", () => {
  const value = Array.from({ length: PAGE + 5 }, (_, at) => at);
  const rows = visibleRows(value, { open: new Set([""]), shown });
  expect(rows.length).toBe(PAGE + 2);
  expect(rows.at(-1)).toMatchObject({ kind: "more", size: 5, key: "" });
  expect(visibleRows(value, { open: new Set([""]), shown: new Map([["", PAGE * 2]]) }).length).toBe(PAGE + 6);
});

test("initially expands the outer levels, within a budget", () => {
  const wide = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, { deep: [at] }]));
  expect(initiallyExpanded(wide).size).toBeLessThan(20);
  expect(initiallyExpanded(wide).has("")).toBe(true);
  expect(initiallyExpanded({ a: { b: { c: 1 } } })).toEqual(new Set(["", "a", "a\u001fb"]));
  expect(initiallyExpanded("text")).toEqual(new Set());
});
