import type { Sql } from "../../base/db/connect.ts";
import { stampBatch } from "./sql.ts";

/**
 * Applies the default time to live to all threads that runs have made since the last pass, in batches. It is not applied
 * at creation, because every stateless run creates a thread. Locked threads are left for the next pass.
 * @returns the count of threads that got it
 */
export async function stampThreads(sql: Sql, size: number, isStopped = () => false): Promise<number> {
  let after: string | null = null;
  let hasLocked = false;
  for (let total = 0; ;) {
    const { stamped, locked, last } = await stampBatch(sql, size, after, hasLocked);
    total += stamped;
    hasLocked ||= locked > 0;
    const isLast = stamped + locked < size || (stamped === 0 && last === after);
    if (isLast || isStopped()) return total;
    after = last;
  }
}
