import type { AccessCondition } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { permits } from "../custom-auth/conditions.ts";
import type { RunStatus } from "../streams/finished-run.ts";
import type { TaskState } from "./generation.ts";

/** A task: a run, and the later runs that answered its interrupts. Those name the task in `metadata.a2a_task_id`. */
export interface TaskRow {
  task_id: string;
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: RunStatus;
  error: { message?: string } | null;
  input: unknown;
  /** Whether it was cancelled while it waited for an answer. */
  cancelled: boolean;
  /** Whether it is the thread's last run, so that the thread's state is its result. */
  is_last: boolean;
  updated_at: Date;
  values: Record<string, unknown> | null;
  interrupts: Record<string, { id?: string; value?: unknown }[]>;
}

const columns = (sql: Sql) => sql`
  coalesce(r.metadata ->> 'a2a_task_id', r.run_id::text) as task_id, r.run_id, r.thread_id, r.assistant_id, r.status,
  r.error, r.kwargs -> 'input' as input, coalesce(r.metadata ->> 'a2a_called_off', '') = 'true' as cancelled,
  not exists (select 1 from runs n where n.thread_id = r.thread_id and n.seq > r.seq) as is_last, r.updated_at,
  thread_values(t.thread_id, t.values, t.value_lists) as values, coalesce(t.interrupts, '{}') as interrupts`;

/** The newest run of a task. runs_by_thread serves the second step. */
export async function selectTask(sql: Sql, assistantId: string, taskId: string): Promise<TaskRow | undefined> {
  const [row] = await sql<TaskRow[]>`
    select ${columns(sql)} from runs r join threads t on t.thread_id = r.thread_id
    where r.thread_id = (select thread_id from runs where run_id = ${taskId} and assistant_id = ${assistantId})
      and (r.run_id = ${taskId} or r.metadata ->> 'a2a_task_id' = ${taskId}::text)
    order by r.seq desc limit 1`;
  return row;
}

export interface TaskSearch {
  assistantId: string;
  contextId: string | undefined;
  status: TaskState | undefined;
  sees: readonly AccessCondition[];
}

/** The same as `taskState` of task.ts, for run `r` and its thread `t`. */
const state = (sql: Sql) => sql`case
  when r.status = 'pending' then 'submitted'
  when r.status = 'running' then 'working'
  when r.status = 'interrupted' or r.status = 'success' and r.metadata ->> 'a2a_called_off' = 'true' then 'canceled'
  when r.status <> 'success' then 'failed'
  when jsonb_path_exists(t.interrupts, '$.*[*].id')
    and not exists (select 1 from runs n where n.thread_id = r.thread_id and n.seq > r.seq) then 'input-required'
  else 'completed' end`;

/** Tasks created by A2A, each represented by its newest run. runs_by_assistant, or runs_by_thread. */
const matching = (sql: Sql, { assistantId, contextId, status, sees }: TaskSearch) => sql`
  from runs r join threads t on t.thread_id = r.thread_id
  where r.assistant_id = ${assistantId} and r.metadata ->> 'source' = 'a2a'
    and ${contextId === undefined ? sql`true` : sql`r.thread_id = ${contextId}`}
    and ${status === undefined ? sql`true` : sql`${state(sql)} = ${status}`}
    and ${permits(sql, "t.metadata", sees)}
    and not exists (
      select 1 from runs n where n.thread_id = r.thread_id and n.seq > r.seq
        and n.metadata ->> 'a2a_task_id' = coalesce(r.metadata ->> 'a2a_task_id', r.run_id::text))`;

/** One page of tasks, newest first. */
export async function selectTasks(
  sql: Sql,
  search: TaskSearch,
  { limit, offset }: { limit: number; offset: number },
): Promise<TaskRow[]> {
  return sql<TaskRow[]>`
    select ${columns(sql)} ${matching(sql, search)} order by r.seq desc limit ${limit} offset ${offset}`;
}

/** Number of matching tasks over all pages. */
export async function countTasks(sql: Sql, search: TaskSearch): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n ${matching(sql, search)}`;
  return row!.n;
}

/**
 * Marks a task as cancelled: its run ended with an interrupt, which will not be answered any more. The key is stored
 * and visible to clients in the run's metadata, so it keeps its name.
 */
export async function markCancelled(sql: Sql, runId: string): Promise<void> {
  await sql`update runs set metadata = metadata || '{"a2a_called_off": true}' where run_id = ${runId}`;
}
