import type { Sql, Transaction } from "./connect.ts";

/**
 * Builds a `json_build_object` of the named columns, or of all. `columns` maps wire names to trusted SQL expressions;
 * `names` was validated against its keys. Columns that were not requested are not read: a thread's values can be
 * megabytes.
 */
export function buildJsonObject(
  sql: Sql | Transaction,
  columns: Record<string, string>,
  names?: readonly string[] | null,
) {
  const selected =
    names && names.length > 0 ? Object.keys(columns).filter((name) => names.includes(name)) : Object.keys(columns);
  return sql.unsafe(`json_build_object(${selected.map((name) => `'${name}', ${columns[name]!}`).join(", ")})`);
}
