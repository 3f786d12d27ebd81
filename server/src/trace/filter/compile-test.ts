import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import type { Literal, Test } from "./expression.ts";

/** Operand of a test: an SQL expression, and the type its values compare as. */
export interface Subject {
  sql: Fragment;
  type: "text" | "uuid" | "number" | "time" | "flag";
  nullable: boolean;
}

const SYMBOL = { eq: "=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/**
 * Compiles a condition that is true or false, never null: without a value, only `neq` and `is_null` are true.
 * Non-nullable subjects stay unwrapped, because ClickHouse derives key ranges only from plain comparisons.
 */
export function compileTest(subject: Subject, test: Test): Fragment {
  const sure = (condition: Fragment, without: "true" | "false" = "false") =>
    subject.nullable ? ch`ifNull(${condition}, ${raw(without)})` : condition;
  switch (test.op) {
    case "is_null":
      return ch`${subject.sql} is null`;
    case "not_null":
      return ch`${subject.sql} is not null`;
    case "neq":
      return sure(ch`not (${compare(subject, "eq", test.value)})`, "true");
    case "in":
      return sure(within(subject, test.values));
    case "like":
      return sure(ch`like(${subject.sql}, ${bind("String", test.pattern)})`);
    case "search":
      return sure(ch`positionCaseInsensitiveUTF8(${subject.sql}, ${bind("String", test.text)}) > 0`);
    default:
      return sure(compare(subject, test.op, test.value));
  }
}

function compare({ sql, type }: Subject, op: keyof typeof SYMBOL, value: Literal): Fragment {
  const symbol = raw(SYMBOL[op]);
  if (type === "text" && typeof value === "number") {
    // text that is not a number is neither equal to, above nor below a number
    return ch`ifNull(toFloat64OrNull(${sql}) ${symbol} ${bind("Float64", value)}, false)`;
  }
  return ch`${sql} ${symbol} ${literal(type, value)}`;
}

function within(subject: Subject, values: Literal[]): Fragment {
  const { sql, type } = subject;
  const numbers = type === "text" ? values.filter((value) => typeof value === "number") : [];
  const others = values.filter((value) => !numbers.includes(value as number));
  const conditions: Fragment[] = [];
  if (others.length > 0) conditions.push(ch`${sql} in ${bind(`Array(${TYPES[type]})`, others)}`);
  if (numbers.length > 0) {
    conditions.push(ch`ifNull(toFloat64OrNull(${sql}) in ${bind("Array(Float64)", numbers)}, false)`);
  }
  if (conditions.length === 0) return raw("false");
  return conditions.length === 1 ? conditions[0]! : ch`(${conditions[0]!} or ${conditions[1]!})`;
}

const TYPES: Record<Subject["type"], string> = {
  text: "String",
  uuid: "UUID",
  number: "Float64",
  time: "DateTime64(6, 'UTC')",
  flag: "Bool",
};

const literal = (type: Subject["type"], value: Literal) => bind(TYPES[type], value);
