import { AppError, notFound } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { insertIntoQueue, type LocatedItem, toNewItem } from "./add-items.ts";
import { findThreadRoots, threadKey } from "./clickhouse.ts";
import { findItemIds, type ItemPosition, type ItemRow, listItemsByIds } from "./item-sql.ts";
import type { NewQueueItem, Section } from "./queue-item-schema.ts";

/**
 * Adds runs and threads to a queue, all or none; those that it has stay as they are. A thread is represented by its
 * latest root at that time. @returns the items, in order
 * @throws 404 for an unknown queue, run or thread; 422 for a pairwise queue, or a full one
 */
export async function addQueueItems(
  deps: Pick<TraceDeps, "sql" | "clickhouse" | "writer">,
  tenantId: string,
  me: string,
  queueId: string,
  items: readonly NewQueueItem[],
  extendRetention: boolean,
): Promise<ItemRow[]> {
  const { sql, clickhouse } = deps;
  const runIds = items.flatMap((item) => (item.item_type === "RUN" ? item.run_id! : []));
  const threads = items.flatMap((item) =>
    item.item_type === "THREAD" ? { project_id: item.project_id!, thread_id: item.thread_id! } : [],
  );
  const [keys, roots] = await Promise.all([
    findRunKeys(clickhouse, tenantId, [...new Set(runIds)]),
    findThreadRoots(clickhouse, tenantId, threads),
  ]);
  const runs = new Map(keys.filter((key) => !key.deleted).map((key) => [key.id, key]));
  const located = items.map((item): LocatedItem => {
    const source_proposed_example_id = item.source_proposed_example_id ?? null;
    if (item.item_type === "THREAD") {
      const thread = { project_id: item.project_id!, thread_id: item.thread_id! };
      const key = roots.get(threadKey(thread));
      if (!key) throw notFound(`Thread not found: ${thread.thread_id}`);
      return { key, source_proposed_example_id, thread_id: thread.thread_id };
    }
    const key = runs.get(item.run_id!);
    if (!key || (item.project_id !== null && item.project_id !== key.project_id)) {
      throw notFound(`Run not found: ${item.run_id!}`);
    }
    return { key, source_proposed_example_id };
  });
  const ids = (await sql.begin(async (tx) => {
    await insertIntoQueue(tx, tenantId, queueId, located);
    return findItemIds(tx, tenantId, queueId, located.map(toNewItem));
  })) as string[];
  if (extendRetention) await extendTraces(deps, tenantId, [...runs.values()]);
  const rows = new Map((await listItemsByIds(sql, tenantId, me, queueId, ids)).map((row) => [row.queue_run_id, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

/** Returns an item as the newest clients read it. */
export const toQueueItem = (row: ItemRow) => ({
  id: row.queue_run_id,
  queue_id: row.queue_id,
  item_type: row.item_type,
  run_id: row.item_type === "THREAD" ? null : row.run_id,
  project_id: row.project_id,
  thread_id: row.thread_id,
  other_run_id: row.other_run_id,
  start_time: `${row.start_time.replace(" ", "T")}+00:00`,
  added_at: row.added_at,
  effective_added_at: row.effective_added_at,
  last_reviewed_time: row.last_reviewed_time,
  source_proposed_example_id: row.source_proposed_example_id,
  reserved_by: row.reserved_by,
  completed_by: row.completed_by,
});

export const toSection = (section: ItemRow["section"]): Section => (section === "completed" ? "archived" : section);
export const fromSection = (section: Section): ItemRow["section"] => (section === "archived" ? "completed" : section);

/** Encodes the position of an item as an opaque cursor: that after it, or with `inclusive` that before it. */
export const encodePosition = (row: ItemRow, inclusive = false): string =>
  Buffer.from(JSON.stringify([row.effective_added_at, row.queue_run_id, ...(inclusive ? [1] : [])])).toString(
    "base64url",
  );

/** Reads a cursor. @throws 400 for a text that `encodePosition` did not produce */
export function readPosition(text: string | undefined): (ItemPosition & { inclusive: boolean }) | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const [at, id, inclusive] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, string, number?];
    if (typeof at === "string" && /^\d{4}-\d{2}-\d{2}T[\d:.]{8,15}\+00:00$/.test(at) && isUuid(id)) {
      return { at, id, inclusive: inclusive === 1 };
    }
  } catch {
    // falls through
  }
  throw new AppError(400, "Invalid cursor: it must come from an earlier response to the same query");
}
