/**
 * Evaluates filter expressions in process on what is surely known of a run, by three-valued logic: true, false, or
 * undefined for unknown. Where the answer is known, it is that of the compiled condition on the stored, merged run
 * (filter/compile.ts; compile.db.test.ts compares the two). Only exact tests are answered.
 */
import { SEARCHED } from "../filter/compile.ts";
import type { Expression, Literal, Test } from "../filter/expression.ts";
import type { Field } from "../filter/fields.ts";
import { searchSpellings } from "../filter/search-spellings.ts";
import { entryNeedles, pairNeedles, tagNeedle } from "../filter/list-needles.ts";
import { type RunRow, STOPPED } from "../run-rows/clickhouse.ts";
import { wellFormed } from "../../base/well-formed.ts";

export type Answer = boolean | undefined;
/** Null: the run has no value. Undefined: unknown. */
type Value = string | number | null | undefined;

export interface KnownRun {
  row: RunRow;
  /** The row is all that is stored of the run: a field that it lacks has no value. */
  isWhole: boolean;
  /** Other servers may write other values of the same run now: only what a run never changes is known. */
  isShared?: boolean | undefined;
  /** False: the run has no feedback. */
  feedback?: false | undefined;
  /** Sums of its trace, where they are known. */
  sums?: ((name: string) => number | null | undefined) | undefined;
}

export function evaluateKnown(expression: Expression, known: KnownRun): Answer {
  switch (expression.kind) {
    case "and":
      return conjunction(expression.items, known);
    case "or":
      return negated(conjunction(expression.items, known, true));
    case "not":
      return negated(evaluateKnown(expression.item, known));
    case "field":
      return evaluateField(expression.field, expression.test, known);
    case "some_tag":
      return evaluateList(read(known, "tags"), expression);
    case "metadata_contains":
      return expression.entries.length === 0 || evaluateList(read(known, "metadata"), expression);
    case "some_pair":
      if (expression.family === "feedback") return known.feedback;
      return evaluateList(read(known, LISTS[expression.family]), expression);
    case "search":
      return any(SEARCHED.map((column) => search(read(known, column), searchSpellings(expression.text))));
  }
}

const LISTS = { metadata: "metadata", input: "input_pairs", output: "output_pairs" } as const;

type OnList = Extract<Expression, { kind: "some_tag" | "metadata_contains" | "some_pair" }>;
interface Needles {
  /** Some of them must occur, or all as they say; undefined: decided in ClickHouse. */
  some?: string[] | undefined;
  each?: { text: string; isIn: boolean }[] | undefined;
}
/** By expression, which live as long as the rules of a workspace are cached. */
const needlesOf = new WeakMap<OnList, Needles>();

function evaluateList(text: string | null | undefined, expression: OnList): Answer {
  if (text === undefined) return undefined;
  let needles = needlesOf.get(expression);
  if (!needles) needlesOf.set(expression, (needles = findNeedles(expression)));
  const list = text ?? "";
  if (needles.each) return needles.each.every((needle) => list.includes(needle.text) === needle.isIn);
  return needles.some?.some((needle) => list.includes(needle));
}

/** Prepares the texts as the driver encodes parameters. */
function findNeedles(expression: OnList): Needles {
  switch (expression.kind) {
    case "some_tag": {
      const needle = tagNeedle(expression.test);
      return { some: needle === undefined ? undefined : [wellFormed(needle)] };
    }
    case "metadata_contains":
      return { each: entryNeedles(expression.entries).map(({ text, isIn }) => ({ text: wellFormed(text), isIn })) };
    case "some_pair":
      return { some: pairNeedles(expression.tests, expression.family === "metadata")?.map(wellFormed) };
  }
}

const negated = (answer: Answer): Answer => (answer === undefined ? undefined : !answer);

/** Whether all items are true; with `isNegated`, whether all are false. */
function conjunction(items: readonly Expression[], known: KnownRun, isNegated = false): Answer {
  let answer: Answer = true;
  for (const item of items) {
    const own = evaluateKnown(item, known);
    if (own === isNegated) return false;
    if (own === undefined) answer = undefined;
  }
  return answer;
}

/** Whether some answer is true. */
const any = (answers: readonly Answer[]): Answer =>
  answers.includes(true) || (answers.includes(undefined) ? undefined : false);

/** Longer texts are searched in ClickHouse. */
const MAX_SEARCHED = 16_384;
/** The characters beyond ASCII whose other case is an ASCII letter: \u0130, \u0131, \u017f and \u212a. */
const FOLDED = /[\u0130\u0131\u017f\u212a]/;

/** Whether one of the spellings occurs in the text, ignoring case. Decided for spellings in ASCII. */
function search(text: string | null | undefined, spellings: readonly string[]): Answer {
  if (text === undefined) return undefined;
  if (text === null || text === "") return false;
  // oxlint-disable-next-line no-control-regex -- a null character ends texts of some functions
  if (text.length > MAX_SEARCHED || FOLDED.test(text) || !/^[\x01-\x7f]+$/.test(spellings[0]!)) return undefined;
  const folded = text.toLowerCase();
  return spellings.some((spelling) => folded.includes(spelling.toLowerCase()));
}

/** Of a shared run. A piece of another server can neither take its parent away nor rename it. */
const UNCHANGED = new Set<keyof RunRow>(["name", "run_type", "parent_run_id"]);

function read(known: KnownRun, column: keyof RunRow): string | null | undefined {
  const value = known.row[column] as string | undefined;
  if (value !== undefined && (known.isWhole || !known.isShared || UNCHANGED.has(column))) return value;
  return known.isWhole ? null : undefined;
}

/** Whether the run is a root. */
export function isRoot(known: KnownRun): Answer {
  const { parent_run_id, dotted_order } = known.row;
  if (parent_run_id !== undefined) return false;
  if (known.isWhole) return true;
  // a piece that only gives the run its place
  return dotted_order?.includes(".") ? false : undefined;
}

/** Whether the run is a root, or stands in for one that has not arrived (run-rows/clickhouse.ts, IS_HEAD). */
export function isHead(known: KnownRun): Answer {
  const root = isRoot(known);
  const { provisional_root } = known.row;
  if (root === true || (provisional_root === true && !known.isShared)) return true;
  if (root === false && (known.isWhole || (provisional_root === false && !known.isShared))) return false;
  return undefined;
}

const USAGE = new Set<string>([
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "total_cost",
  "prompt_cost",
  "completion_cost",
]);
const JSON_FIELDS = new Set<string>(["inputs", "outputs", "extra"]);
/** Fields that are columns of the same name. */
const PLAIN = new Set<string>(["name", "run_type", "error", "end_time", "reference_example_id", "thread_id"]);

function evaluateField(field: Field, test: Test, known: KnownRun): Answer {
  const { name, type } = field;
  if (name === "is_root") {
    const root = isRoot(known);
    if (root === undefined || (test.op !== "eq" && test.op !== "neq")) return undefined;
    return (test.op === "eq") === (root === test.value);
  }
  if (USAGE.has(name)) return evaluateUsage(name, test, known);
  if (test.op === "search") {
    const isJson = JSON_FIELDS.has(name);
    if (!isJson && !PLAIN.has(name)) return undefined;
    return isJson
      ? search(read(known, name as keyof RunRow), searchSpellings(test.text))
      : search(readField(name, known) as string | null | undefined, [test.text]);
  }
  const value = readField(name, known);
  if (value === undefined) return undefined;
  return type === "number" || type === "duration" ? compareNumber(value, test) : compareText(value, test, type);
}

function readField(name: string, known: KnownRun): Value {
  const { row } = known;
  if (name === "id" || name === "start_time") return row[name];
  if (name === "session_id") return row.project_id;
  if (name === "name" || name === "run_type") {
    const value = read(known, name);
    // as RUN_TYPE
    return value === null ? (name === "name" ? "" : "chain") : value;
  }
  if (PLAIN.has(name)) return read(known, name as keyof RunRow);
  if (JSON_FIELDS.has(name)) {
    const value = read(known, name as keyof RunRow);
    // only their presence is compared
    return value && "";
  }
  if (name === "latency") {
    const end = read(known, "end_time");
    return end && Math.max(0, micros(end) - micros(row.start_time)) / 1e6;
  }
  if (name === "status") {
    const error = read(known, "error");
    const status = read(known, "status");
    if (error === undefined || status === undefined) return undefined;
    if (error && !STOPPED.includes(status)) return "error";
    // without an end it depends on the time
    return status ?? (read(known, "end_time") ? "success" : undefined);
  }
  return undefined;
}

/** Of the root of a trace, tests of usage apply to the sums of the trace. */
function evaluateUsage(name: string, test: Test, known: KnownRun): Answer {
  const root = isRoot(known);
  if (root === undefined) return undefined;
  let value: Value;
  if (root) value = known.sums?.(name);
  else value = known.isWhole ? ((known.row[name as keyof RunRow] as string | number | undefined) ?? null) : undefined;
  if (value === undefined) return undefined;
  if (name.endsWith("_tokens")) {
    const isPresence = test.op === "is_null" || test.op === "not_null";
    return compareNumber(isPresence ? value : (value ?? 0), test);
  }
  const cost = value === null ? null : Number(value);
  return cost !== null && isNear(cost, test) ? undefined : compareNumber(cost, test);
}

/** Costs are decimals, and rounded otherwise here. */
function isNear(cost: number, test: Test): boolean {
  const values = "values" in test ? test.values : "value" in test ? [test.value] : [];
  return values.some((value) => Math.abs(cost - Number(value)) <= 1e-9 * Math.max(1, Math.abs(cost)));
}

function compareNumber(value: Value, test: Test): Answer {
  if (value === null) return withoutValue(test);
  switch (test.op) {
    case "is_null":
      return false;
    case "not_null":
      return true;
    case "in":
      return test.values.includes(value as number);
    case "like":
    case "search":
      return undefined;
    default:
      return typeof test.value === "number" ? compare(value as number, test.op, test.value) : undefined;
  }
}

const ORDERED = new Set<Field["type"]>(["time"]);

function compareText(value: Value, test: Test, type: Field["type"]): Answer {
  if (value === null) return withoutValue(test);
  switch (test.op) {
    case "is_null":
      return false;
    case "not_null":
      return true;
    case "in":
      if (test.values.some((item) => value === exact(item))) return true;
      // a number has several spellings
      return test.values.every((item) => typeof item === "string") ? false : undefined;
    case "eq":
    case "neq":
      return typeof test.value === "number" ? undefined : (value === exact(test.value)) === (test.op === "eq");
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      // texts are ordered by their bytes, times in either way
      return ORDERED.has(type) ? compare(value as string, test.op, test.value as string) : undefined;
    default:
      return undefined;
  }
}

const exact = (value: Literal): Literal => (typeof value === "string" ? wellFormed(value) : value);

/** Answer for a run without the value. */
const withoutValue = ({ op }: Test): boolean => op === "is_null" || op === "neq";

function compare<T extends string | number>(a: T, op: "eq" | "neq" | "gt" | "gte" | "lt" | "lte", b: T): boolean {
  switch (op) {
    case "eq":
      return a === b;
    case "neq":
      return a !== b;
    case "gt":
      return a > b;
    case "gte":
      return a >= b;
    case "lt":
      return a < b;
    case "lte":
      return a <= b;
  }
}

/** Microseconds since 1970 of `YYYY-MM-DD hh:mm:ss.ffffff`, exact up to the year 2255. */
function micros(time: string): number {
  return Date.parse(`${time.slice(0, 10)}T${time.slice(11, 19)}Z`) * 1000 + Number(time.slice(20, 26));
}
