import type { Sql } from "../../base/db/connect.ts";

/**
 * Measures a thread's storage, as JSON text; undefined when it does not exist. All parts use indexes that begin with
 * the thread. pg_column_size gives the stored size without reading out-of-line values.
 */
export async function measureStorage(sql: Sql, threadId: string): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    with c as (
      select count(*) as n, coalesce(sum(pg_column_size(checkpoint) + pg_column_size(metadata)), 0) as bytes
      from checkpoints where thread_id = ${threadId}
    ), channel as (
      select channel, count(*) as versions, coalesce(sum(pg_column_size(blob)), 0) as bytes
      from checkpoint_blobs where thread_id = ${threadId} group by channel
    ), b as (
      select coalesce(sum(versions), 0) as n, coalesce(sum(bytes), 0) as bytes,
             coalesce(json_object_agg(channel, json_build_object('versions', versions, 'bytes', bytes) order by channel), '{}') as channels
      from channel
    ), w as (
      select count(*) as n, coalesce(sum(pg_column_size(blob)), 0) as bytes
      from checkpoint_writes where thread_id = ${threadId}
    ), r as (
      select count(*) as n, coalesce(sum(pg_column_size(kwargs) + pg_column_size(metadata) + coalesce(pg_column_size(error), 0)), 0) as bytes
      from runs where thread_id = ${threadId}::uuid
    ), f as (
      -- a segment with events counts as events
      select coalesce(sum(s.frames - g.events), 0) as n, coalesce(sum(g.bytes), 0) as bytes
      from run_streams s cross join lateral (
        select coalesce(sum(g.events) filter (where g.first >= 0), 0) as events,
               sum(pg_column_size(g.frames)) filter (where g.last_seq is null) as bytes
        from run_stream_segments g where g.run_id = s.run_id) g
      where s.thread_id = ${threadId}::uuid
    ), e as (
      select coalesce(sum(events), 0) as n, coalesce(sum(pg_column_size(frames)), 0) as bytes
      from run_stream_segments where thread_id = ${threadId}::uuid and last_seq is not null
    ), v as (
      select coalesce(sum(pg_column_size(item)), 0) as bytes from thread_value_items where thread_id = ${threadId}::uuid
    )
    select json_build_object(
      'thread_id', t.thread_id,
      'total_bytes', c.bytes + b.bytes + w.bytes + r.bytes + f.bytes + e.bytes + coalesce(pg_column_size(t.values), 0) + v.bytes
                     + pg_column_size(t.metadata) + pg_column_size(t.config) + pg_column_size(t.interrupts),
      'checkpoints', json_build_object('count', c.n, 'bytes', c.bytes),
      'channel_values', json_build_object('count', b.n, 'bytes', b.bytes, 'by_channel', b.channels),
      'pending_writes', json_build_object('count', w.n, 'bytes', w.bytes),
      'runs', json_build_object('count', r.n, 'bytes', r.bytes),
      'stream_frames', json_build_object('count', f.n, 'bytes', f.bytes),
      'protocol_events', json_build_object('count', e.n, 'bytes', e.bytes))::text as wire
    from threads t, c, b, w, r, f, e, v where t.thread_id = ${threadId}::uuid`;
  return row?.wire;
}
