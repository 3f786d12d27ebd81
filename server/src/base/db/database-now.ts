import type { Sql, Transaction } from "./connect.ts";

/** Returns the database's time, the clock shared by all processes, for comparisons with stored times. */
export async function databaseNow(sql: Sql | Transaction): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select now() as now`;
  return row!.now;
}
