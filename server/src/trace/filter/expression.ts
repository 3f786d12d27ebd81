/**
 * Typed meaning of an expression, without positions. Read by the compiler and by the tests' evaluator.
 *
 * Logic is two-valued. A comparison with a missing value is false, and `neq` is the negation of `eq`: a run without an
 * error passes `neq(error, "x")`, and a pending run fails `gt(latency, 5)` and passes its `not`.
 */
import type { Family, Field, PartName } from "./fields.ts";

/**
 * Operand in the form of the field's type: text unchanged, ids in lower case, durations in seconds, times as UTC
 * `YYYY-MM-DD hh:mm:ss.ffffff`. A number against a text field compares numerically.
 */
export type Literal = string | number | boolean;

export type Test =
  | { op: "eq" | "neq" | "gt" | "gte" | "lt" | "lte"; value: Literal }
  | { op: "in"; values: Literal[] }
  /** `%` matches any text, `_` any character, a backslash escapes them. Case-sensitive. */
  | { op: "like"; pattern: string }
  /** Contains the text, ignoring case. */
  | { op: "search"; text: string }
  | { op: "is_null" | "not_null" };

export type Expression =
  | { kind: "and" | "or"; items: Expression[] }
  | { kind: "not"; item: Expression }
  | { kind: "field"; field: Field; test: Test }
  /** Some pair of the family (some feedback) passes all tests. */
  | { kind: "some_pair"; family: Family; tests: { part: PartName; test: Test }[] }
  /** Some tag passes. */
  | { kind: "some_tag"; test: Test }
  /** Each of these keys has this value: a scalar, or an object or array that must be equal. */
  | { kind: "metadata_contains"; entries: { key: string; value: unknown }[] }
  | { kind: "search"; text: string };
