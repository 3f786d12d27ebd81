/**
 * What an expression means, typed and free of positions: what the compiler and the tests' evaluator read.
 *
 * Truth has two values. A comparison with a value that a run does not have is false, and `neq` is the opposite of
 * `eq`: so a run without an error passes `neq(error, "x")`, and a pending one fails `gt(latency, 5)` and passes
 * its `not`.
 */
import type { Family, Field, PartName } from "./fields.ts";

/**
 * A value to compare with, as the field's type has it: text as it is, ids in lower case, durations in seconds,
 * times as UTC `YYYY-MM-DD hh:mm:ss.ffffff`. A number against a field of text compares as numbers.
 */
export type Literal = string | number | boolean;

export type Test =
  | { op: "eq" | "neq" | "gt" | "gte" | "lt" | "lte"; value: Literal }
  | { op: "in"; values: Literal[] }
  /** `%` is any text, `_` any character, a backslash takes their meaning away. Upper and lower case differ. */
  | { op: "like"; pattern: string }
  /** Holds the text, in upper or lower case. */
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
  /** Each of these keys has this value. A value is a scalar, or an object or array, which must be equal. */
  | { kind: "metadata_contains"; entries: { key: string; value: unknown }[] }
  | { kind: "search"; text: string };
