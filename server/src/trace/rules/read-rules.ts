import {
  describeInterest,
  readRuleFilters,
  type RuleFilters,
  type RuleInterest,
} from "../rule-candidates/rule-filters.ts";
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
