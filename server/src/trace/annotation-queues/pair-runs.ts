import { notFound, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { insertIntoQueue, type LocatedItem, toNewItem } from "./add-items.ts";
import { findExperimentRoots } from "./clickhouse.ts";
import { MAX_ITEMS } from "./item-schema.ts";
import { findItemIds } from "./item-sql.ts";

const BATCH = 1000;

/**
 * Adds pairs of runs to a pairwise queue; those that it has stay as they are. @returns the ids of the items, in order
 * @throws 404 for an unknown queue or run, 422 for a queue of single runs, or for a run beside itself
 */
export async function addPairs(
  { sql, clickhouse }: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  queueId: string,
  pairs: readonly { run_id: string; other_run_id: string }[],
): Promise<string[]> {
  const ids = [...new Set(pairs.flatMap((pair) => [pair.run_id, pair.other_run_id]))];
  const keys = new Map(
    (await findRunKeys(clickhouse, tenantId, ids)).filter((key) => !key.deleted).map((key) => [key.id, key]),
  );
  const located = pairs.map(({ run_id, other_run_id }): LocatedItem => {
    if (run_id === other_run_id) throw unprocessable(`The run ${run_id} cannot be compared with itself.`);
    const [key, other] = [keys.get(run_id), keys.get(other_run_id)];
    if (!key || !other) throw notFound(`Run not found: ${key ? other_run_id : run_id}`);
    return { key, other, source_proposed_example_id: null };
  });
  return (await sql.begin(async (tx) => {
    await insertIntoQueue(tx, tenantId, queueId, located);
    return findItemIds(tx, tenantId, queueId, located.map(toNewItem));
  })) as string[];
}

/** Adds the runs of two experiments that answer the same examples, as pairs. @returns their number */
export async function pairExperiments(
  { sql, clickhouse }: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  queueId: string,
  [first, second]: [string, string],
): Promise<{ matched: number; added: number }> {
  if (first === second) throw unprocessable("session_ids: an experiment cannot be compared with itself.");
  const [left, right] = await Promise.all(
    [first, second].map((id) => findExperimentRoots(clickhouse, tenantId, id, MAX_ITEMS)),
  );
  const others = new Map(right!.map((run) => [run.example_id, run]));
  const located = left!.flatMap((key): LocatedItem[] => {
    const other = others.get(key.example_id);
    return other ? [{ key, other, source_proposed_example_id: null }] : [];
  });
  let added = 0;
  for (let at = 0; at < located.length; at += BATCH) {
    const batch = located.slice(at, at + BATCH);
    added += (await sql.begin((tx) => insertIntoQueue(tx, tenantId, queueId, batch))) as number;
  }
  return { matched: located.length, added };
}
