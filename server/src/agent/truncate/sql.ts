import type { Sql } from "../../base/db/connect.ts";
import { systemAssistantId } from "../project/assistant-id.ts";

/** Threads, some at a time. */
export async function selectSomeThreads(sql: Sql): Promise<string[]> {
  const rows = await sql<{ thread_id: string }[]>`select thread_id from threads limit 500`;
  return rows.map((row) => row.thread_id);
}

/** Deletes finished runs; threads keep their state. */
export async function deleteFinishedRuns(sql: Sql): Promise<void> {
  await sql`delete from runs where status not in ('pending', 'running')`;
}

/** Assistants other than the default ones of these graphs. */
export async function selectOtherAssistants(sql: Sql, graphIds: string[]): Promise<string[]> {
  const rows = await sql<{ assistant_id: string }[]>`
    select assistant_id from assistants where assistant_id <> all(${graphIds.map(systemAssistantId)}::uuid[])`;
  return rows.map((row) => row.assistant_id);
}

/** Deletes the checkpoints of threads without an unfinished run. */
export async function deleteAllCheckpoints(sql: Sql): Promise<void> {
  await sql`
    with free as (
      update threads set values = null, interrupts = '{}', settled_status = 'idle', status = 'idle', updated_at = now()
      where status <> 'busy' returning thread_id::text
    ), checkpoints_gone as (
      delete from checkpoints using free f where checkpoints.thread_id = f.thread_id
    ), blobs_gone as (
      delete from checkpoint_blobs using free f where checkpoint_blobs.thread_id = f.thread_id
    )
    delete from checkpoint_writes using free f where checkpoint_writes.thread_id = f.thread_id`;
}

export async function deleteAllItems(sql: Sql): Promise<void> {
  await sql`delete from store_items`;
}
