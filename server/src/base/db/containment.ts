import type { Sql, Transaction } from "./connect.ts";

/**
 * Builds the condition that the jsonb `column` contains `filter` (contract agent-server §1.6). An empty filter matches
 * everything, a null in it nothing.
 */
export function contains(sql: Sql | Transaction, column: string, filter: Record<string, unknown> | null | undefined) {
  if (!filter || Object.keys(filter).length === 0) return sql`true`;
  if (holdsNull(filter)) return sql`false`;
  return sql`${sql.unsafe(column)} @> ${JSON.stringify(filter)}::text::jsonb`;
}

function holdsNull(root: unknown): boolean {
  const rest = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (value === null) return true;
    if (typeof value === "object") rest.push(...Object.values(value as object));
  }
  return false;
}
