import type { Sql } from "../../base/db/connect.ts";

export interface QueueDepth {
  /** May start as soon as its thread and a slot are free. */
  due: number;
  /** Due, and beyond a limit of flow control. */
  concurrency_limit: number;
  throttled: number;
  /** Not due yet: after_seconds, or the pause before a retry. */
  later: number;
  running: number;
  /** Wait in seconds of the oldest due run that is within its limits. */
  oldest_due: number;
}

/** Served by the partial index runs_inflight, whose size is the queue's. */
export async function selectQueueDepth(sql: Sql): Promise<QueueDepth> {
  const [row] = await sql<QueueDepth[]>`
    select count(*) filter (where state = 'due')::int as due,
           count(*) filter (where state = 'concurrency_limit')::int as concurrency_limit,
           count(*) filter (where state = 'throttled')::int as throttled,
           count(*) filter (where state = 'later')::int as later,
           count(*) filter (where state = 'running')::int as running,
           coalesce(extract(epoch from now() - min(since) filter (where state = 'due')), 0)::float8 as oldest_due
    from (
      select waits_since(r) as since,
        case when r.status = 'running' then 'running'
             when r.available_at > now() then 'later'
             when l.blocked_on like 'concurrency %' then 'concurrency_limit'
             when l.blocked_on is not null then 'throttled'
             else 'due' end as state
      from runs r left join run_lanes l on l.lane = r.flow ->> 'lane'
      where r.status in ('pending', 'running')
    ) r`;
  return row!;
}
