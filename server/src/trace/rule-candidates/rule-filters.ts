import type { Expression } from "../filter/expression.ts";
import { readFilter } from "../filter/read-filter.ts";

/** Filters of a rule as its row has them. */
export interface FilterTexts {
  filter: string | null;
  trace_filter: string | null;
  tree_filter: string | null;
}

export interface RuleFilters {
  filter: Expression | undefined;
  trace_filter: Expression | undefined;
  tree_filter: Expression | undefined;
}

/** Parses the filters of a rule. Empty text is no filter. @throws FilterError (400) */
export function readRuleFilters(texts: FilterTexts): RuleFilters {
  const read = (text: string | null) => (text === null || text.trim() === "" ? undefined : readFilter(text));
  return {
    filter: read(texts.filter),
    trace_filter: read(texts.trace_filter),
    tree_filter: read(texts.tree_filter),
  };
}

/** What decides, besides the run itself, whether a rule matches it. */
export interface RuleInterest {
  /** Other runs of the trace: what is written of any of them can make a run match. */
  wholeTrace: boolean;
  /** Tokens and costs, which are sums of the trace where the run is its head. */
  readsUsage: boolean;
  /** The tier of the run or, in `trace_filter` and `tree_filter`, of others of its trace. */
  readsTier: boolean;
  feedback: boolean;
}

/** A rule as the pre-filter reads it (concerned-rules.ts). */
export interface WatchedRule extends RuleInterest {
  rule_id: string;
  /** Undefined: they cannot be read, which the matcher has to find out. */
  filters: RuleFilters | undefined;
  isOfThreads: boolean;
  sampling_rate: number;
}

/** Derives what concerns a rule from its filters. */
export function describeInterest({ filter, trace_filter, tree_filter }: RuleFilters): RuleInterest {
  const all = [filter, trace_filter, tree_filter].filter((expression) => expression !== undefined);
  const readsUsage = all.some((expression) => mentions(expression, isUsage));
  return {
    wholeTrace: trace_filter !== undefined || tree_filter !== undefined || readsUsage,
    readsUsage,
    readsTier: all.some((expression) => mentions(expression, isTier)),
    feedback: all.some((expression) => mentions(expression, isFeedback)),
  };
}

/**
 * Reads a filter on what statistics count. One that only roots pass counts traces, as lists do: their heads, which are
 * roots and runs that stand in for roots that have not arrived.
 */
export function readCounted(filter: Expression): { filters: Expression[]; is_head?: true } {
  const items = conjuncts(filter);
  const filters = items.filter((item) => !requiresRoot(item));
  return filters.length < items.length ? { filters, is_head: true } : { filters: [filter] };
}

const conjuncts = (expression: Expression): Expression[] =>
  expression.kind === "and" ? expression.items.flatMap(conjuncts) : [expression];

function requiresRoot(expression: Expression): boolean {
  if (expression.kind !== "field" || expression.field.name !== "is_root") return false;
  const { test } = expression;
  return (test.op === "eq" && test.value === true) || (test.op === "neq" && test.value === false);
}

function mentions(expression: Expression, test: (expression: Expression) => boolean): boolean {
  if (expression.kind === "and" || expression.kind === "or") {
    return expression.items.some((item) => mentions(item, test));
  }
  return expression.kind === "not" ? mentions(expression.item, test) : test(expression);
}

const isUsage = (expression: Expression): boolean =>
  expression.kind === "field" && /_(tokens|cost)$/.test(expression.field.name);

const isTier = (expression: Expression): boolean =>
  expression.kind === "field" && expression.field.name === "trace_tier";

const isFeedback = (expression: Expression): boolean =>
  expression.kind === "some_pair" && expression.family === "feedback";
