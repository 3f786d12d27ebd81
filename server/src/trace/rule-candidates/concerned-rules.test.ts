import { expect, test } from "vitest";

import type { RunRow } from "../run-rows/clickhouse.ts";
import { findConcernedRules, mergeChanges, type RunChange } from "./concerned-rules.ts";
import { describeInterest, readRuleFilters, type WatchedRule } from "./rule-filters.ts";

const rule = (
  filter: string | null,
  more: { tree_filter?: string; trace_filter?: string; threads?: true; sampling_rate?: number } = {},
): WatchedRule => {
  const filters = readRuleFilters({
    filter,
    trace_filter: more.trace_filter ?? null,
    tree_filter: more.tree_filter ?? null,
  });
  const isOfThreads = more.threads ?? false;
  return { rule_id: "r", filters, isOfThreads, sampling_rate: more.sampling_rate ?? 1, ...describeInterest(filters) };
};

const row = (fields: Partial<RunRow> = {}): RunRow => ({
  tenant_id: "t",
  project_id: "p",
  id: "a",
  trace_id: "a",
  start_time: "2026-11-21 10:00:00.000000",
  updated_at: "2026-11-21 10:00:10.000000",
  ...fields,
});
const end_time = "2026-11-21 10:00:01.000000";
const whole = (fields: Partial<RunRow> = {}): RunChange => ({
  row: row({ name: "agent", run_type: "chain", end_time, ...fields }),
  isNew: true,
  isNewTrace: true,
  isState: true,
});
const patch = (fields: Partial<RunRow>): RunChange => ({
  row: row(fields),
  isNew: false,
  isNewTrace: false,
  isState: true,
});
const concerned = (of: WatchedRule, changes: RunChange[], isShared = false) =>
  Array.from(findConcernedRules(mergeChanges(changes), [of], isShared).rules.keys(), (change) => change.row.id);

test("a new run that cannot match concerns no rule, and an update that does not decide concerns it", () => {
  const failed = rule("and(eq(is_root, true), neq(error, null))");
  expect(concerned(failed, [whole()])).toEqual([]);
  expect(concerned(failed, [whole({ error: "no" })])).toEqual(["a"]);
  expect(concerned(failed, [patch({ end_time })])).toEqual(["a"]);
  expect(concerned(failed, [patch({ end_time, parent_run_id: "b" })])).toEqual([]);
  expect(concerned(rule('gt(latency, "5s")'), [patch({ end_time })])).toEqual([]);
  expect(concerned(rule('eq(name, "tool")'), [patch({ end_time }), patch({ name: "model" })])).toEqual([]);
});

test("a run without an end concerns no rule on runs", () => {
  expect(concerned(rule(null), [{ ...whole({ end_time: undefined }), isState: false }])).toEqual([]);
  // its create and its end in one request
  expect(
    concerned(rule('eq(name, "agent")'), [{ ...whole({ end_time: undefined }), isState: false }, patch({ end_time })]),
  ).toEqual(["a"]);
});

test("a trace that arrives as a whole is decided, another one is recorded once", () => {
  const costly = rule("and(eq(is_root, true), gt(total_tokens, 100))");
  const call = (id: string, tokens: number) => whole({ id, parent_run_id: "a", run_type: "llm", total_tokens: tokens });
  expect(concerned(costly, [whole(), call("b", 40), call("c", 50)])).toEqual([]);
  expect(concerned(costly, [whole(), call("b", 40), call("c", 61)])).toEqual(["a"]);
  const later = (id: string) => ({ ...call(id, 1), isNewTrace: false });
  expect(concerned(costly, [later("b"), later("c")])).toEqual(["b"]);
  const tree = rule("eq(is_root, true)", { tree_filter: 'eq(run_type, "tool")' });
  expect(concerned(tree, [whole(), call("b", 1)])).toEqual([]);
  expect(concerned(tree, [later("b")])).toEqual([]);
  expect(concerned(tree, [{ ...later("b"), row: row({ id: "b", parent_run_id: "a", run_type: "tool" }) }])).toEqual([
    "b",
  ]);
});

test("the sample excludes traces, and threads", () => {
  expect(concerned(rule(null, { sampling_rate: 0 }), [whole()])).toEqual([]);
  expect(concerned(rule(null, { threads: true }), [whole()])).toEqual([]);
  expect(concerned(rule(null, { threads: true }), [whole({ thread_id: "x" })])).toEqual(["a"]);
  expect(concerned(rule(null, { threads: true, sampling_rate: 0 }), [whole({ thread_id: "x" })])).toEqual([]);
});

test("what other writers may have stored is left to be looked up", () => {
  const rated = rule('and(eq(name, "agent"), eq(feedback_key, "user"))');
  const find = (of: WatchedRule, isShared: boolean) => {
    const { rules, doubts } = findConcernedRules([whole()], [of], isShared);
    return [rules.size, doubts.length];
  };
  expect(find(rated, false)).toEqual([0, 1]);
  expect(find(rule("neq(error, null)"), false)).toEqual([0, 0]);
  expect(find(rule("neq(error, null)"), true)).toEqual([0, 1]);
  expect(find(rule('eq(run_type, "llm")'), true)).toEqual([0, 0]);
});

test("where several servers write, a first create without an end is looked up, and a change of the tier concerns few", () => {
  const begun = { ...whole({ end_time: undefined }), isState: false };
  const find = (filter: string | null, changes: RunChange[], isShared: boolean) => {
    const { rules, doubts } = findConcernedRules(changes, [rule(filter)], isShared);
    return [rules.size, doubts.length];
  };
  expect(find(null, [begun], false)).toEqual([0, 0]);
  expect(find(null, [begun], true)).toEqual([0, 1]);
  expect(find('eq(run_type, "llm")', [begun], true)).toEqual([0, 0]);
  const moved = { ...patch({ trace_tier: "longlived" }), isTierOnly: true };
  expect(find(null, [moved], false)).toEqual([0, 0]);
  expect(find('eq(trace_tier, "longlived")', [moved], false)).toEqual([1, 0]);
});
