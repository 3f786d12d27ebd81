import type { PendingQuery, Row } from "postgres";

import type { Sql } from "../../base/db/connect.ts";
import { parseJson } from "../../base/json-structure.ts";
import { FilterError } from "../filter/filter-error.ts";
import { type Argument, type Call, fieldName, parse } from "../filter/parser.ts";

type Condition = PendingQuery<Row[]>;

/**
 * Compiles a filter expression over examples to a condition on `dataset_examples x`. It covers metadata only:
 * `has(metadata, '{"k": "v"}')`, `exists(metadata, "k")`, combined with `and`, `or` and `not`. The grammar is
 * that of run filters.
 *
 * @throws FilterError (400) naming the position
 */
export function compileExampleFilter(sql: Sql, text: string): Condition {
  return compile(sql, parse(text));
}

function compile(sql: Sql, call: Call): Condition {
  switch (call.name) {
    case "and":
      return combine(sql, call, (left, right) => sql`${left} and ${right}`);
    case "or":
      return combine(sql, call, (left, right) => sql`${left} or ${right}`);
    case "not": {
      if (call.args.length !== 1) throw new FilterError("not takes one condition", call.at);
      return sql`not (${compile(sql, condition(call.args[0]!))})`;
    }
    case "has":
      return sql`x.metadata @> ${JSON.stringify(jsonArgument(call))}::text::jsonb`;
    case "exists":
      return sql`x.metadata ? ${textArgument(call)}`;
    default:
      throw new FilterError(`${call.name} is not supported for examples; use and, or, not, has or exists`, call.at);
  }
}

function combine(sql: Sql, call: Call, join: (left: Condition, right: Condition) => Condition): Condition {
  if (call.args.length === 0) throw new FilterError(`${call.name} needs a condition`, call.at);
  const parts = call.args.map((argument) => compile(sql, condition(argument)));
  return sql`(${parts.reduce(join)})`;
}

function condition(argument: Argument): Call {
  if (argument.kind !== "call") throw new FilterError("expected a condition", argument.at);
  return argument;
}

/** Returns the second argument of a function whose first is `metadata`. */
function textArgument({ name, args, at }: Call): string {
  const [field, value] = args;
  if (args.length !== 2) throw new FilterError(`${name} takes a field and a text`, at);
  if (fieldName(field) !== "metadata") {
    throw new FilterError("examples can only be filtered by metadata", field!.at);
  }
  if (value!.kind !== "value" || typeof value!.value !== "string") throw new FilterError("expected a text", value!.at);
  return value!.value;
}

function jsonArgument(call: Call): Record<string, unknown> {
  const text = textArgument(call);
  try {
    const parsed = parseJson(text);
    if (parsed !== null && typeof parsed === "object" && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // rejected below
  }
  throw new FilterError("has(metadata, …) takes a JSON object as text", call.args[1]!.at);
}
