import type { Sql } from "../src/base/db/connect.ts";

/** Returns the rows of a table that the statements of `work` read, whether by a scan or by an index. Nothing is kept. */
export async function rowsRead(sql: Sql, table: string, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let read = 0;
  const undo = new Error("rolled back");
  await sql
    .begin(async (tx) => {
      await work(tx as unknown as Sql);
      const [row] = await tx<{ read: number }[]>`
        select (pg_stat_get_xact_tuples_returned(${table}::regclass) + pg_stat_get_xact_tuples_fetched(${table}::regclass)
          + coalesce((select sum(pg_stat_get_xact_tuples_fetched(indexrelid)) from pg_index
                      where indrelid = ${table}::regclass), 0))::int as read`;
      read = row!.read;
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return read;
}
