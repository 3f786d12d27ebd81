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

test("messages are matched by id, wherever they are", () => {
  const [ask, call, reply] = [
    { id: "1", type: "human", content: "hi" },
    { id: "2", type: "ai", content: "hello" },
    { id: "3", type: "ai", content: "bye" },
  ];
  expect(diffJson([ask, call, reply], [{ ...reply, content: "ciao" }, ask])).toEqual([
    { path: [1], kind: "removed", before: call },
    { path: [0, "content"], kind: "changed", before: "bye", after: "ciao" },
  ]);
  expect(diffJson([ask, call], [call, ask])).toEqual([
    { path: [], kind: "changed", before: [ask, call], after: [call, ask] },
  ]);
});

test("messages of two runs are matched by role in order, and contents come before ids and usage", () => {
  const before = [
    { id: "a1", type: "human", content: "hi" },
    { id: "a2", type: "ai", usage_metadata: { total_tokens: 1 }, content: "hello" },
  ];
  const after = [
    { id: "b1", type: "human", content: "hi" },
    { id: "b9", type: "tool", content: "sunny" },
    { id: "b2", type: "ai", usage_metadata: { total_tokens: 2 }, content: "bye" },
  ];
  expect(diffJson(before, after).map(({ path, kind }) => `${kind} ${formatPath(path)}`)).toEqual([
    "added [1]",
    "changed [2].content",
    "changed [0].id",
    "changed [2].id",
    "changed [2].usage_metadata.total_tokens",
  ]);
});

test("a change of type is one difference", () => {
  expect(diffJson({ a: [] }, { a: {} })).toEqual([{ path: ["a"], kind: "changed", before: [], after: {} }]);
  expect(diffJson("x", null)).toEqual([{ path: [], kind: "changed", before: "x", after: null }]);
});

test("serializes paths in JavaScript notation", () => {
  expect(formatPath(["messages", 2, "content", "a b"])).toBe('messages[2].content["a b"]');
});
