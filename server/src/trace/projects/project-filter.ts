import type { PendingQuery, Row } from "postgres";

import type { Sql } from "../../base/db/connect.ts";
import { parseJson } from "../../base/json-structure.ts";
import { FilterError } from "../filter/filter-error.ts";
import { parseTime } from "../run-rows/times.ts";
import { parseUuid } from "../filter/literals.ts";
import { type Argument, type Call, fieldName, parse, type Value } from "../filter/parser.ts";

type Condition = PendingQuery<Row[]>;

/** Fields of a project available in expressions, with their column of `projects p` and its type. */
const FIELDS: Record<string, { column: string; type: "text" | "uuid" | "timestamptz" }> = {
  id: { column: "p.project_id", type: "uuid" },
  name: { column: "p.name", type: "text" },
  description: { column: "p.description", type: "text" },
  start_time: { column: "p.start_time", type: "timestamptz" },
  end_time: { column: "p.end_time", type: "timestamptz" },
  reference_dataset_id: { column: "p.reference_dataset_id", type: "uuid" },
  trace_tier: { column: "p.trace_tier", type: "text" },
};

const COMPARISONS: Record<string, string> = { gt: ">", gte: ">=", lt: "<", lte: "<=" };
const METADATA = "coalesce(p.extra -> 'metadata', '{}')";

/**
 * Compiles a filter expression over projects to a condition on `projects p`. The grammar is that of run filters
 * (docs/filter-language.md): comparisons of the fields above, `in`, `like` and `search`, and `has(metadata, '{"k":
 * "v"}')` and `exists(metadata, "k")`, combined with `and`, `or` and `not`.
 *
 * @throws FilterError (400) naming the position
 */
export const compileProjectFilter = (sql: Sql, text: string): Condition => compile(sql, parse(text));

function compile(sql: Sql, call: Call): Condition {
  const { name, args, at } = call;
  switch (name) {
    case "and":
    case "or": {
      if (args.length === 0) throw new FilterError(`${name} needs a condition`, at);
      const parts = args.map((arg) => compile(sql, condition(arg)));
      return sql`(${parts.reduce((all, part) => (name === "and" ? sql`${all} and ${part}` : sql`${all} or ${part}`))})`;
    }
    case "not":
      if (args.length !== 1) throw new FilterError("not takes one condition", at);
      return sql`not coalesce(${compile(sql, condition(args[0]!))}, false)`;
    case "has":
      return sql`${sql.unsafe(METADATA)} @> ${JSON.stringify(readJson(metadataText(call)))}::text::jsonb`;
    case "exists":
      return sql`${sql.unsafe(METADATA)} ? ${readText(metadataText(call))}`;
    case "search":
      if (args.length === 1) return contains(sql, "p.name", readText(args[0]!));
      return contains(sql, textField(call).column, readText(args[1]!));
    case "like":
      return sql`${sql.unsafe(textField(call).column)} like ${readText(args[1]!)}`;
    case "eq":
    case "neq": {
      const { column, type } = readField(call);
      const value = readValue(type, args[1]!);
      const differs = sql`${sql.unsafe(column)} is distinct from ${value}::text::${sql.unsafe(type)}`;
      return name === "eq" ? sql`not (${differs})` : differs;
    }
    case "in": {
      const { column, type } = readField(call);
      const list = args[1]!;
      if (list.kind !== "list") throw new FilterError("in takes a list", list.at);
      const values = list.items.map((item) => readValue(type, item));
      return sql`${sql.unsafe(column)} = any(${values}::text[]::${sql.unsafe(type)}[])`;
    }
    default: {
      const operator = COMPARISONS[name];
      if (operator === undefined) {
        const known = "and, or, not, eq, neq, gt, gte, lt, lte, in, has, exists, like and search";
        throw new FilterError(`${name} is not supported for projects; use ${known}`, at);
      }
      const { column, type } = readField(call);
      return sql`${sql.unsafe(`${column} ${operator}`)} ${readValue(type, args[1]!)}::text::${sql.unsafe(type)}`;
    }
  }
}

const contains = (sql: Sql, column: string, text: string): Condition =>
  sql`strpos(lower(${sql.unsafe(column)}), lower(${text})) > 0`;

function condition(argument: Argument): Call {
  if (argument.kind !== "call") throw new FilterError("expected a condition", argument.at);
  return argument;
}

function readField({ name, args, at }: Call) {
  const [first] = args;
  if (args.length !== 2) throw new FilterError(`${name} takes a field and a value`, at);
  const named = fieldName(first);
  const field = named !== undefined && Object.hasOwn(FIELDS, named) ? FIELDS[named] : undefined;
  if (!field) {
    throw new FilterError(`unknown field of projects; use ${Object.keys(FIELDS).join(", ")}`, first!.at);
  }
  return field;
}

function textField(call: Call) {
  const field = readField(call);
  if (field.type !== "text") throw new FilterError(`${call.name} takes a field of text`, call.args[0]!.at);
  return field;
}

/** Converts a value to text that Postgres parses; null stays null. */
function readValue(type: "text" | "uuid" | "timestamptz", argument: Argument | Value): string | null {
  if (argument.kind !== "value") throw new FilterError("expected a value", argument.at);
  const { value, at } = argument;
  if (value === null) return null;
  if (typeof value !== "string") throw new FilterError("expected a text", at);
  if (type === "text") return value;
  const read = type === "uuid" ? parseUuid(value) : parseTime(value);
  if (read === undefined) throw new FilterError(`expected a ${type === "uuid" ? "UUID" : "time"}`, at);
  return type === "uuid" ? read : `${read}+00`;
}

function metadataText({ name, args, at }: Call): Argument {
  const [field, value] = args;
  if (args.length !== 2) throw new FilterError(`${name} takes a field and a text`, at);
  if (fieldName(field) !== "metadata") {
    throw new FilterError(`${name} only applies to metadata`, field!.at);
  }
  return value!;
}

function readText(argument: Argument): string {
  if (argument.kind !== "value" || typeof argument.value !== "string") {
    throw new FilterError("expected a text", argument.at);
  }
  return argument.value;
}

function readJson(argument: Argument): Record<string, unknown> {
  try {
    const parsed = parseJson(readText(argument));
    if (parsed !== null && typeof parsed === "object" && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch (error) {
    if (error instanceof FilterError) throw error;
  }
  throw new FilterError("has(metadata, …) takes a JSON object as text", argument.at);
}
