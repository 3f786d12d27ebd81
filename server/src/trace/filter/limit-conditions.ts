import { unprocessable } from "../../base/errors.ts";
import type { Expression } from "./expression.ts";

/**
 * Limit over all expressions of a request. Each condition costs a pass over the runs' texts or a query over feedback:
 * some hundred took ten seconds and more. A list in `in` is one condition, however long.
 */
export const MAX_CONDITIONS = 100;

/** Counts the conditions of a request. @throws 422 when there are more than allowed */
export function limitConditions(expressions: readonly (Expression | undefined)[]): void {
  const count = expressions.reduce(
    (sum, expression) => sum + (expression === undefined ? 0 : countConditions(expression)),
    0,
  );
  if (count <= MAX_CONDITIONS) return;
  throw unprocessable(
    `The filters have ${count} conditions, but a request can have at most ${MAX_CONDITIONS}. ` +
      "in(field, [...]) is one condition, however long its list is.",
  );
}

function countConditions(expression: Expression): number {
  switch (expression.kind) {
    case "and":
    case "or":
      return expression.items.reduce((sum, item) => sum + countConditions(item), 0);
    case "not":
      return countConditions(expression.item);
    case "some_pair":
      return expression.tests.length;
    case "metadata_contains":
      return expression.entries.length;
    default:
      return 1;
  }
}
