/**
 * Reference implementation of filter expressions, in memory and as simple as possible: the tests compare it with the
 * results of the compiled ClickHouse queries.
 */
import type { Expression, Literal, Test } from "../src/trace/filter/expression.ts";

/** Run as a client sees it. Times: `YYYY-MM-DD hh:mm:ss.ffffff`. */
export interface SampleRun {
  id: string;
  trace_id: string;
  session_id: string;
  parent_run_id: string | null;
  reference_example_id: string | null;
  name: string;
  run_type: string;
  dotted_order: string;
  start_time: string;
  end_time: string | null;
  first_token_time: string | null;
  error: string | null;
  inputs: string | null;
  outputs: string | null;
  extra: string | null;
  thread_id: string | null;
  trace_tier: string | null;
  total_tokens: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_cost: number | null;
  prompt_cost: number | null;
  completion_cost: number | null;
  tags: string[];
  metadata: Record<string, unknown>;
  input_pairs: [string, string][];
  output_pairs: [string, string][];
  feedback: {
    id: string;
    key: string;
    score: number | null;
    value: string | null;
    comment: string | null;
    source: string;
    created_at: string;
  }[];
}

type Value = string | number | boolean | null;

export function evaluate(expression: Expression, run: SampleRun): boolean {
  switch (expression.kind) {
    case "and":
      return expression.items.every((item) => evaluate(item, run));
    case "or":
      return expression.items.some((item) => evaluate(item, run));
    case "not":
      return !evaluate(expression.item, run);
    case "field":
      return expression.field.type === "json" && expression.test.op === "search"
        ? textsIn(fieldValue(run, expression.field.name, expression.test) as string | null).some((text) =>
            passes(text, expression.test),
          )
        : passes(fieldValue(run, expression.field.name, expression.test), expression.test);
    case "some_tag":
      return run.tags.some((tag) => passes(tag, expression.test));
    case "metadata_contains":
      return expression.entries.every(({ key, value }) =>
        value === null ? run.metadata[key] == null : toText(run.metadata[key]) === toText(value),
      );
    case "search":
      return searched(run).some((text) => holds(text, expression.text));
    case "some_pair":
      return runPairs(run, expression.family).some((pair) =>
        expression.tests.every(({ part, test }) => passes(pair[part] ?? null, test)),
      );
  }
}

function fieldValue(run: SampleRun, name: string, { op }: Test): Value {
  if (name.endsWith("_tokens") && op !== "is_null" && op !== "not_null") return (run[name as never] as Value) ?? 0;
  if (name === "is_root") return run.parent_run_id === null;
  if (name === "status") return run.error !== null ? "error" : run.end_time !== null ? "success" : "pending";
  if (name === "latency") return run.end_time === null ? null : (micros(run.end_time) - micros(run.start_time)) / 1e6;
  return run[name as keyof SampleRun] as Value;
}

const micros = (time: string): number =>
  Date.parse(`${time.slice(0, 23).replace(" ", "T")}Z`) * 1000 + Number(time.slice(23));

function runPairs(run: SampleRun, family: "metadata" | "input" | "output" | "feedback"): Record<string, Value>[] {
  if (family === "feedback") return run.feedback;
  if (family === "metadata") {
    return Object.entries(run.metadata)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => ({ key, value: toText(value)! }));
  }
  return (family === "input" ? run.input_pairs : run.output_pairs).map(([key, value]) => ({ key, value }));
}

const toText = (value: unknown): string | undefined =>
  value == null ? undefined : typeof value === "string" ? value : JSON.stringify(value);

const searched = (run: SampleRun): (string | null)[] => [
  run.name,
  run.error,
  ...textsIn(run.inputs),
  ...textsIn(run.outputs),
  ...run.tags,
  ...runPairs(run, "metadata").flatMap((pair) => [String(pair["key"]), String(pair["value"])]),
];

/** Returns the text unchanged, and the keys and texts inside it when it is JSON. */
function textsIn(json: string | null): string[] {
  if (json === null) return [];
  const found = [json];
  JSON.parse(json, (key, value: unknown) => {
    found.push(key);
    if (typeof value === "string") found.push(value);
    return value;
  });
  return found;
}

const holds = (text: string | null, part: string): boolean =>
  text !== null && text.toLowerCase().includes(part.toLowerCase());

export function passes(value: Value, test: Test): boolean {
  if (test.op === "is_null") return value === null;
  if (test.op === "not_null") return value !== null;
  if (test.op === "neq") return !passes(value, { op: "eq", value: test.value });
  if (value === null) return false;
  if (test.op === "in") return test.values.some((literal) => compare(value, literal) === 0);
  if (test.op === "search") return holds(String(value), test.text);
  if (test.op === "like") return likePattern(test.pattern).test(String(value));
  const order = compare(value, (test as { value: Literal }).value);
  if (order === undefined) return false;
  if (test.op === "eq") return order === 0;
  if (test.op === "gt") return order > 0;
  if (test.op === "gte") return order >= 0;
  return test.op === "lt" ? order < 0 : order <= 0;
}

/** Returns a negative number, zero or a positive one; undefined where the two can't be compared. */
function compare(value: string | number | boolean, other: Literal): number | undefined {
  if (typeof value === "string" && typeof other === "number") {
    return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) - other : undefined;
  }
  return value === other ? 0 : value < other ? -1 : 1;
}

function likePattern(pattern: string): RegExp {
  const parts = pattern.match(/\\.|[^\\]/gsu) ?? [];
  const source = parts.map((part) => {
    if (part === "%") return ".*";
    if (part === "_") return ".";
    return (part.length > 1 && part.startsWith("\\") ? part.slice(1) : part).replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  });
  return new RegExp(`^${source.join("")}$`, "su");
}
