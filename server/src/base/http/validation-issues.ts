import type { z } from "zod";

import type { ValidationIssue } from "../errors.ts";
import { cut, MAX_ISSUES } from "./errors.ts";

type Issue = z.core.$ZodIssue;

/**
 * Formats zod's issues in the wording of the FastAPI services whose clients read them.
 * Omits the value, because it may be a secret.
 */
export const validationIssues = (error: z.ZodError, where: string, value: unknown): ValidationIssue[] =>
  error.issues.slice(0, MAX_ISSUES).map((issue) => {
    const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
    const { type, msg } = describe(issue, at(value, path));
    return { type, msg: cut(msg), loc: [where, ...path.map((part) => (typeof part === "string" ? cut(part) : part))] };
  });

function at(value: unknown, path: (string | number)[]): unknown {
  let found = value;
  for (const part of path) {
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string | number, unknown>)[part];
  }
  return found;
}

const TYPES: Record<string, { type: string; msg: string }> = {
  string: { type: "string_type", msg: "Input should be a valid string" },
  boolean: { type: "bool_parsing", msg: "Input should be a valid boolean" },
  number: { type: "float_parsing", msg: "Input should be a valid number" },
  int: { type: "int_parsing", msg: "Input should be a valid integer" },
  array: { type: "list_type", msg: "Input should be a valid list" },
  object: { type: "model_attributes_type", msg: "Input should be a valid dictionary" },
  record: { type: "dict_type", msg: "Input should be a valid dictionary" },
};

function describe(issue: Issue, value: unknown): { type: string; msg: string } {
  if (value === undefined && issue.code !== "custom") return { type: "missing", msg: "Field required" };
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? { type: `${issue.expected}_type`, msg: issue.message };
    case "invalid_value":
      return {
        type: "literal_error",
        msg: `Input should be ${listed(issue.values.map((value) => `'${String(value)}'`))}`,
      };
    case "invalid_format":
      if (issue.format === "uuid" || issue.format === "guid")
        return { type: "uuid_parsing", msg: "Input should be a valid UUID" };
      if (typeof value === "string" && issue.message.includes("whole number"))
        return { type: "int_parsing", msg: "Input should be a valid integer, unable to parse string as an integer" };
      return { type: "string_pattern_mismatch", msg: issue.message };
    case "too_small":
      return limit(issue.origin, `at least ${issue.minimum}`, "greater_than_equal", "too_short", issue.minimum);
    case "too_big":
      return limit(issue.origin, `at most ${issue.maximum}`, "less_than_equal", "too_long", issue.maximum);
    case "custom":
      return { type: "value_error", msg: `Value error, ${issue.message}` };
    default:
      return { type: "value_error", msg: `Value error, ${issue.message}` };
  }
}

function limit(
  origin: string,
  bound: string,
  ofNumbers: string,
  ofLengths: string,
  n: number | bigint,
): { type: string; msg: string } {
  const plural = Number(n) === 1 ? "" : "s";
  if (origin === "string")
    return { type: `string_${ofLengths}`, msg: `String should have ${bound} character${plural}` };
  if (origin === "array") return { type: ofLengths, msg: `List should have ${bound} item${plural}` };
  const words = ofNumbers.replace("_than_equal", " than or equal to");
  return { type: ofNumbers, msg: `Input should be ${words} ${n}` };
}

/** Returns `'a', 'b' or 'c'`. */
const listed = (items: string[]): string =>
  items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} or ${items.at(-1)}`;
