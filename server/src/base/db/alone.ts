import type { Sql, Transaction } from "./connect.ts";

/**
 * Runs `work` unless another server holds the advisory lock, and resolves once it has ended. Rejects when the lock's
 * connection was lost meanwhile. The lock belongs to a transaction, not to a reserved connection: postgres.js ends the
 * process when a statement is sent on a reserved connection that was lost.
 *
 * @returns whether it ran
 */
export async function alone(sql: Sql, lock: number, work: () => Promise<void>): Promise<boolean> {
  let working: Promise<void> | undefined;
  try {
    return await sql.begin(async (tx) => {
      const [row] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${lock}) as mine`;
      if (!row!.mine) return false;
      await idleInTransaction(tx);
      working = work();
      await working;
      return true;
    });
  } finally {
    await working?.catch(() => {});
  }
}

/**
 * Lets a transaction be idle for as long as its caller works. The statement also ends the portal of the one before,
 * whose snapshot would keep vacuum from removing rows that are deleted meanwhile.
 */
export async function idleInTransaction(tx: Transaction): Promise<void> {
  await tx`set local idle_in_transaction_session_timeout = 0`;
}
