import type { Sql } from "../../base/db/connect.ts";
import type { ThreadTtl } from "../threads/schema.ts";

/**
 * Claims a sweep's interval: true for one server per interval. A due date beyond the interval was set with a longer
 * interval and is void.
 */
export async function takeSweep(sql: Sql, sweep: string, intervalSecs: number): Promise<boolean> {
  const rows = await sql`
    insert into sweeps as s (sweep, due_at) values (${sweep}, now() + make_interval(secs => ${intervalSecs}))
    on conflict (sweep) do update set due_at = excluded.due_at
    where s.due_at <= now() or s.due_at > excluded.due_at
    returning 1`;
  return rows.length > 0;
}

/** Sets the default time to live of new threads that do not set their own; null: none. */
export async function setThreadTtlDefault(sql: Sql, ttl: ThreadTtl | null): Promise<void> {
  if (ttl === null) return void (await sql`delete from thread_ttl_default`);
  await sql`
    insert into thread_ttl_default as d (strategy, minutes) values (${ttl.strategy}, ${ttl.minutes})
    on conflict (one) do update set strategy = excluded.strategy, minutes = excluded.minutes
    where (d.strategy, d.minutes) is distinct from (excluded.strategy, excluded.minutes)`;
}

export interface StampedBatch {
  stamped: number;
  locked: number;
  /** Time of the newest thread of the batch, as text; null: it is empty. */
  last: string | null;
}

/**
 * Applies the default time to live to up to `limit` threads that have none and are newer than the watermark. The
 * watermark follows, and stays behind locked threads. Index threads_by_creation. Ten minutes cover the longest
 * transaction that creates a thread.
 * @param after time, as text, at which the batch begins; null: the watermark
 * @param keeps whether the watermark stays
 */
export async function stampBatch(sql: Sql, limit: number, after: string | null, keeps: boolean): Promise<StampedBatch> {
  const [row] = await sql<StampedBatch[]>`
    with d as materialized (
      select * from thread_ttl_default
    ), candidate as materialized (
      -- not a join: the planner would read all threads
      select t.thread_id, t.created_at from threads t
      where t.created_at >= (select greatest(watermark, ${after}::text::timestamptz) from d) and t.ttl_minutes is null
      order by t.created_at limit ${limit}
    ), free as materialized (
      select thread_id from threads where thread_id in (select thread_id from candidate) for update skip locked
    ), stamped as (
      update threads t set ttl_strategy = d.strategy, ttl_minutes = d.minutes
      from free, d where t.thread_id = free.thread_id returning t.thread_id
    ), moved as (
      update thread_ttl_default set watermark = greatest(watermark, coalesce(
        (select min(created_at) from candidate where thread_id not in (select thread_id from free)),
        (select max(created_at) from candidate having count(*) = ${limit}),
        now() - interval '10 minutes'))
      where not ${keeps}
    )
    select (select count(*) from stamped)::int as stamped,
           (select count(*) from candidate where thread_id not in (select thread_id from free))::int as locked,
           (select max(created_at) from candidate)::text as last`;
  return row!;
}

/** Expired threads, longest expired first. Index threads_expiring. */
export async function selectExpiredThreads(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ thread_id: string }[]>`
    select thread_id from threads where expires_at <= now() and status <> 'busy' order by expires_at limit ${limit}`;
  return rows.map((row) => row.thread_id);
}

/**
 * Deletes or prunes one expired thread.
 * @returns false when it was skipped: it is locked, has a run, or has changed since it was selected
 */
export async function expireThread(sql: Sql, threadId: string): Promise<boolean> {
  const [row] = await sql<{ done: boolean }[]>`select expire_thread(${threadId}) as done`;
  return row!.done;
}
