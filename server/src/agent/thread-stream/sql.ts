import type { Sql } from "../../base/db/connect.ts";

/** Position of a run in its thread, whose runs are executed one after the other. */
export interface RunPosition {
  run_id: string;
  /** Microseconds since 1970, as text: a bigint. */
  started: string;
  seq: string;
}

export interface StartedRun extends RunPosition {
  is_final: boolean;
}

/** The next runs of a thread that have started; `after` null: from the first. Index runs_by_thread. */
export function selectStartedRuns(sql: Sql, threadId: string, after: RunPosition | null): Promise<StartedRun[]> {
  return sql<StartedRun[]>`
    select * from (
      select run_id, (extract(epoch from started_at) * 1000000)::bigint::text as started, seq::text as seq,
             status not in ('pending', 'running') as is_final
      from runs where thread_id = ${threadId} and started_at is not null
    ) r
    where ${after === null} or (r.started::bigint, r.seq::bigint) > (${after?.started ?? "0"}::bigint, ${after?.seq ?? "0"}::bigint)
    order by r.started::bigint, r.seq::bigint limit 50`;
}

/** The run that started last. */
export async function selectLastStarted(sql: Sql, threadId: string): Promise<StartedRun | undefined> {
  const [row] = await sql<StartedRun[]>`
    select run_id, (extract(epoch from started_at) * 1000000)::bigint::text as started, seq::text as seq,
           status not in ('pending', 'running') as is_final
    from runs where thread_id = ${threadId} and started_at is not null
    order by started_at desc, runs.seq desc limit 1`;
  return row;
}

export async function selectRunPosition(sql: Sql, threadId: string, runId: string): Promise<StartedRun | undefined> {
  const [row] = await sql<StartedRun[]>`
    select run_id, (extract(epoch from coalesce(started_at, created_at)) * 1000000)::bigint::text as started,
           seq::text as seq, status not in ('pending', 'running') as is_final
    from runs where thread_id = ${threadId} and run_id = ${runId}`;
  return row;
}

export interface ThreadVersion {
  thread_id: string;
  /** Changes when a run starts. */
  runs: string;
  /** Changes when the state does. */
  state: string;
}

/** Change markers of threads; deleted threads are missing. */
export function selectThreadSigns(sql: Sql, threadIds: string[]): Promise<ThreadVersion[]> {
  return sql<ThreadVersion[]>`
    select t.thread_id, t.state_updated_at::text as state,
           coalesce((select max(r.started_at)::text from runs r where r.thread_id = t.thread_id), '') as runs
    from threads t where t.thread_id = any(${threadIds}::uuid[])`;
}

/** The thread's state as JSON text. */
export async function selectThreadState(sql: Sql, threadId: string): Promise<string | undefined> {
  const [row] = await sql<{ state: string }[]>`
    select json_build_object('thread_id', thread_id, 'status', status, 'values', values, 'interrupts', interrupts,
                             'updated_at', state_updated_at)::text as state
    from threads where thread_id = ${threadId}`;
  return row?.state;
}
