import type { Literal, Test } from "./expression.ts";
import type { FieldType } from "./fields.ts";
import { FilterError } from "./filter-error.ts";
import { parseTime } from "../run-rows/times.ts";
import { parseDuration, parseNumber, parseUuid } from "./literals.ts";
import type { Argument, Call } from "./parser.ts";

/** Types that a field can be compared as. Tags and metadata as a whole have separate functions. */
type ScalarType = Exclude<FieldType, "json" | "tags" | "metadata">;

interface TestedField {
  type: ScalarType | "json";
  nullable: boolean;
}

type Op = "eq" | "neq" | "gt" | "gte" | "lt" | "lte";

/** Interprets a call such as `gt(latency, 5)` as a test of a field. */
export function readTest(call: Call, name: string, type: TestedField): Test {
  const value = call.args[1]!;
  const { name: op } = call;
  if (op === "like" || op === "search") {
    if (type.type !== "text" && !(op === "search" && type.type === "json")) {
      throw new FilterError(`${op} only applies to text, and ${name} is not text`, call.at);
    }
    return op === "like" ? { op, pattern: likePattern(call, value) } : { op, text: searched(call, value) };
  }
  if (op === "in") {
    if (value.kind !== "list") throw new FilterError("in takes a list, such as [1, 2]", value.at);
    const scalar = type.type;
    if (scalar === "json") throw new FilterError(`${name} can only be searched, or compared with null`, call.at);
    return { op, values: value.items.map((item) => literal(name, scalar, item)) };
  }
  if (op === "has" || op === "exists") throw new FilterError(`${op} cannot be applied to ${name}`, call.at);
  return comparison(op as Op, value, name, type);
}

function comparison(op: Op, value: Argument, name: string, type: TestedField): Test {
  if (value.kind === "value" && value.value === null) {
    if (op !== "eq" && op !== "neq") throw new FilterError(`null can only be compared with eq and neq`, value.at);
    if (!type.nullable) throw new FilterError(`${name} is never null`, value.at);
    return { op: op === "eq" ? "is_null" : "not_null" };
  }
  if (type.type === "json") throw new FilterError(`${name} can only be searched, or compared with null`, value.at);
  if ((type.type === "uuid" || type.type === "flag") && op !== "eq" && op !== "neq") {
    throw new FilterError(`${name} has no order; use eq, neq${type.type === "uuid" ? " and in" : ""}`, value.at);
  }
  return { op, value: literal(name, type.type, value) };
}

/** Converts the value to the field's type. */
function literal(name: string, type: ScalarType, argument: Argument): Literal {
  if (argument.kind !== "value") {
    throw new FilterError(
      argument.kind === "name" ? `${argument.text} is not a value; put text in quotes` : "expected one value",
      argument.at,
    );
  }
  const { value, at } = argument;
  const wrong = (expected: string) => new FilterError(`${name} can only be compared with ${expected}`, at);
  if (value === null) throw new FilterError("null can only be compared with eq and neq", at);
  if (type === "flag") {
    if (typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    throw wrong("true and false");
  }
  if (type === "text") return typeof value === "boolean" ? String(value) : value;
  if (typeof value === "boolean") throw wrong(WANTED[type]);
  if (type === "uuid" && typeof value === "number") throw wrong(WANTED.uuid);
  const read = READERS[type](value as never);
  if (read === undefined) throw wrong(WANTED[type]);
  return read;
}

type Measured = "uuid" | "number" | "time" | "duration";

const READERS = {
  uuid: parseUuid,
  number: parseNumber,
  time: parseTime,
  duration: parseDuration,
};

const WANTED: Record<Measured, string> = {
  uuid: "UUIDs in quotes",
  number: "numbers",
  time: 'times, such as "2026-07-15T12:34:56Z"',
  duration: 'seconds, or text such as "250ms", "5s", "2m", "1h"',
};

export function readText(call: Call, argument: Argument | undefined): string {
  if (argument?.kind === "value" && typeof argument.value === "string") return argument.value;
  throw new FilterError(`${call.name} takes text in quotes here`, argument?.at ?? call.at);
}

export function searched(call: Call, argument: Argument | undefined): string {
  const text = readText(call, argument);
  if (text === "") throw new FilterError("search takes at least one character", argument!.at);
  return text;
}

function likePattern(call: Call, argument: Argument): string {
  const pattern = readText(call, argument);
  // an odd number of backslashes leaves the last one nothing to escape
  if (/\\*$/.exec(pattern)![0].length % 2 === 1) {
    throw new FilterError("a pattern cannot end with a single backslash", argument.at);
  }
  return pattern;
}
