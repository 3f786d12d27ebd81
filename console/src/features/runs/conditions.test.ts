import { expect, test } from "vitest";

import { type Condition, emptyCondition, readConditions, suggestions, writeConditions } from "./conditions.ts";

const row = (field: string, operator: Condition["operator"], value: string, key = ""): Condition => {
  return { field, key, operator, value };
};

test.each<[string, Condition[]]>([
  ["", []],
  ['eq(status, "error")', [row("status", "eq", "error")]],
  ["gt(total_cost, 0.05)", [row("total_cost", "gt", "0.05")]],
  ['search("it\'s, (late)")', [row("text", "search", "it's, (late)")]],
  ['eq(name, "a \\"quoted\\" \\\\ name")', [row("name", "eq", 'a "quoted" \\ name')]],
  ['and(eq(metadata_key, "plan"), eq(metadata_value, "pro"))', [row("metadata", "eq", "pro", "plan")]],
  [
    'and(has(tags, "x"), and(eq(feedback_key, "correct"), lt(feedback_score, 1)), gte(latency, 4))',
    [row("tags", "has", "x"), row("feedback", "lt", "1", "correct"), row("latency", "gte", "4")],
  ],
])("%s is read as rows, which are written as the same", (text, conditions) => {
  expect(readConditions(text)).toEqual(conditions);
  expect(writeConditions(conditions)).toBe(text);
});

test("spaces, single quotes and flat pairs are read, too", () => {
  expect(readConditions(" and( eq(status,'error') ,eq( metadata_key , 'plan'), neq(metadata_value, 'pro') ) ")).toEqual(
    [row("metadata", "neq", "pro", "plan"), row("status", "eq", "error")],
  );
});

test.each([
  'or(eq(status, "error"), gt(latency, 4))',
  'not(eq(status, "error"))',
  'in(name, ["a", "b"])',
  "eq(error, null)",
  'gt(latency, "5s")',
  'eq(status, "error"',
  'eq(status, "error") x',
  'eq(inputs, "x")',
  'and(eq(metadata_key, "a"), eq(metadata_value, "b"), eq(metadata_key, "c"), eq(metadata_value, "d"))',
  'eq(metadata_key, "a")',
  'eq(name, "a\\u0041")',
])("%s is left to the text", (text) => {
  expect(readConditions(text)).toBeNull();
});

test("unfinished rows are not part of the expression", () => {
  const rows = [
    emptyCondition("status"),
    row("metadata", "eq", "x"),
    row("latency", "gte", "x"),
    row("tags", "has", "a"),
  ];
  expect(writeConditions(rows)).toBe('has(tags, "a")');
});

test("rows are offered the values of the project", () => {
  const facts = [
    { key: "metadata.plan", value: "pro", n: 2 },
    { key: "metadata.plan", value: "free", n: 1 },
    { key: "name", value: "returns", n: 3 },
  ];
  expect(suggestions(facts, row("metadata", "eq", "", "plan"))).toEqual({ keys: ["plan"], values: ["pro", "free"] });
  expect(suggestions(facts, row("name", "eq", ""))).toEqual({ keys: [], values: ["returns"] });
  expect(suggestions(facts, row("status", "eq", "")).values).toContain("error");
});
