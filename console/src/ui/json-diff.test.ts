import { expect, test } from "vitest";

import { diffJson, formatPath } from "./json-diff.ts";

test("equal values have no differences, whatever the order of their keys", () => {
  expect(diffJson({ a: 1, b: [null, "x"] }, { b: [null, "x"], a: 1 })).toEqual([]);
});

test("reports added, removed and changed members with their paths", () => {
  expect(diffJson({ a: 1, gone: true, deep: { x: [1, 2] } }, { a: 2, deep: { x: [1, 3] }, fresh: null })).toEqual([
    { path: ["a"], kind: "changed", before: 1, after: 2 },
    { path: ["gone"], kind: "removed", before: true },
    { path: ["deep", "x", 1], kind: "changed", before: 2, after: 3 },
    { path: ["fresh"], kind: "added", after: null },
  ]);
});

test("an insertion into or removal from a list is one difference", () => {
  expect(diffJson([1, 2, 3], [1, 9, 2, 3])).toEqual([{ path: [1], kind: "added", after: 9 }]);
  expect(diffJson([1, 2, 3], [1, 3])).toEqual([{ path: [1], kind: "removed", before: 2 }]);
});

test("a change of type is one difference", () => {
  expect(diffJson({ a: [] }, { a: {} })).toEqual([{ path: ["a"], kind: "changed", before: [], after: {} }]);
  expect(diffJson("x", null)).toEqual([{ path: [], kind: "changed", before: "x", after: null }]);
});

test("serializes paths in JavaScript notation", () => {
  expect(formatPath(["messages", 2, "content", "a b"])).toBe('messages[2].content["a b"]');
});
