import type { Sql } from "../../base/db/connect.ts";
import { databaseUnavailable, isDatabaseUnavailable, isUnsent, retryWhileUnavailable } from "../../base/db/retry.ts";
import { type CreatedRun, type NewRun, selectRun } from "./sql.ts";

/**
 * Repeats a run's creation while the database is unavailable. A creation whose response was lost finds its run by id, unless the
 * run was temporary and has been deleted at its end: repeating it would execute the run twice. That is possible once
 * other servers could have started the run: immediately without a claim here, after half a lease with one.
 * @throws 503 when such a run is not found and may or may not have been accepted
 */
export async function acceptDespiteLostResponse(
  { sql, leaseMs }: { sql: Sql; leaseMs: number },
  run: NewRun,
  create: () => Promise<CreatedRun>,
): Promise<CreatedRun> {
  const startedAt = performance.now();
  const mayBeGone = (): boolean => run.temporary && (!run.claim || performance.now() - startedAt > leaseMs / 2);
  let lost: unknown;
  const created = await retryWhileUnavailable(() =>
    create().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error) || isUnsent(error) || !mayBeGone()) throw error;
      lost = error;
      return undefined;
    }),
  );
  if (created !== undefined) return created;
  const wire = await retryWhileUnavailable(() => selectRun(sql, run.threadId, run.runId));
  if (wire === undefined) throw databaseUnavailable(lost);
  return { ...EXISTING, run: wire };
}

/** Of a creation whose run exists already. */
export const EXISTING = {
  outcome: "exists",
  graph_id: "",
  claimed: false,
  kwargs: "",
  fresh_thread: false,
  head: null,
  cancelled: [] as string[],
} as const;
