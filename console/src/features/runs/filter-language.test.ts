import { expect, test } from "vitest";

import { conjoin } from "./conjoin.ts";
import { placeIn, parseFilterError, wordsAt } from "./filter-language.ts";

const facts = [
  { key: "name", value: 'the "agent"', n: 3 },
  { key: "metadata.plan", value: "gold", n: 2 },
  { key: "tags", value: "web", n: 9 },
];
const labels = (text: string) => wordsAt(placeIn(text, text.length), facts).map(({ label }) => label);

test("suggests functions at the start and inside logical operators", () => {
  expect(labels("")).toContain("and");
  expect(labels("and(e")).toEqual(expect.arrayContaining(["eq", "exists"]));
  expect(labels('and(eq(name, "x"), ')).toContain("or");
});

test("suggests fields as the first argument of a comparison, only tags and metadata for has", () => {
  expect(labels("eq(")).toEqual(expect.arrayContaining(["name", "latency", "feedback_score"]));
  expect(labels("has(")).toEqual(["tags", "metadata"]);
});

test("suggests values known for the field and values common among the runs", () => {
  expect(labels("eq(run_type, ")).toContain("llm");
  expect(labels("eq(error, ")).toEqual(["null"]);
  expect(wordsAt(placeIn("eq(name, ", 9), facts)).toMatchObject([{ insert: '"the \\"agent\\""' }]);
  expect(wordsAt(placeIn('eq(name, "th', 12), facts)).toMatchObject([{ insert: 'the \\"agent\\"' }]);
  expect(labels('in(tags, ["a", ')).toEqual(["web"]);
  expect(labels("and(eq(metadata_key, ")).toEqual(["plan"]);
  expect(labels('and(eq(metadata_key, "plan"), eq(metadata_value, ')).toEqual(["gold"]);
});

test("suggests nothing after a complete expression or value", () => {
  expect(labels('eq(status, "error")')).toEqual([]);
  expect(labels('eq(status, "error") ')).toEqual([]);
  expect(labels('and(eq(status, "error")')).toEqual([]);
  expect(labels('eq(status, "error"')).toEqual([]);
  expect(labels("eq(is_root, true ")).toEqual([]);
});

test("finds where the word at the cursor begins", () => {
  expect(placeIn("and(eq(na", 9)).toMatchObject({ from: 7, call: "eq", argument: 0, quote: null });
  expect(placeIn('eq(name, "a(b, c', 16)).toMatchObject({
    from: 10,
    call: "eq",
    argument: 1,
    quote: '"',
    field: "name",
  });
});

test("joins filters without deeper nesting", () => {
  expect(conjoin("", "eq(a, 1)")).toBe("eq(a, 1)");
  expect(conjoin("eq(a, 1)", "eq(b, 2)")).toBe("and(eq(a, 1), eq(b, 2))");
  expect(conjoin("and(eq(a, 1), eq(b, 2))", "eq(c, 3)")).toBe("and(eq(a, 1), eq(b, 2), eq(c, 3))");
  expect(conjoin("and(eq(a, 1), eq(b, 2))", "eq(a, 1)")).toBe("and(eq(a, 1), eq(b, 2))");
  expect(conjoin('and(eq(a, ")"), eq(b, 2))', "eq(c, 3)")).toBe('and(eq(a, ")"), eq(b, 2), eq(c, 3))');
});

test("parses the server's filter error into position and reason", () => {
  expect(parseFilterError('Invalid filter at character 3: there is no field "nme"; there are name')).toEqual({
    at: 3,
    reason: 'there is no field "nme"; there are name',
  });
});
