/**
 * Conditions of a gate: `correctness>=0.8`, `correctness>=baseline-0.02`, `p95_latency<=3s`, `cost<=baseline*1.1`,
 * `regressions(correctness)<5`, `not_worse(correctness)`.
 */
import { UsageError } from "../../core/flags.ts";
import type { Compared, Comparison, Summary } from "./experiment-api.ts";

const OPERATORS = [">=", "<=", "==", ">", "<"] as const;
type Operator = (typeof OPERATORS)[number];

/** Numbers of an experiment beside its scores, by their names in conditions. Latencies are in seconds. */
const METRICS: Record<string, (experiment: Compared) => number | null> = {
  p50_latency: (each) => each.latency_p50,
  p95_latency: (each) => each.latency_p95,
  latency: (each) => each.metrics.latency_seconds?.mean ?? null,
  cost: (each) => each.total_cost,
  tokens: (each) => each.total_tokens,
  error_rate: (each) => (each.runs === 0 ? null : each.errors / each.runs),
  errors: (each) => each.errors,
};

type Limit = { kind: "number"; value: number } | { kind: "baseline"; factor: number; offset: number };

export type Condition = { text: string } & (
  | { kind: "compare"; measure: string; operator: Operator; limit: Limit }
  | { kind: "regressions"; key: string | null; operator: Operator; most: number }
  | { kind: "not_worse"; key: string }
);

export interface Verdict {
  condition: string;
  outcome: "passed" | "failed" | "skipped";
  detail: string;
}

/** @throws UsageError */
export function parseCondition(text: string): Condition {
  const worse = /^\s*not_worse\(\s*(.+?)\s*\)\s*$/.exec(text);
  if (worse) return { text, kind: "not_worse", key: worse[1]! };
  const at = text.search(/[<>=]/);
  const operator = OPERATORS.find((each) => at > 0 && text.startsWith(each, at));
  if (operator === undefined) throw invalid(text);
  const measure = text.slice(0, at).trim();
  const limit = text.slice(at + operator.length).trim();
  const regressions = /^regressions(?:\(\s*(.+?)\s*\))?$/.exec(measure);
  if (regressions) {
    if (!/^\d+$/.test(limit)) throw invalid(text);
    return { text, kind: "regressions", key: regressions[1] ?? null, operator, most: Number(limit) };
  }
  return { text, kind: "compare", measure, operator, limit: parseLimit(limit, text) };
}

function parseLimit(limit: string, text: string): Limit {
  const relative = /^baseline\s*(?:\*\s*(\d+(?:\.\d+)?))?\s*(?:([+-])\s*(\S+))?$/.exec(limit);
  if (!relative) return { kind: "number", value: parseNumber(limit, text) };
  const [, factor = "1", sign, offset] = relative;
  const by = offset === undefined ? 0 : parseNumber(offset, text);
  return { kind: "baseline", factor: Number(factor), offset: sign === "-" ? -by : by };
}

const UNITS: Record<string, number> = { "": 1, s: 1, ms: 0.001, min: 60, "%": 0.01 };

/** Reads `3s`, `250ms`, `1 %`, `$0.50`. */
function parseNumber(value: string, text: string): number {
  const [, number, unit = ""] = /^\$?(-?\d+(?:\.\d+)?)\s*(s|ms|min|%)?$/.exec(value) ?? [];
  if (number === undefined) throw invalid(text);
  return Number(number) * UNITS[unit]!;
}

const invalid = (text: string): UsageError =>
  new UsageError(
    `"${text}" is not a condition. Examples: correctness>=0.8, correctness>=baseline-0.02, p95_latency<=3s, cost<=1.0, ` +
      `error_rate<=1%, "regressions(correctness)<5", "not_worse(correctness)".`,
  );

/** Whether a condition compares with the baseline. */
export const needsBaseline = (condition: Condition): boolean =>
  condition.kind !== "compare" || condition.limit.kind === "baseline";

/** Judges an experiment by the conditions. Without a baseline, conditions that need one are skipped. */
export function judgeGate(conditions: Condition[], { experiment, baseline }: Pair): Verdict[] {
  return conditions.map((condition) => {
    const { outcome, detail } =
      needsBaseline(condition) && !baseline
        ? { outcome: "skipped" as const, detail: "there is no baseline" }
        : judge(condition, { experiment, baseline });
    return { condition: condition.text.trim(), outcome, detail };
  });
}

export interface Pair {
  experiment: Compared;
  baseline: Compared | undefined;
}

function judge(condition: Condition, { experiment, baseline }: Pair): Omit<Verdict, "condition"> {
  if (condition.kind === "not_worse") {
    const delta = experiment.scores[condition.key]?.delta;
    if (!delta) return missing(condition.key, experiment);
    return {
      outcome: delta.verdict === "worse" ? "failed" : "passed",
      detail: `${VERDICTS[delta.verdict]}, ${formatDelta(delta)}`,
    };
  }
  if (condition.kind === "regressions") {
    const keys = condition.key === null ? Object.keys(experiment.scores) : [condition.key];
    const deltas = keys.map((key) => experiment.scores[key]?.delta);
    if (condition.key !== null && !deltas[0]) return missing(condition.key, experiment);
    const count = deltas.reduce((sum, delta) => sum + (delta?.worse ?? 0), 0);
    return verdict(holds(count, condition.operator, condition.most), `${count} worse than the baseline`);
  }
  const { measure, operator, limit } = condition;
  const value = readMeasure(experiment, measure);
  if (value === null) return missing(measure, experiment);
  if (limit.kind === "number") return verdict(holds(value, operator, limit.value), formatNumber(value));
  const before = readMeasure(baseline!, measure);
  if (before === null) return { outcome: "failed", detail: `the baseline has no ${measure}` };
  const most = before * limit.factor + limit.offset;
  const detail = `${formatNumber(value)}, limit ${formatNumber(most)} (baseline ${formatNumber(before)})`;
  return verdict(holds(value, operator, most), detail);
}

const verdict = (passes: boolean, detail: string): Omit<Verdict, "condition"> => ({
  outcome: passes ? "passed" : "failed",
  detail,
});

function missing(measure: string, experiment: Compared): Omit<Verdict, "condition"> {
  const scores = Object.keys(experiment.scores);
  const known = scores.length > 0 ? `its scores are ${scores.join(", ")}` : "it has no scores";
  return { outcome: "failed", detail: `the experiment has no ${measure}: ${known}` };
}

/** Reads a score by its key, or a metric; `score:KEY` is a score even where a metric has its name. */
export function readMeasure(experiment: Compared, measure: string): number | null {
  const key = measure.replace(/^score:/, "");
  if (key === measure && Object.hasOwn(METRICS, measure)) return METRICS[measure]!(experiment);
  return Object.hasOwn(experiment.scores, key) ? experiment.scores[key]!.mean : null;
}

/** Differences that floating-point sums may have. */
const EPSILON = 1e-9;

function holds(value: number, operator: Operator, limit: number): boolean {
  const close = Math.abs(value - limit) <= EPSILON * Math.max(1, Math.abs(limit));
  switch (operator) {
    case ">=":
      return close || value > limit;
    case "<=":
      return close || value < limit;
    case "==":
      return close;
    case ">":
      return !close && value > limit;
    case "<":
      return !close && value < limit;
  }
}

export const VERDICTS: Record<NonNullable<Summary["delta"]>["verdict"], string> = {
  better: "better",
  worse: "worse",
  no_clear_difference: "no clear difference",
  too_few_examples: "too few examples",
};

export const formatNumber = (value: number): string => String(Number(value.toPrecision(4)));

/** Formats a paired difference with its interval: `+0.05 [0.01, 0.09]`. */
export function formatDelta({ mean, interval }: NonNullable<Summary["delta"]>): string {
  const signed = `${mean > 0 ? "+" : ""}${formatNumber(mean)}`;
  return interval ? `${signed} [${formatNumber(interval[0])}, ${formatNumber(interval[1])}]` : signed;
}

/** Returns the experiment and its baseline in a comparison. */
export function pairOf(comparison: Comparison, id: string): Pair {
  const experiment = comparison.experiments.find((each) => each.id === id)!;
  const baseline = comparison.experiments.find((each) => each.is_baseline && each.id !== id);
  return { experiment, baseline };
}
