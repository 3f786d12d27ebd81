import type { Sql } from "./connect.ts";

/** Extends a temporary table by 1 MB and rolls back. @throws 53100 while Postgres' disk is full */
export async function probeSpace(sql: Sql): Promise<void> {
  const rollBack = new Error("roll back");
  try {
    await sql.begin(async (tx) => {
      await tx`create temporary table heddle_space_probe (filler text) on commit drop`;
      // short enough to be neither compressed nor moved out of the row
      await tx`insert into heddle_space_probe select repeat('x', 1900) from generate_series(1, 512)`;
      throw rollBack;
    });
  } catch (error) {
    if (error !== rollBack) throw error;
  }
}
