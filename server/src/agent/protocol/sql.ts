import { mapFields } from "../../../../host-kit/src/sealed-json.ts";
import type { JsonSealer } from "../../../../host-kit/src/state-cipher.ts";
import { sealed } from "../../base/db/sealed-values.ts";
import type { Sql } from "../../base/db/connect.ts";
import { type EventName, channelMethod, parseName } from "./event-name.ts";

/** Events of one run that are written together, one per line. */
export interface EventBatch {
  runId: string;
  threadId: string;
  attempt: number;
  batch: number;
  count: number;
  names: string;
  bodies: string;
}

/**
 * Appends batches of events.
 * @returns the number of each batch's last event; null where nothing was written, because the run is not this server's
 */
export async function appendEvents(sql: Sql, batches: EventBatch[], notify: boolean): Promise<(number | null)[]> {
  const rows = await sql<{ last: string | null }[]>`
    select append_protocol_events(u.run_id, u.thread_id, u.attempt, u.batch, u.count, u.names, u.bodies,
                                  ${String(notify)}::text::boolean)::text as last
    from unnest(
      ${batches.map((b) => b.runId)}::uuid[], ${batches.map((b) => b.threadId)}::uuid[],
      ${batches.map((b) => b.attempt)}::int[], ${batches.map((b) => b.batch)}::int[], ${batches.map((b) => b.count)}::int[],
      ${batches.map((b) => b.names)}::text[], ${batches.map((b) => sealed(sql, b.bodies, (cipher, text) => sealBodies(cipher, b.names, text)))}::text[]
    ) with ordinality as u(run_id, thread_id, attempt, batch, count, names, bodies, n)
    order by u.n`;
  return rows.map(({ last }) => (last === null ? null : Number(last)));
}

/** Encrypts the data of events. A statement reads the ids of interrupts in those of `input` (questions.sql). */
export function sealBodies(cipher: JsonSealer, names: string, bodies: string): string {
  const name = names.split("\n");
  const seal = (json: string) => cipher.sealJson(json);
  const sealInput = (data: string) =>
    mapFields(data, (value, key) => (key === "interrupt_id" ? value : cipher.sealJson(value)));
  return bodies
    .split("\n")
    .map((body, i) => {
      const isInput = name[i]!.startsWith('["input"');
      return mapFields(body, (value, key) => (key !== "data" ? value : isInput ? sealInput(value) : seal(value)));
    })
    .join("\n");
}

/**
 * Writes a run's last event.
 * @param incomplete why events of the run are missing, if any are
 * @returns the thread to whose events the run's end was added; null when there was nothing to write
 */
export async function endRun(
  sql: Sql,
  runId: string,
  notify: boolean,
  incomplete: string | undefined,
): Promise<string | null> {
  const [row] = await sql<{ thread_id: string | null }[]>`
    select close_protocol_run(${runId}, ${String(notify)}::text::boolean, ${incomplete ?? null}) as thread_id`;
  return row!.thread_id;
}

/**
 * Runs that ended without their last event: never executed, or their server is gone. Runs that ended a moment ago are
 * left to the server that executed them. Index protocol_runs_going.
 */
export function selectEndedRuns(sql: Sql): Promise<{ run_id: string; may_lack: boolean }[]> {
  // a successful run ends only after all its events were written
  return sql<{ run_id: string; may_lack: boolean }[]>`
    select p.run_id, coalesce(r.status <> 'success' and r.attempt > 0, false) as may_lack
    from protocol_runs p left join runs r on r.run_id = p.run_id
    where p.ended_at is null
      and (r.run_id is null
           or (r.status not in ('pending', 'running')
               and (r.attempt = 0 or r.ended_at < now() - interval '3 seconds'
                    or not exists (select 1 from servers s where s.server_id = r.server_id))))
    order by p.created_at limit 100`;
}

export interface ProtocolEvent extends EventName {
  seq: number;
  /** The whole event as JSON text. */
  json: string;
}

/** Rows read per page. A row holds about 256 KB, or one event. */
const PAGE_ROWS = 4;

/** Reads the events of a thread after number `after`, a few rows at a time. Primary key. */
export async function selectEvents(sql: Sql, threadId: string, after: number): Promise<ProtocolEvent[]> {
  const rows = await sql<{ last: string; names: string; bodies: string }[]>`
    select last_seq::text as last, names, bodies from protocol_events
    where thread_id = ${threadId} and last_seq > ${after} order by last_seq limit ${PAGE_ROWS}`;
  return rows
    .flatMap(({ last, names, bodies }) => parseEvents(Number(last), names, bodies))
    .filter((e) => e.seq > after);
}

/** @param last number of the last event */
export function parseEvents(last: number, names: string, bodies: string): ProtocolEvent[] {
  const lines = bodies.split("\n");
  const first = last - lines.length + 1;
  return names.split("\n").map((text, i) => {
    const name = parseName(text);
    const seq = first + i;
    const head = `{"type":"event","event_id":"${seq}","seq":${seq},"method":${JSON.stringify(channelMethod(name.channel))}`;
    return { ...name, seq, json: `${head},"params":${lines[i]!}}` };
  });
}

/** Bodies of a run's lifecycle events. */
export async function selectLifecycle(sql: Sql, runId: string): Promise<string[]> {
  const rows = await sql<{ names: string; bodies: string }[]>`
    select names, bodies from protocol_events where run_id = ${runId} order by last_seq`;
  return rows.flatMap(({ names, bodies }) => {
    const lines = bodies.split("\n");
    return names.split("\n").flatMap((name, i) => (parseName(name).channel === "lifecycle" ? [lines[i]!] : []));
  });
}

/** Number of each thread's newest event; threads without a run of this protocol are missing. */
export async function selectLastSeqs(sql: Sql, threadIds: string[]): Promise<Map<string, number>> {
  const rows = await sql<{ thread_id: string; last: string }[]>`
    select thread_id, last_seq::text as last from protocol_threads where thread_id = any(${threadIds}::uuid[])`;
  return new Map(rows.map((row) => [row.thread_id, Number(row.last)]));
}

export interface ThreadRow {
  /** The thread's assistant: that of its first run by this protocol, else of its last run. */
  assistant_id: string | null;
  bound_assistant_id: string | null;
  busy: boolean;
  /** Ids of the interrupts that can be answered now, also those whose run is about to end. */
  pending: string[];
}

export async function selectThread(sql: Sql, threadId: string): Promise<ThreadRow | undefined> {
  const [row] = await sql<ThreadRow[]>`
    select p.assistant_id as bound_assistant_id,
           coalesce(p.assistant_id::text, t.metadata ->> 'assistant_id') as assistant_id,
           t.status = 'busy' as busy,
           case when t.status = 'busy' then live_interrupts(t.thread_id)
                else array(select i ->> 'id' from jsonb_each(t.interrupts) e, jsonb_array_elements(e.value) i where i ? 'id')
           end as pending
    from threads t left join protocol_threads p on p.thread_id = t.thread_id
    where t.thread_id = ${threadId}`;
  return row;
}

/** The newest run of this protocol, or the run with id `runId`. */
export async function selectProtocolRun(
  sql: Sql,
  threadId: string,
  runId: string | undefined,
): Promise<{ run_id: string; status: string; graph_id: string } | undefined> {
  const [row] = await sql<{ run_id: string; status: string; graph_id: string }[]>`
    select run_id, status, coalesce(kwargs -> 'config' -> 'configurable' ->> 'graph_id', '') as graph_id
    from runs
    where thread_id = ${threadId} and kwargs ->> 'protocol' = 'v2'
      ${runId === undefined ? sql`` : sql`and run_id = ${runId}`}
    order by seq desc limit 1`;
  return row;
}

/** Deletes the events of runs that ended more than `ttlSecs` ago. Numbering continues. */
export async function deleteOldEvents(sql: Sql, ttlSecs: number): Promise<number> {
  const rows = await sql`
    with old as (
      delete from protocol_runs where run_id in (
        select run_id from protocol_runs where ended_at < now() - make_interval(secs => ${ttlSecs})
        order by ended_at limit 500 for update skip locked)
      returning run_id
    )
    delete from protocol_events where run_id in (select run_id from old) returning 1`;
  return rows.length;
}
