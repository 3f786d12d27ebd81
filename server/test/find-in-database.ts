import type { Sql } from "../src/base/db/connect.ts";

/**
 * Searches every column of every table, bytes included.
 * @returns the columns that contain one of the texts, as `table.column`
 */
export async function findInDatabase(sql: Sql, texts: readonly string[]): Promise<string[]> {
  const columns = await sql<{ table: string; column: string; type: string }[]>`
    select table_name as table, column_name as column, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name in (select relname from pg_class where relkind in ('r', 'p'))
    order by 1, 2`;
  const found: string[] = [];
  for (const { table, column, type } of columns) {
    const text = type === "bytea" ? sql`encode(${sql(column)}, 'escape')` : sql`${sql(column)}::text`;
    const rows = await sql`
      select 1 from ${sql(table)} where exists (select 1 from unnest(${[...texts]}::text[]) t where position(t in ${text}) > 0) limit 1`;
    if (rows.length > 0) found.push(`${table}.${column}`);
  }
  return found;
}
