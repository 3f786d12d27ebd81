import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface Candidate {
  /** Bigint as text. */
  candidate_id: string;
  tenant_id: string;
  project_id: string;
  run_id: string;
  trace_id: string;
  /** `YYYY-MM-DD hh:mm:ss.ffffff` in UTC. */
  start_time: string;
  /** Set by a back-fill or a trigger: only this rule. */
  rule_id: string | null;
  /** Rules that have to look at the run; null: all of the workspace, or `rule_id`. */
  rule_ids: string[] | null;
  /** As `start_time`: the run's row must be at least as new, or the candidate waits; null: any will do. */
  awaited: string | null;
  /** Recorded less than AWAITED_SECONDS ago. */
  is_fresh: boolean;
}

const NIL = "00000000-0000-0000-0000-000000000000";
const TENANTS = 50;
/** Longer than a replica that answers lacks what most replicas have, and than a create is behind an update. */
const AWAITED_SECONDS = 60;

/**
 * Claims candidates until the transaction ends: about the same number of each of the next workspaces after `after`, and
 * of a workspace those of new runs before those of back-fills, oldest first. Other processes skip them.
 *
 * The workspaces are found by skipping through rule_candidates_by_tenant.
 */
export async function claimCandidates(tx: Transaction, after: string | undefined, limit: number): Promise<Candidate[]> {
  const from = (start: string) => tx<Candidate[]>`
    with recursive waiting (tenant_id, n) as (
      (select tenant_id, 1 from rule_candidates where tenant_id > ${start} order by tenant_id limit 1)
      union all
      select (select c.tenant_id from rule_candidates c where c.tenant_id > w.tenant_id order by c.tenant_id limit 1), n + 1
      from waiting w where w.tenant_id is not null and n < ${TENANTS}
    ), turn as (select tenant_id from waiting where tenant_id is not null)
    select c.candidate_id::text, c.tenant_id, c.project_id, c.run_id, c.trace_id, c.rule_id, c.rule_ids,
      to_char(c.start_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as start_time,
      c.is_fresh, case when c.is_fresh
        then to_char(c.written_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') end as awaited
    from turn cross join lateral (
      select own.*, own.recorded_at > now() - make_interval(secs => ${AWAITED_SECONDS}) as is_fresh
      from rule_candidates own where own.tenant_id = turn.tenant_id
      order by (own.rule_id is not null), own.candidate_id
      limit (select greatest(1, ${limit} / count(*)) from turn)
      for update skip locked) c`;
  const rows = await from(after ?? NIL);
  return rows.length > 0 || after === undefined ? rows : from(NIL);
}

export async function deleteCandidates(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx`delete from rule_candidates where candidate_id = any(${ids as string[]}::text[]::bigint[])`;
}

/** Moves candidates that have to wait behind the others of their workspace. */
export async function requeueCandidates(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    update rule_candidates set candidate_id = default where candidate_id = any(${ids as string[]}::text[]::bigint[])`;
}

/** Decision about a run or a thread. Times: `YYYY-MM-DD hh:mm:ss.ffffff` in UTC. */
export interface NewMatch {
  tenant_id: string;
  rule_id: string;
  run_id: string;
  match_id: string;
  project_id: string;
  trace_id: string;
  start_time: string;
  thread_id: string | null;
  run_name: string | null;
  run_type: string | null;
  end_time: string | null;
  is_backfill: boolean;
  status: "pending" | "skipped" | "failed";
  reason: string | null;
}

const byKey = (a: NewMatch, b: NewMatch): number => (key(a) < key(b) ? -1 : 1);
const key = (row: NewMatch): string => row.tenant_id + row.rule_id + row.run_id;

/**
 * Stores decisions, unless there is one about the same rule and run; one against a run that was not sampled makes way
 * for a match by another rate. In the order of the key, so that processes that
 * store the same decisions do not deadlock.
 * @returns the statuses of the new ones
 */
export async function insertMatches(tx: Transaction, rows: readonly NewMatch[]): Promise<NewMatch["status"][]> {
  if (rows.length === 0) return [];
  // a run that was moved to another thread may be the last of both
  const distinct = new Map(rows.map((row) => [key(row), row]));
  const sorted = [...distinct.values()].sort(byKey);
  const column = (name: Exclude<keyof NewMatch, "is_backfill">) => sorted.map((row) => row[name]) as string[];
  const inserted = await tx<{ status: NewMatch["status"] }[]>`
    insert into rule_matches (tenant_id, rule_id, run_id, match_id, project_id, trace_id, start_time, thread_id, run_name,
      run_type, end_time, is_backfill, status, reason, ended_at)
    select tenant_id, rule_id, run_id, match_id, project_id, trace_id, start_time at time zone 'UTC', thread_id, run_name,
      run_type, end_time at time zone 'UTC', is_backfill, status, reason, case when status <> 'pending' then now() end
    from unnest(${column("tenant_id")}::text[]::uuid[], ${column("rule_id")}::text[]::uuid[],
      ${column("run_id")}::text[]::uuid[], ${column("match_id")}::text[]::uuid[], ${column("project_id")}::text[]::uuid[],
      ${column("trace_id")}::text[]::uuid[], ${column("start_time")}::text[]::timestamp[], ${column("thread_id")}::text[],
      ${column("run_name")}::text[], ${column("run_type")}::text[], ${column("end_time")}::text[]::timestamp[],
      ${sorted.map((row) => String(row.is_backfill))}::text[]::boolean[], ${column("status")}::text[],
      ${column("reason")}::text[])
      as g (tenant_id, rule_id, run_id, match_id, project_id, trace_id, start_time, thread_id, run_name, run_type,
        end_time, is_backfill, status, reason)
    on conflict (tenant_id, rule_id, run_id) do update set status = 'pending', reason = null, ended_at = null,
      matched_at = now(), available_at = now(), is_backfill = excluded.is_backfill
      where rule_matches.status = 'skipped' and rule_matches.reason = 'not_sampled' and excluded.status = 'pending'
    returning status`;
  return inserted.map((row) => row.status);
}

/** A thread's newest root as of a batch. */
export interface ThreadActivity {
  tenant_id: string;
  rule_id: string;
  project_id: string;
  thread_id: string;
  last_run_id: string;
  last_start_time: string;
  trace_id: string;
  run_name: string | null;
  run_type: string | null;
  end_time: string | null;
  /** Whether one of the batch's roots matches. */
  matched: boolean;
  is_backfill: boolean;
  idle_seconds: number;
}

const threadKey = (row: ThreadActivity): string => row.tenant_id + row.rule_id + row.project_id + row.thread_id;

/** Records activity in threads. A thread stays matched; its last run is the one that began last. */
export async function upsertThreads(tx: Transaction, rows: readonly ThreadActivity[]): Promise<never[]> {
  if (rows.length === 0) return [];
  const sorted = rows.toSorted((a, b) => (threadKey(a) < threadKey(b) ? -1 : 1));
  const column = (name: keyof ThreadActivity) =>
    sorted.map((row) => (row[name] === null ? null : String(row[name]))) as string[];
  const newest = (name: string) =>
    tx.unsafe(`${name} = case when
    (excluded.last_start_time, excluded.last_run_id) >= (t.last_start_time, t.last_run_id)
    then excluded.${name} else t.${name} end`);
  await tx`
    insert into rule_threads as t (tenant_id, rule_id, project_id, thread_id, last_run_id, last_start_time, trace_id,
      run_name, run_type, end_time, matched, is_backfill, due_at)
    select tenant_id, rule_id, project_id, thread_id, last_run_id, last_start_time at time zone 'UTC', trace_id, run_name,
      run_type, end_time at time zone 'UTC', matched, is_backfill, now() + make_interval(secs => idle_seconds)
    from unnest(${column("tenant_id")}::text[]::uuid[], ${column("rule_id")}::text[]::uuid[],
      ${column("project_id")}::text[]::uuid[], ${column("thread_id")}::text[], ${column("last_run_id")}::text[]::uuid[],
      ${column("last_start_time")}::text[]::timestamp[], ${column("trace_id")}::text[]::uuid[],
      ${column("run_name")}::text[], ${column("run_type")}::text[], ${column("end_time")}::text[]::timestamp[],
      ${column("matched")}::text[]::boolean[], ${column("is_backfill")}::text[]::boolean[],
      ${column("idle_seconds")}::text[]::int[])
      as g (tenant_id, rule_id, project_id, thread_id, last_run_id, last_start_time, trace_id, run_name, run_type,
        end_time, matched, is_backfill, idle_seconds)
    on conflict (tenant_id, rule_id, project_id, thread_id) do update set
      ${newest("trace_id")}, ${newest("run_name")}, ${newest("run_type")}, ${newest("end_time")},
      ${newest("is_backfill")}, ${newest("last_run_id")}, ${newest("last_start_time")},
      matched = t.matched or excluded.matched, due_at = excluded.due_at, touched_at = now()`;
  return [];
}

export interface DueThread {
  tenant_id: string;
  rule_id: string;
  project_id: string;
  thread_id: string;
  last_run_id: string;
  last_start_time: string;
  trace_id: string;
  run_name: string | null;
  run_type: string | null;
  end_time: string | null;
  matched: boolean;
  is_backfill: boolean;
  sampling_rate: number;
}

const micros = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`;

/**
 * Takes threads that have been idle long enough; of disabled rules, among them transient ones, only those of back-fills.
 * Served by rule_threads_due.
 */
export const takeDueThreads = (tx: Transaction, limit: number): Promise<DueThread[]> => tx<DueThread[]>`
  update rule_threads t set due_at = 'infinity'
  from (select d.tenant_id, d.rule_id, d.project_id, d.thread_id, r.sampling_rate
        from rule_threads d join rules r using (tenant_id, rule_id)
        where d.due_at <= now() and (r.is_enabled or d.is_backfill) and r.group_by is not null
        order by d.due_at limit ${limit} for update of d skip locked) due
  where t.tenant_id = due.tenant_id and t.rule_id = due.rule_id and t.project_id = due.project_id
    and t.thread_id = due.thread_id
  returning t.tenant_id, t.rule_id, t.project_id, t.thread_id, t.last_run_id, t.trace_id, t.run_name, t.run_type,
    t.matched, t.is_backfill, due.sampling_rate, ${tx.unsafe(micros("t.last_start_time"))} as last_start_time,
    ${tx.unsafe(micros("t.end_time"))} as end_time`;

/** Milliseconds until the next thread is due, at least 0; null when none waits. */
export async function nextDueThread(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }[]>`
    select greatest(0, extract(epoch from min(due_at) - now()) * 1000)::float8 as ms from (
      select due_at from rule_threads where due_at < 'infinity' order by due_at limit 1) first`;
  return row?.ms ?? null;
}

/**
 * Deletes ended decisions about runs that ended more than `days` ago: their candidates are ignored from then on.
 * @returns the number of deleted rows
 */
export async function pruneMatches(sql: Sql, days: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from rule_matches where ctid = any(array(
      select ctid from rule_matches
      where status <> 'pending' and matched_at < now() - make_interval(days => ${days})
        and coalesce(end_time, start_time) < now() - make_interval(days => ${days})
      order by matched_at limit ${limit} for update skip locked)) returning 1`;
  return deleted.length;
}

/** Deletes decisions against runs that were not sampled: the same hash decides again. */
export async function pruneUnsampled(sql: Sql, days: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from rule_matches where ctid = any(array(
      select ctid from rule_matches
      where reason = 'not_sampled' and status = 'skipped' and matched_at < now() - make_interval(days => ${days})
      order by matched_at limit ${limit} for update skip locked)) returning 1`;
  return deleted.length;
}

/** Deletes threads without activity for so long. */
export async function pruneThreads(sql: Sql, days: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from rule_threads where ctid = any(array(
      select ctid from rule_threads where touched_at < now() - make_interval(days => ${days}) and due_at = 'infinity'
      order by touched_at limit ${limit} for update skip locked)) returning 1`;
  return deleted.length;
}

/** Counts waiting candidates, up to 100,000, and measures the age of the oldest in seconds. */
export async function measureCandidates(sql: Sql): Promise<{ count: number; oldest: number }> {
  const [row] = await sql<{ count: number; oldest: number }[]>`
    select count(*)::int as count,
      greatest(0, coalesce(extract(epoch from now() - min(recorded_at)), 0))::float8 as oldest
    from (select recorded_at from rule_candidates order by candidate_id limit 100000) oldest`;
  return row!;
}
