import type { Transaction } from "../../base/db/connect.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import { findRunKeys, type RunKey } from "../run-rows/clickhouse.ts";
import { MAX_ITEMS } from "./item-schema.ts";
import { findItems, insertItems, lockQueue, type NewItem } from "./item-sql.ts";
import { findQueueRow } from "./sql.ts";

type Deps = Pick<TraceDeps, "sql" | "clickhouse" | "writer">;

export interface RunToAdd {
  run_id: string;
  /** Project that the run must belong to. */
  session_id?: string | null;
  source_proposed_example_id?: string | null | undefined;
}

/**
 * Adds runs to a queue, all or none; a run that the queue has stays where it is.
 *
 * @returns the items of the runs, in order, as a JSON array
 * @throws 404 for an unknown queue or run, 422 when the queue would become too long
 */
export async function addItems(
  deps: Deps,
  tenantId: string,
  queueId: string,
  runs: readonly RunToAdd[],
  extendRetention: boolean,
): Promise<string> {
  const distinct = [...new Map(runs.map((run) => [run.run_id, run])).values()];
  const ids = distinct.map((run) => run.run_id);
  const keys = await findRunKeys(deps.clickhouse, tenantId, ids);
  const known = new Map(keys.filter((key) => !key.deleted).map((key) => [key.id, key]));
  const missing = distinct.find(({ run_id, session_id }) => {
    const key = known.get(run_id);
    return !key || (session_id != null && session_id !== key.project_id);
  });
  if (missing) throw notFound(`Run not found: ${missing.run_id}`);
  const items = distinct.map((run) => ({
    key: known.get(run.run_id)!,
    source_proposed_example_id: run.source_proposed_example_id ?? null,
  }));
  const text = await deps.sql.begin(async (tx) => {
    await insertIntoQueue(tx, tenantId, queueId, items);
    return findItems(tx, tenantId, queueId, ids);
  });
  if (extendRetention) await extendTraces(deps, tenantId, [...known.values()]);
  return text as string;
}

export interface LocatedItem {
  key: Omit<RunKey, "deleted">;
  source_proposed_example_id: string | null;
  thread_id?: string | undefined;
  /** The other run of a pair. */
  other?: Omit<RunKey, "deleted"> | undefined;
}

/** Inserts located items. @returns the number of new items. @throws 404 for an unknown queue, 422 for a full one */
export async function insertIntoQueue(
  tx: Transaction,
  tenantId: string,
  queueId: string,
  located: readonly LocatedItem[],
): Promise<number> {
  const size = await lockQueue(tx, tenantId, queueId);
  if (size === undefined) throw notFound("Annotation queue not found");
  const queue = await findQueueRow(tx, tenantId, queueId);
  const isPairwise = queue?.queue_type === "pairwise";
  if (located.some(({ other }) => (other !== undefined) !== isPairwise)) {
    throw unprocessable(
      isPairwise
        ? "The queue is pairwise: add pairs of runs (POST /api/v1/annotation-queues/{queue_id}/pairs)."
        : "The queue is not pairwise: it takes runs and threads, not pairs.",
    );
  }
  const added = await insertItems(tx, tenantId, queueId, located.map(toNewItem));
  if (size + added > MAX_ITEMS) {
    throw unprocessable(
      `An annotation queue has at most ${MAX_ITEMS} runs; this one has ${size}. Delete completed runs, or create another queue.`,
    );
  }
  return added;
}

export const toNewItem = ({ key, source_proposed_example_id, thread_id, other }: LocatedItem): NewItem => ({
  queue_run_id: uuid7(),
  run_id: key.id,
  project_id: key.project_id,
  trace_id: key.trace_id,
  start_time: key.start_time,
  source_proposed_example_id,
  item_type: other ? "PAIR" : thread_id !== undefined ? "THREAD" : "RUN",
  thread_id: thread_id ?? null,
  other: other
    ? { run_id: other.id, project_id: other.project_id, trace_id: other.trace_id, start_time: other.start_time }
    : null,
});
