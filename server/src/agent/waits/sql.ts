import type { Sql } from "../../base/db/connect.ts";
import { sealed } from "../../base/db/sealed-values.ts";

export type SignalOutcome = "no_thread" | "exists" | "full" | "created";

/** @param payload JSON text */
export async function addSignal(
  sql: Sql,
  signal: { threadId: string; name: string; key: string; payload: string; limit: number },
): Promise<SignalOutcome> {
  const { threadId, name, key, limit } = signal;
  const payload = sealed(sql, signal.payload, (cipher, text) => cipher.sealJson(text, threadId));
  const [row] = await sql<{ outcome: SignalOutcome }[]>`
    select add_signal(${threadId}, ${name}, ${key}, ${payload}::text::jsonb, ${limit}) as outcome`;
  return row!.outcome;
}

/** Returns the waits and signals of a thread as JSON; undefined for an unknown thread. */
export async function selectWaits(sql: Sql, threadId: string): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    select json_build_object(
      'waits', (select coalesce(json_agg(json_build_object('interrupt_id', w.interrupt_id, 'signal', w.signal, 'until', w.due_at)
                                         order by w.interrupt_id), '[]') from thread_waits w where w.thread_id = t.thread_id),
      'signals', (select coalesce(json_agg(json_build_object('name', s.name, 'key', s.key, 'created_at', s.created_at,
                                                             'run_id', s.run_id) order by s.seq), '[]')
                  from thread_signals s where s.thread_id = t.thread_id))::text as wire
    from threads t where t.thread_id = ${threadId}`;
  return row?.wire;
}

export interface ReadyWait {
  thread_id: string;
  interrupt_id: string;
}

export interface WaitCounts {
  timer: number;
  signal: number;
  /** For a signal, at most until a time. */
  either: number;
  /** Seconds by which the oldest one that is ready is late; 0 without such a one. */
  late: number;
}

/** Counts the waits of interrupted threads. A thread in error keeps its waits until a run has ended well. */
export async function countWaits(sql: Sql): Promise<WaitCounts> {
  const [row] = await sql<WaitCounts[]>`
    select count(*) filter (where w.signal is null)::int as timer,
           count(*) filter (where w.due_at is null)::int as signal,
           count(*) filter (where w.signal is not null and w.due_at is not null)::int as either,
           greatest(coalesce(extract(epoch from now() - min(w.ready_at)), 0), 0)::float8 as late
    from thread_waits w join threads t on t.thread_id = w.thread_id where t.status = 'interrupted'`;
  return row!;
}

/** Index thread_waits_ready. In random order, so that servers do not all start with the same one. */
export function selectReadyWaits(sql: Sql, limit: number): Promise<ReadyWait[]> {
  return sql<ReadyWait[]>`
    select thread_id, interrupt_id from (
      select thread_id, interrupt_id from thread_waits where ready_at <= now() order by ready_at limit ${limit}
    ) ready order by random()`;
}

/** Milliseconds until the next timer; null when there is none. */
export async function selectNextTimer(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }[]>`
    select extract(epoch from min(ready_at) - clock_timestamp())::float8 * 1000 as ms
    from thread_waits where ready_at < 'infinity'`;
  return row!.ms;
}

export async function fireWait(sql: Sql, wait: ReadyWait, runId: string): Promise<string> {
  const [row] = await sql<{ outcome: string }[]>`
    select fire_wait(${wait.thread_id}, ${wait.interrupt_id}, ${runId}) as outcome`;
  return row!.outcome;
}
