import type { AccessCondition } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { permits } from "../custom-auth/conditions.ts";
import type { Queue } from "./schema.ts";

/** Conditions on the metadata of the runs' threads, from the caller's access rules. */
type Sees = readonly AccessCondition[];

interface Selection {
  limit: number;
  /** Only this run. */
  runId?: string | undefined;
}

/**
 * Lists pending runs with the reason why each waits. Reasons are in the order in which `claim_runs` checks them; a run
 * that none applies to waits for a slot.
 */
export function selectWaiting(sql: Sql, { limit, runId }: Selection, sees: Sees): Promise<Queue["waiting"]> {
  return sql<Queue["waiting"]>`
    with waiting as (
      select r.run_id, r.thread_id, r.assistant_id, r.created_at, r.available_at, r.attempt, r.seq,
        r.flow ->> 'lane' as lane, waits_since(r) as since
      from runs r join threads t on t.thread_id = r.thread_id
      where r.status = 'pending' and ${permits(sql, "t.metadata", sees)} ${only(sql, runId)} order by r.seq limit ${limit}
    ), judged as (
      select w.*, a.graph_id,
        case when t.running_run_id is distinct from w.run_id then t.running_run_id end as runs_now,
        (select e.run_id from runs e
         where e.thread_id = w.thread_id and e.seq < w.seq and e.status = 'pending'
           and (e.available_at <= greatest(now(), e.created_at) or e.attempt > 0)
         order by e.seq desc limit 1) as before_it,
        exists (select 1 from servers s where a.graph_id = any (s.graphs)) as has_server,
        l.blocked_on
      from waiting w
      join threads t on t.thread_id = w.thread_id
      left join assistants a on a.assistant_id = w.assistant_id
      left join run_lanes l on l.lane = w.lane
    )
    select run_id, thread_id, assistant_id, graph_id, created_at, available_at, attempt,
      case
        when available_at > now() then 'starts_later'
        when runs_now is not null then 'thread_busy'
        when before_it is not null then 'behind_another'
        when not has_server then 'no_server_has_graph'
        when blocked_on like 'concurrency %' then 'concurrency_limit'
        when blocked_on is not null then 'throttled'
        else 'no_free_slot'
      end as reason,
      case when has_server and available_at <= now() and runs_now is null and before_it is null
        then regexp_replace(blocked_on, '^concurrency |^throttle | [0-9./e+-]+$', '', 'g') end as limited_by,
      greatest(0, extract(epoch from now() - since))::float8 as waiting_seconds,
      case when available_at > now() then null else coalesce(runs_now, before_it) end as waits_for
    from judged order by seq`;
}

const only = (sql: Sql, runId: string | undefined) => (runId === undefined ? sql`` : sql`and r.run_id = ${runId}`);

export function selectRunning(sql: Sql, { limit, runId }: Selection, sees: Sees): Promise<Queue["running"]> {
  return sql<Queue["running"]>`
    select r.run_id, r.thread_id, r.assistant_id, a.graph_id, r.server_id, r.started_at, r.attempt, r.failures,
      r.cancel_action is not null as cancelling
    from runs r join threads t on t.thread_id = r.thread_id
    left join assistants a on a.assistant_id = r.assistant_id
    where r.status = 'running' and ${permits(sql, "t.metadata", sees)} ${only(sql, runId)} order by r.started_at limit ${limit}`;
}

/**
 * Lists what interrupted threads wait for. A row of a thread with another status is of a wait that has just ended, or
 * that an error stops.
 */
export function selectWaits(sql: Sql, { limit, runId }: Selection, sees: Sees): Promise<Queue["waits"]> {
  return sql<Queue["waits"]>`
    select r.run_id, w.thread_id, r.assistant_id, a.graph_id, w.interrupt_id, w.signal, w.due_at as until,
      r.ended_at as since, extract(epoch from now() - r.ended_at)::float8 as waiting_seconds
    from thread_waits w join threads t on t.thread_id = w.thread_id
    left join lateral (select run_id, assistant_id, ended_at from runs where runs.thread_id = w.thread_id
                       order by seq desc limit 1) r on true
    left join assistants a on a.assistant_id = r.assistant_id
    where t.status = 'interrupted' and ${permits(sql, "t.metadata", sees)} ${only(sql, runId)}
    order by w.due_at nulls last, w.thread_id, w.interrupt_id limit ${limit}`;
}

export async function selectCounts(sql: Sql, sees: Sees): Promise<Pick<Queue, "counts" | "oldest_pending_at">> {
  const [row] = await sql<{ pending: number; running: number; waits: number; oldest: string | null }[]>`
    select count(*) filter (where r.status = 'pending')::int as pending,
      count(*) filter (where r.status = 'running')::int as running,
      (select count(*)::int from thread_waits w join threads t on t.thread_id = w.thread_id
       where t.status = 'interrupted' and ${permits(sql, "t.metadata", sees)}) as waits,
      min(waits_since(r)) filter (where r.status = 'pending' and r.available_at <= now()) as oldest
    from runs r join threads t on t.thread_id = r.thread_id
    where r.status in ('pending', 'running') and ${permits(sql, "t.metadata", sees)}`;
  const { oldest, ...counts } = row!;
  return { counts, oldest_pending_at: oldest };
}

export function selectServers(sql: Sql, thisServer: string, leaseSecs: number): Promise<Queue["servers"]> {
  return sql<Queue["servers"]>`
    select s.server_id, s.host_name, s.started_at, s.heartbeat_at, s.server_id = ${thisServer} as is_this, s.graphs, s.slots,
      s.heartbeat_at >= now() - make_interval(secs => ${leaseSecs}) as is_alive,
      (select count(*)::int from runs r where r.status = 'running' and r.server_id = s.server_id) as running
    from servers s order by s.started_at limit 1000`;
}
