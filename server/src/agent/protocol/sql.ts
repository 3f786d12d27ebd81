import type { Sql } from "../../base/db/connect.ts";
import { frameData, splitFrames } from "../../base/events/sse.ts";
import { EVENT_PREFIX, isEvent } from "../streams/protocol-frames.ts";
import { type EventName, channelMethod, parseName } from "./event-name.ts";

export interface ProtocolEvent extends EventName {
  seq: number;
  /** The whole event as JSON text. */
  json: string;
}

/** Segments read per page. A segment holds about 128 KB, or one event. */
const PAGE = 8;

/** Reads the events of a thread after number `after`, a few segments at a time. Index run_stream_segments_by_event. */
export async function selectEvents(sql: Sql, threadId: string, after: number): Promise<ProtocolEvent[]> {
  const rows = await sql<{ last: string; frames: string }[]>`
    select last_seq::text as last, frames from run_stream_segments
    where thread_id = ${threadId} and last_seq > ${after} order by last_seq limit ${PAGE}`;
  return rows.flatMap(({ last, frames }) => parseEvents(Number(last), frames)).filter((e) => e.seq > after);
}

const eventFrames = (frames: string) => splitFrames(Buffer.from(frames)).filter(({ name }) => isEvent(name));

/**
 * Parses the events among a segment's frames.
 * @param last number of the last event
 */
export function parseEvents(last: number, frames: string): ProtocolEvent[] {
  const found = eventFrames(frames);
  return found.map(({ name: text, frame }, i) => {
    const name = parseName(text.slice(EVENT_PREFIX.length));
    const seq = last - found.length + 1 + i;
    const head = `{"type":"event","event_id":"${seq}","seq":${seq},"method":${JSON.stringify(channelMethod(name.channel))}`;
    return { ...name, seq, json: `${head},"params":${frameData(frame).toString()}}` };
  });
}

/** Bodies of a run's lifecycle events. */
export async function selectLifecycle(sql: Sql, runId: string): Promise<string[]> {
  const rows = await sql<{ frames: string }[]>`
    select frames from run_stream_segments where run_id = ${runId} and last_seq is not null order by last_seq`;
  return rows
    .flatMap(({ frames }) => eventFrames(frames))
    .filter(({ name }) => parseName(name.slice(EVENT_PREFIX.length)).channel === "lifecycle")
    .map(({ frame }) => frameData(frame).toString());
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
