import { expect, test } from "vitest";

import { describeInterest, readRuleFilters } from "./rule-filters.ts";

const interest = (filter: string | null, more: { trace_filter?: string; tree_filter?: string; threads?: true } = {}) =>
  describeInterest(
    readRuleFilters({ filter, trace_filter: more.trace_filter ?? null, tree_filter: more.tree_filter ?? null }),
    more.threads ?? false,
  );

test("a top-level test of is_root restricts a rule to roots", () => {
  for (const filter of [
    "eq(is_root, true)",
    "neq(is_root, false)",
    "eq(execution_order, 1)",
    'and(eq(name, "a"), eq(is_root, true))',
    'and(and(eq(is_root, true), eq(name, "a")), neq(error, null))',
  ]) {
    expect([filter, interest(filter)]).toEqual([filter, { rootsOnly: true, wholeTrace: false, feedback: false }]);
  }
  for (const filter of [
    null,
    "",
    "eq(is_root, false)",
    'or(eq(is_root, true), eq(name, "a"))',
    "not(eq(is_root, true))",
  ]) {
    expect([filter, interest(filter).rootsOnly]).toEqual([filter, false]);
  }
  expect(interest('eq(name, "a")', { threads: true }).rootsOnly).toBe(true);
});

test("filters on the trace and tests of tokens and costs concern whole traces", () => {
  const whole = { rootsOnly: false, wholeTrace: true, feedback: false };
  expect(interest("eq(is_root, true)", { tree_filter: 'eq(name, "a")' })).toEqual(whole);
  expect(interest("eq(is_root, true)", { trace_filter: 'eq(name, "a")' })).toEqual(whole);
  expect(interest("and(eq(is_root, true), gt(total_tokens, 5))")).toEqual(whole);
  expect(interest("and(eq(is_root, true), not(gt(completion_cost, 5)))")).toEqual(whole);
  expect(interest("gt(total_cost, 1)", { threads: true })).toEqual(whole);
});

test("tests of feedback are found in each filter", () => {
  expect(interest('eq(feedback_key, "a")').feedback).toBe(true);
  expect(interest(null, { tree_filter: 'not(and(eq(feedback_key, "a"), eq(feedback_score, 1)))' }).feedback).toBe(true);
  expect(interest('eq(metadata_key, "feedback")').feedback).toBe(false);
});
