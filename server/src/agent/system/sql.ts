import type { Sql } from "../../base/db/connect.ts";

export interface QueueDepth {
  /** May start as soon as its thread and a slot are free. */
  due: number;
  /** Not due yet: after_seconds, or the pause before a retry. */
  later: number;
  running: number;
  /** Wait of the oldest due run in seconds. */
  oldest_due: number;
}

/** Served by the partial index runs_inflight, whose size is the queue's. */
export async function selectQueueDepth(sql: Sql): Promise<QueueDepth> {
  const [row] = await sql<QueueDepth[]>`
    select count(*) filter (where status = 'pending' and available_at <= now())::int as due,
           count(*) filter (where status = 'pending' and available_at > now())::int as later,
           count(*) filter (where status = 'running')::int as running,
           coalesce(extract(epoch from now() - min(available_at) filter (where status = 'pending' and available_at <= now())), 0)::float8
             as oldest_due
    from runs where status in ('pending', 'running')`;
  return row!;
}
