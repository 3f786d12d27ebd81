/** Kept streams: `run_streams` and `run_stream_segments`; `functions/streams.sql` defines which attempt may write. */
import { sealError, sealState } from "../../../../host-kit/src/sealed-json.ts";
import { sealed } from "../../base/db/sealed-values.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { FinishedRun, FinishOutcome, RunStatus } from "./finished-run.ts";
import { countEvents } from "./protocol-frames.ts";

export interface FramesToKeep {
  runId: string;
  threadId: string;
  attempt: number;
  /** Number of the first frame. */
  first: number;
  count: number;
  /** The frames in wire format, concatenated. */
  frames: string;
  /** See `StreamMarks.text`; null: unchanged. */
  marks: string | null;
  /** Outcome of the run, with its last frames. */
  status: RunStatus | "deleted" | null;
  /** Whether the database notifies other servers. */
  notify: boolean;
}

/** `behind`: the attempt's own frames before number `stored` are already stored. */
export interface KeepOutcome {
  outcome: "stored" | "behind" | "lost";
  stored: number;
  /** Number of the last event of protocol v2 that was stored, with the end of its run; undefined: none was. */
  seq?: number;
}

const parseSeq = <Row extends { seq: string | null }>({ seq, ...row }: Row): Omit<Row, "seq"> & { seq?: number } =>
  seq === null ? row : { ...row, seq: Number(seq) };

const sealFrames = <T extends string | null>(sql: Sql, frames: T): T =>
  sealed(sql, frames, (cipher, text) => cipher.sealText(text));

/**
 * Stores frames in the given order; callers sort by thread, so that concurrent statements lock in the same order.
 * @param announce whether other servers are notified of events
 */
export async function keepFrames(sql: Sql, batch: FramesToKeep[], announce = true): Promise<KeepOutcome[]> {
  const counts = batch.map((b) => countEvents(b.frames));
  const rows = await sql<(Omit<KeepOutcome, "seq"> & { seq: string | null })[]>`
    select k.outcome, k.stored, k.seq::text as seq, case when u.notify then pg_notify('heddle_frames', u.run_id::text) end,
           case when k.seq is not null and ${announce} then pg_notify('heddle_frames', u.thread_id::text) end
    from unnest(
      ${batch.map((b) => b.runId)}::uuid[], ${batch.map((b) => b.threadId)}::uuid[],
      ${batch.map((b) => b.attempt)}::int[], ${batch.map((b) => b.first)}::int[], ${batch.map((b) => b.count)}::int[],
      ${batch.map((b) => sealFrames(sql, b.frames))}::text[], ${batch.map((b) => b.marks)}::text[], ${batch.map((b) => b.status)}::text[],
      ${batch.map((b) => String(b.notify))}::text[]::boolean[],
      ${counts.map(({ events }) => events)}::int[], ${counts.map(({ interrupts }) => interrupts)}::text[]
    ) with ordinality as u(run_id, thread_id, attempt, first, count, frames, marks, status, notify, events, interrupts, n)
    cross join lateral keep_frames(u.run_id, u.thread_id, u.attempt, u.first, u.count, u.frames, u.marks, u.status,
                                   u.events, string_to_array(u.interrupts, E'\\n')) k
    order by u.n`;
  return rows.map(parseSeq);
}

/** The end of a run, with the last frames of its stored stream. */
export interface KeptEnd extends FinishedRun {
  first: number;
  count: number;
  frames: string;
  /** A frame to append, unless the run is rolled back. */
  last: string | null;
}

export interface KeptEndOutcome extends Omit<FinishOutcome, "outcome"> {
  outcome: FinishOutcome["outcome"] | "behind";
  stored: number;
  /** See `KeepOutcome`. */
  seq?: number;
}

/** Ends runs in the given order; callers sort by thread, as for `finishRuns`. */
export async function endKeptRuns(sql: Sql, runs: KeptEnd[], notify: boolean): Promise<KeptEndOutcome[]> {
  const counts = runs.map((r) => countEvents(r.frames));
  const rows = await sql<(Omit<KeptEndOutcome, "seq"> & { seq: string | null })[]>`
    select e.outcome, e.waiting, e.stored, e.seq::text as seq from unnest(
      ${runs.map((r) => r.runId)}::uuid[], ${runs.map((r) => r.threadId)}::uuid[],
      ${runs.map((r) => r.attempt)}::int[], ${runs.map((r) => r.outcome)}::text[],
      ${runs.map((r) => sealed(sql, r.error, sealError))}::text[],
      ${runs.map((r) => sealed(sql, r.state, sealState))}::text[],
      ${runs.map((r) => r.first)}::int[], ${runs.map((r) => r.count)}::int[],
      ${runs.map((r) => sealFrames(sql, r.frames))}::text[],
      ${runs.map((r) => sealFrames(sql, r.last))}::text[],
      ${counts.map(({ events }) => events)}::int[], ${counts.map(({ interrupts }) => interrupts)}::text[],
      ${runs.map((r) => String(notify && !r.quiet))}::text[]::boolean[]
    ) with ordinality as u(run_id, thread_id, attempt, outcome, error, state, first, count, frames, last, events, interrupts,
                           notify, n)
    cross join lateral end_kept_run(u.run_id, u.thread_id, u.attempt, u.outcome, u.error::jsonb, u.state::jsonb,
                                    u.notify, u.first, u.count, u.frames, u.last,
                                    u.events, string_to_array(u.interrupts, E'\\n')) e
    order by u.n`;
  return rows.map(parseSeq);
}

/** Marks the run's stream as incomplete; the first reason is kept. */
export async function flagIncompleteStream(sql: Sql, runId: string, reason: string): Promise<void> {
  await sql`update runs set stream_incomplete = ${reason} where run_id = ${runId} and stream_incomplete is null`;
}

export interface KeptStream {
  run_id: string;
  thread_id: string;
  /** Position among the streams of a thread; null while there is no frame. A bigint, as text. */
  ordinal: string | null;
  attempt: number;
  frames: number;
  /** See stream-marks.ts. */
  marks: string | null;
  status: RunStatus | "deleted" | null;
  /** Graph of a run of protocol v2; null for other runs. */
  protocol_graph: string | null;
}

export async function selectKeptStream(sql: Sql, runId: string): Promise<KeptStream | undefined> {
  const [row] = await sql<KeptStream[]>`
    select run_id, thread_id, ordinal::text, attempt, frames, marks, status, protocol_graph from run_streams where run_id = ${runId}`;
  return row;
}

/** Length of a stored stream, and its marks: see stream-marks.ts. */
export interface KeptLength {
  run_id: string;
  frames: number;
  marks: string | null;
}

/** Fences off earlier attempts. Returns those of the runs that have a stored stream. Idempotent. */
export function takeOverStreams(sql: Sql, runs: { runId: string; attempt: number }[]): Promise<KeptLength[]> {
  return sql<KeptLength[]>`
    update run_streams r set attempt = u.attempt
    from unnest(${runs.map((r) => r.runId)}::uuid[], ${runs.map((r) => r.attempt)}::int[]) as u(run_id, attempt)
    where r.run_id = u.run_id and r.attempt <= u.attempt and r.ended_at is null
    returning r.run_id, r.frames, r.marks`;
}

/** Announces the end of a run to its readers on other servers. */
export async function announceEnd(sql: Sql, runId: string): Promise<void> {
  await sql`select pg_notify('heddle_done', ${runId})`;
}

/** Ids that fit into a notification, which holds 8000 bytes. */
export const NOTIFIED_IDS = 200;

async function notifyIds(sql: Sql, channel: "heddle_want" | "heddle_frames", ids: string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += NOTIFIED_IDS) {
    await sql`select pg_notify(${channel}, ${ids.slice(at, at + NOTIFIED_IDS).join(",")})`;
  }
}

/** Asks the executing servers to keep these runs' frames and to announce each. */
export const wantStreams = (sql: Sql, runIds: string[]): Promise<void> => notifyIds(sql, "heddle_want", runIds);

/** Tells the readers of these threads' events, on all servers, that the threads have changed or were deleted. */
export const announceThreads = (sql: Sql, threadIds: string[]): Promise<void> =>
  notifyIds(sql, "heddle_frames", threadIds);

/**
 * Has the frames of a run kept that has not started: the server that executes it finds the row. A deleted run gets none: the lock
 * makes a concurrent deletion, which deletes streams after runs, see the row.
 */
export async function reserveStream(sql: Sql, runId: string): Promise<void> {
  await sql`
    insert into run_streams (run_id, thread_id)
    select run_id, thread_id from runs where run_id = ${runId} for key share
    on conflict do nothing`;
}

/** Up to 16 segments, from the one that begins with frame `from` on. */
export function selectSegments(sql: Sql, runId: string, from: number): Promise<{ first: number; frames: string }[]> {
  return sql<{ first: number; frames: string }[]>`
    select first, frames from run_stream_segments where run_id = ${runId} and first >= ${from}
    order by first limit 16`;
}

/** Up to 16 segments with the frames from number `from` on, beginning with the segment that contains it. */
export function selectSegmentsAround(
  sql: Sql,
  runId: string,
  from: number,
): Promise<{ first: number; frames: string }[]> {
  return sql<{ first: number; frames: string }[]>`
    select first, frames from run_stream_segments
    where run_id = ${runId}
      and first >= (select max(first) from run_stream_segments where run_id = ${runId} and first <= ${from})
    order by first limit 16`;
}

/** State of a run and its stored stream for a reader on another server; no row when neither exists. */
export interface FollowedRun {
  run_id: string;
  /** Null when the run has been deleted. */
  run_status: RunStatus | null;
  /** The server that executes or executed it; before that, the one that accepted it. */
  server_id: string | null;
  /** Null when the run has been deleted. */
  attempt: number | null;
  /** Whether that server is alive. */
  server_lives: boolean;
  /** Whether it ended only a few minutes ago. */
  is_recent: boolean | null;
  error: { error: string; message: string } | null;
  /** JSON text of the thread's values, once the run is final. */
  values: string | null;
  /** JSON text of the list of questions that the run, its thread's last, left to answer. */
  interrupts: string | null;
  /** JSON text of its feedback links, once the run is final. */
  links: string | null;
  /** null: no stored stream. */
  frames: number | null;
  stream_status: RunStatus | "deleted" | null;
}

/** The questions that a run `r` left to answer, unless its thread `t` has a later run. */
export const leftInterrupts = (sql: Sql) => sql`
  case when r.status not in ('pending', 'running') and t.status = 'interrupted' and not exists (
         select 1 from runs l where l.thread_id = r.thread_id and l.seq > r.seq)
       then (select json_agg(q.item) from jsonb_each(t.interrupts) i, jsonb_array_elements(i.value) as q(item))::text end`;

export function selectFollowedRuns(sql: Sql, runIds: string[]): Promise<FollowedRun[]> {
  return sql<FollowedRun[]>`
    select w.run_id, r.status as run_status, r.server_id, r.attempt, r.error,
           exists (select 1 from servers v where v.server_id = r.server_id) as server_lives,
           r.ended_at > now() - interval '5 minutes' as is_recent,
           case when r.status not in ('pending', 'running') then thread_values(t.thread_id, t.values, t.value_lists)::text end as values,
           ${leftInterrupts(sql)} as interrupts,
           case when r.status not in ('pending', 'running') then (r.kwargs -> 'feedback_urls')::text end as links,
           s.frames, s.status as stream_status
    from unnest(${runIds}::uuid[]) as w(run_id)
    left join runs r on r.run_id = w.run_id
    left join threads t on t.thread_id = r.thread_id
    left join run_streams s on s.run_id = w.run_id
    where r.run_id is not null or s.run_id is not null`;
}

/** Deletes stored streams that ended longer than the time to live ago: at most 10,000, so that a server can stop. */
export async function sweepStreams(sql: Sql, ttlSecs: number): Promise<void> {
  for (let left = SWEEP_BATCHES; left > 0 && (await deleteOldStreams(sql, ttlSecs)) === SWEPT_AT_ONCE; left--);
}

const SWEEP_BATCHES = 20;
const SWEPT_AT_ONCE = 500;

async function deleteOldStreams(sql: Sql, ttlSecs: number): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    with old as (
      delete from run_streams where run_id in (
        select run_id from run_streams where ended_at < now() - make_interval(secs => ${ttlSecs})
        limit ${SWEPT_AT_ONCE} for update skip locked
      ) returning run_id
    ), segments as (
      delete from run_stream_segments g using old where g.run_id = old.run_id
    ) select count(*)::int as n from old`;
  return row!.n;
}

/**
 * Streams whose writer died between the run's end and theirs, without delay where that server is known to be gone. With
 * `runId`: only that stream, however young.
 */
export function selectUnendedStreams(sql: Sql, runId?: string): Promise<KeptStream[]> {
  return sql<KeptStream[]>`
    select s.run_id, s.thread_id, s.ordinal::text, s.frames, s.marks, s.protocol_graph,
           case when s.protocol_graph is null then s.attempt else greatest(s.attempt, r.attempt) end as attempt,
           coalesce(r.status, case when exists (select 1 from threads t where t.thread_id = s.thread_id)
                                   then 'deleted' else 'success' end) as status
    from run_streams s left join runs r on r.run_id = s.run_id
    where s.ended_at is null and (r.run_id is null or r.status not in ('pending', 'running'))
      ${
        runId === undefined
          ? sql`and (s.created_at < now() - interval '10 seconds'
                     and coalesce(r.ended_at, '-infinity') < now() - interval '5 seconds'
                     or s.protocol_graph is not null and r.run_id is not null
                        and not exists (select 1 from servers v where v.server_id = r.server_id))`
          : sql`and s.run_id = ${runId}`
      }
    limit 500`;
}

/** Data of the last events that readers of a run expect: its error, the resulting state, feedback links. JSON texts. */
export interface RunResultRow {
  error: string | null;
  values: string | null;
  links: string | null;
}

export async function selectRunResult(sql: Sql, runId: string): Promise<RunResultRow | undefined> {
  const [row] = await sql<RunResultRow[]>`
    select r.error::text as error, thread_values(t.thread_id, t.values, t.value_lists)::text as values, (r.kwargs -> 'feedback_urls')::text as links
    from runs r join threads t on t.thread_id = r.thread_id where r.run_id = ${runId}`;
  return row;
}

/** The last frames of a stream, as text. */
export async function selectTail(sql: Sql, runId: string): Promise<string> {
  const rows = await sql<{ frames: string }[]>`
    select frames from run_stream_segments where run_id = ${runId} and first >= 0 order by first desc limit 8`;
  return rows
    .reverse()
    .map((row) => row.frames)
    .join("");
}

/** Also tells the readers of a deleted thread's events, on all servers. */
export async function deleteThreadStreams(sql: Sql, threadId: string): Promise<void> {
  await sql`
    with gone as (delete from run_streams where thread_id = ${threadId} returning run_id),
         segments as (delete from run_stream_segments g using gone where g.run_id = gone.run_id)
    select pg_notify('heddle_frames', ${threadId})`;
}
