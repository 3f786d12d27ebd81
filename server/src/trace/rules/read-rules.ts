import {
  describeInterest,
  readRuleFilters,
  type RuleFilters,
  type RuleInterest,
} from "../rule-candidates/rule-filters.ts";
import type { RunSelection } from "../runs/selection.ts";
import type { Rule } from "./sql.ts";

/** A rule with its filters parsed. */
export interface ReadRule {
  row: Rule;
  filters: RuleFilters;
  interest: RuleInterest;
}

/** @throws FilterError when a stored filter is invalid in this version */
export function readRule(row: Rule): ReadRule {
  const filters = readRuleFilters(row);
  return { row, filters, interest: describeInterest(filters) };
}

/** Returns the conditions under which a rule matches a run, beside its end; a rule on threads observes their roots. */
export const ruleConditions = (
  { filter, trace_filter, tree_filter }: RuleFilters,
  group_by: Rule["group_by"],
): RunSelection => ({
  filters: filter ? [filter] : [],
  trace_filter,
  tree_filter,
  // what a child says in its root's place may be untrue when the root arrives
  is_final: true,
  ...(group_by !== null && { is_root: true, has_thread: true }),
});
