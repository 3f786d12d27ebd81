/**
 * Filters returned by the project's own rules: conditions that an object must meet to be visible to the caller.
 */
import type { AccessCondition } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";

/** No conditions: every object. */
export const ALL: readonly AccessCondition[] = [];

/** @throws Error for an invalid filter: 500, because it is the project's mistake */
export function toConditions(result: object): AccessCondition[] {
  return Object.entries(result).flatMap(([key, condition]) => {
    if (isScalar(condition)) return [{ key, op: "$eq" as const, operand: condition }];
    const operators = condition !== null && typeof condition === "object" ? Object.entries(condition) : [];
    if (operators.length === 0)
      throw new Error(`the filter's "${key}" has the invalid value ${JSON.stringify(condition)}`);
    return operators.map(([op, operand]) => {
      if (op === "$eq" && isScalar(operand)) return { key, op, operand };
      if (op === "$contains" && isScalar(operand)) return { key, op, operand: [operand] };
      if (op === "$contains" && Array.isArray(operand)) return { key, op, operand: operand as unknown[] };
      throw new Error(
        `the filter's "${key}" has ${op}: ${JSON.stringify(operand)}; only $eq and $contains are supported`,
      );
    });
  });
}

const isScalar = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

/**
 * SQL condition: the jsonb column `column` meets the conditions. The containment follows from the function beside it;
 * it is there for the index on metadata.
 */
export function permits(sql: Sql | Transaction, column: string, conditions: readonly AccessCondition[] = ALL) {
  if (conditions.length === 0) return sql`true`;
  const equal = Object.fromEntries(
    conditions.flatMap(({ key, op, operand }) => (op === "$eq" ? [[key, operand]] : [])),
  );
  const json = sql.unsafe(column);
  return sql`${json} @> ${JSON.stringify(equal)}::text::jsonb
    and access_permits(${json}, ${JSON.stringify(conditions)}::text::jsonb)`;
}
