import type { Sql } from "../../base/db/connect.ts";

/** A key within its scope, and the index of the run in a batch. */
export interface KeyPart {
  scope: string;
  key: string;
  part: number;
}

export interface Reservation {
  /** Hash of the operation and its body. */
  fingerprint: string;
  run_id: string;
  thread_id: string;
}

export interface Reserved extends Reservation {
  /** The run's row as it was accepted, without kwargs; null before that. */
  run: Record<string, unknown> | null;
}

/** Reserves ids for the request, or returns those that this or another request with the same key has reserved. */
export async function reserveKey(
  sql: Sql,
  { scope, key, part }: KeyPart,
  { fingerprint, run_id, thread_id }: Reservation,
  hours: number,
): Promise<Reserved> {
  const old = sql`k.created_at < now() - make_interval(secs => ${hours * 3600})`;
  const [row] = await sql<Reserved[]>`
    insert into idempotency_keys as k (scope, key, part, fingerprint, run_id, thread_id)
    values (${scope}, ${key}, ${part}, ${fingerprint}, ${run_id}, ${thread_id})
    on conflict (scope, key, part) do update set
      fingerprint = case when ${old} then excluded.fingerprint else k.fingerprint end,
      run_id = case when ${old} then excluded.run_id else k.run_id end,
      thread_id = case when ${old} then excluded.thread_id else k.thread_id end,
      run = case when not ${old} then k.run end,
      created_at = case when ${old} then now() else k.created_at end
    returning fingerprint, run_id, thread_id, run`;
  return row!;
}

/** Releases the key of a rejected request. */
export async function releaseKey(sql: Sql, { scope, key, part }: KeyPart, runId: string): Promise<void> {
  await sql`
    delete from idempotency_keys
    where scope = ${scope} and key = ${key} and part = ${part} and run_id = ${runId} and run is null`;
}

/** @returns the number of deleted keys, at most `limit`. Index idempotency_keys_by_age */
export async function deleteOldKeys(sql: Sql, hours: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from idempotency_keys k using (
      select scope, key, part from idempotency_keys where created_at < now() - make_interval(secs => ${hours * 3600})
      order by created_at limit ${limit} for update skip locked
    ) old where k.scope = old.scope and k.key = old.key and k.part = old.part
    returning 1`;
  return deleted.length;
}
