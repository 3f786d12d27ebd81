import { expect, test } from "vitest";

import { describeInterest, readRuleFilters } from "./rule-filters.ts";

const interest = (filter: string | null, more: { trace_filter?: string; tree_filter?: string } = {}) =>
  describeInterest(
    readRuleFilters({ filter, trace_filter: more.trace_filter ?? null, tree_filter: more.tree_filter ?? null }),
  );

test("filters on the trace and tests of tokens and costs concern whole traces", () => {
  const run = { wholeTrace: false, readsUsage: false, readsTier: false, feedback: false };
  expect(interest(null)).toEqual(run);
  expect(interest('and(eq(is_root, true), gt(latency, "5s"))')).toEqual(run);
  const whole = { ...run, wholeTrace: true };
  expect(interest("eq(is_root, true)", { tree_filter: 'eq(name, "a")' })).toEqual(whole);
  expect(interest("eq(is_root, true)", { trace_filter: 'eq(name, "a")' })).toEqual(whole);
  const usage = { ...whole, readsUsage: true };
  expect(interest("and(eq(is_root, true), gt(total_tokens, 5))")).toEqual(usage);
  expect(interest("and(eq(is_root, true), not(gt(completion_cost, 5)))")).toEqual(usage);
});

test("tests of feedback are found in each filter", () => {
  expect(interest('eq(feedback_key, "a")').feedback).toBe(true);
  expect(interest(null, { tree_filter: 'not(and(eq(feedback_key, "a"), eq(feedback_score, 1)))' }).feedback).toBe(true);
  expect(interest('eq(metadata_key, "feedback")').feedback).toBe(false);
});
