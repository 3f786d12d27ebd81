import type { Sql, Transaction } from "./connect.ts";

/** The database's time, which all processes share: for comparisons with what others have written. */
export async function databaseNow(sql: Sql | Transaction): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select now() as now`;
  return row!.now;
}
