import { expect, test } from "vitest";

import { conjoin, placeIn, readComplaint, wordsAt } from "./filter-language.ts";

const facts = [
  { key: "name", value: 'the "agent"', n: 3 },
  { key: "metadata.plan", value: "gold", n: 2 },
  { key: "tags", value: "web", n: 9 },
];
const labels = (text: string) => wordsAt(placeIn(text, text.length), facts).map(({ label }) => label);

test("at the beginning and inside of logic come functions", () => {
  expect(labels("")).toContain("and");
  expect(labels("and(e")).toEqual(expect.arrayContaining(["eq", "exists"]));
  expect(labels('and(eq(name, "x"), ')).toContain("or");
});

test("a comparison takes fields first, has only tags and metadata", () => {
  expect(labels("eq(")).toEqual(expect.arrayContaining(["name", "latency", "feedback_score"]));
  expect(labels("has(")).toEqual(["tags", "metadata"]);
});

test("values come from the field's own and from what the runs have in common", () => {
  expect(labels("eq(run_type, ")).toContain("llm");
  expect(labels("eq(error, ")).toEqual(["null"]);
  expect(wordsAt(placeIn("eq(name, ", 9), facts)).toMatchObject([{ insert: '"the \\"agent\\""' }]);
  expect(wordsAt(placeIn('eq(name, "th', 12), facts)).toMatchObject([{ insert: 'the \\"agent\\"' }]);
  expect(labels('in(tags, ["a", ')).toEqual(["web"]);
  expect(labels("and(eq(metadata_key, ")).toEqual(["plan"]);
  expect(labels('and(eq(metadata_key, "plan"), eq(metadata_value, ')).toEqual(["gold"]);
});

test("where the word begins that is being written", () => {
  expect(placeIn("and(eq(na", 9)).toMatchObject({ from: 7, call: "eq", argument: 0, quote: null });
  expect(placeIn('eq(name, "a(b, c', 16)).toMatchObject({
    from: 10,
    call: "eq",
    argument: 1,
    quote: '"',
    field: "name",
  });
});

test("filters are joined without nesting deeper", () => {
  expect(conjoin("", "eq(a, 1)")).toBe("eq(a, 1)");
  expect(conjoin("eq(a, 1)", "eq(b, 2)")).toBe("and(eq(a, 1), eq(b, 2))");
  expect(conjoin("and(eq(a, 1), eq(b, 2))", "eq(c, 3)")).toBe("and(eq(a, 1), eq(b, 2), eq(c, 3))");
  expect(conjoin("and(eq(a, 1), eq(b, 2))", "eq(a, 1)")).toBe("and(eq(a, 1), eq(b, 2))");
  expect(conjoin('and(eq(a, ")"), eq(b, 2))', "eq(c, 3)")).toBe('and(eq(a, ")"), eq(b, 2), eq(c, 3))');
});

test("the server's complaint is taken apart", () => {
  expect(readComplaint('Invalid filter at character 3: there is no field "nme"; there are name')).toEqual({
    at: 3,
    reason: 'there is no field "nme"; there are name',
  });
});
