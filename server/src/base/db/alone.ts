import type { Sql } from "./connect.ts";

/** Runs `work` unless another server holds the advisory lock. @returns whether it ran */
export async function alone(sql: Sql, lock: number, work: () => Promise<void>): Promise<boolean> {
  const connection = await sql.reserve();
  try {
    const [row] = await connection<{ mine: boolean }[]>`select pg_try_advisory_lock(${lock}) as mine`;
    if (!row!.mine) return false;
    try {
      await work();
      return true;
    } finally {
      await connection`select pg_advisory_unlock(${lock})`;
    }
  } finally {
    connection.release();
  }
}
