import type postgres from "postgres";

import type { Sql, Transaction } from "./connect.ts";

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/**
 * Builds the condition that the jsonb `column` contains `filter`. An empty filter matches
 * everything, a null in it nothing. `test` builds the condition for values that are not in a column.
 */
export function contains(
  sql: Sql | Transaction,
  column: string,
  filter: Record<string, unknown> | null | undefined,
  test: (filter: Fragment) => Fragment = (wanted) => sql`${sql.unsafe(column)} @> ${wanted}`,
) {
  if (!filter || Object.keys(filter).length === 0) return sql`true`;
  if (holdsNull(filter)) return sql`false`;
  return test(sql`${JSON.stringify(filter)}::text::jsonb`);
}

function holdsNull(root: unknown): boolean {
  const rest = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (value === null) return true;
    // one by one: a call has room for some ten thousand arguments only
    if (typeof value === "object") for (const inner of Object.values(value as object)) rest.push(inner);
  }
  return false;
}
