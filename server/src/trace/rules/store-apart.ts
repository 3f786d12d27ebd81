import type { Transaction } from "../../base/db/connect.ts";
import { isOfValue } from "./failures.ts";

/**
 * Stores rows within a transaction. If Postgres rejects a value, the rows are halved until each rejected one is alone,
 * which is passed to `reject`: it would be rejected for ever, and no other row may wait for it.
 */
export async function storeApart<T, R>(
  tx: Transaction,
  rows: readonly T[],
  store: (tx: Transaction, rows: readonly T[]) => Promise<readonly R[]>,
  reject: (row: T, error: unknown) => void,
): Promise<R[]> {
  if (rows.length === 0) return [];
  try {
    return (await tx.savepoint(async (own) => [...(await store(own, rows))])) as R[];
  } catch (error) {
    if (!isOfValue(error)) throw error;
    if (rows.length === 1) {
      reject(rows[0]!, error);
      return [];
    }
  }
  const half = rows.length >> 1;
  const first = await storeApart(tx, rows.slice(0, half), store, reject);
  return [...first, ...(await storeApart(tx, rows.slice(half), store, reject))];
}
