import { unprocessable } from "../../base/errors.ts";

const OPERATORS = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"];

/** A condition on an item's value; all conditions of a filter must hold. */
export interface Condition {
  key: string;
  op: string;
  operand: unknown;
}

/**
 * Parses LangGraph's store filter: `{key: value}` for equality, `{key: {$gt: value, …}}` for comparisons. An object
 * without operators is compared as a whole.
 */
export function toConditions(filter: Record<string, unknown> | null | undefined): Condition[] {
  return Object.entries(filter ?? {}).flatMap(([key, condition]) => {
    if (condition === null || typeof condition !== "object" || Array.isArray(condition))
      return [{ key, op: "$eq", operand: condition }];
    const names = Object.keys(condition);
    if (!names.some((name) => name.startsWith("$"))) return [{ key, op: "$eq", operand: condition }];
    return Object.entries(condition).map(([op, operand]) => {
      if (!OPERATORS.includes(op)) throw unprocessable(`filter.${key}: "${op}" is not one of ${OPERATORS.join(", ")}`);
      if ((op === "$in" || op === "$nin") && !Array.isArray(operand)) {
        throw unprocessable(`filter.${key}: "${op}" requires an array`);
      }
      return { key, op, operand };
    });
  });
}
