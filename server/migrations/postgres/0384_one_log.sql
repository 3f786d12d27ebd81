-- One log of events: events of protocol v2 are frames of their run's stream, named "protocol:" and their name. A segment
-- with events has the number of its last one in the thread. Events within their time to live are moved, with their
-- numbers.

-- the graph of a run of protocol v2
alter table run_streams add column protocol_graph text;

alter table run_stream_segments
  -- thread of its events, the number of the last one there, and their count
  add column thread_id uuid references protocol_threads on delete cascade,
  add column last_seq bigint,
  add column events integer,
  -- ids of the interrupts that its events announce; null: none does. Frames may be encrypted.
  add column interrupts text[];

-- last events that their servers have not written yet
do $$ begin
  if to_regprocedure('close_protocol_run(uuid, boolean, text)') is not null then
    perform close_protocol_run(run_id, false, null) from protocol_runs where ended_at is null;
  end if;
end $$;

insert into run_streams (run_id, thread_id, attempt, frames, status, created_at, ended_at, protocol_graph)
select p.run_id, p.thread_id, p.attempt, 0,
       case when p.ended_at is not null then coalesce((select r.status from runs r where r.run_id = p.run_id), 'deleted') end,
       p.created_at, p.ended_at, p.graph_id
from protocol_runs p
on conflict (run_id) do update
set protocol_graph = excluded.protocol_graph, status = excluded.status, ended_at = excluded.ended_at;

-- a negative first: they have no place among the frames that the stream has already
insert into run_stream_segments (run_id, first, frames, thread_id, last_seq, events, interrupts)
select e.run_id, -e.last_seq, l.frames, e.thread_id, e.last_seq, l.events, l.interrupts
from protocol_events e cross join lateral (
  select string_agg(format(E'event: protocol:%s\ndata: %s\n\n', u.name, u.body), '' order by u.n) as frames,
         count(*) as events,
         array_agg(u.body::json -> 'data' ->> 'interrupt_id') filter (where u.name ~ '^\["input"[],]') as interrupts
  from unnest(string_to_array(e.names, E'\n'), string_to_array(e.bodies, E'\n')) with ordinality as u(name, body, n)
) l;
create index run_stream_segments_by_event on run_stream_segments (thread_id, last_seq) where thread_id is not null;
create index run_stream_interrupts on run_stream_segments (run_id) where interrupts is not null;

drop table protocol_events, protocol_runs;

-- A run of the protocol has its stream by the commit that accepts it.
create or replace function note_protocol_run() returns trigger language plpgsql as $$
begin
  insert into protocol_threads (thread_id, assistant_id) values (new.thread_id, new.assistant_id) on conflict do nothing;
  insert into run_streams (run_id, thread_id, protocol_graph)
  values (new.run_id, new.thread_id, coalesce(new.kwargs -> 'config' -> 'configurable' ->> 'graph_id', ''));
  return null;
end $$;

-- A run that ends before it starts has its last event by the same commit.
create function end_unstarted_protocol_run() returns trigger language plpgsql as $$
begin
  update run_streams set status = case tg_op when 'UPDATE' then new.status else 'deleted' end, ended_at = now()
  where run_id = old.run_id and ended_at is null;
  if found and end_protocol_run(old.run_id, old.thread_id) is not null then
    perform pg_notify('heddle_frames', old.thread_id::text);
  end if;
  return null;
end $$;
create trigger end_unstarted_protocol_run after update of status on runs
for each row when (old.status = 'pending' and old.attempt = 0 and new.status not in ('pending', 'running')
                   and old.kwargs ->> 'protocol' = 'v2')
execute function end_unstarted_protocol_run();
create trigger delete_unstarted_protocol_run after delete on runs
for each row when (old.status = 'pending' and old.attempt = 0 and old.kwargs ->> 'protocol' = 'v2')
execute function end_unstarted_protocol_run();

-- functions/streams.sql has them with more parameters
drop function if exists keep_frames(uuid, uuid, integer, integer, integer, text, text, text);
drop function if exists end_kept_run(uuid, uuid, integer, text, jsonb, jsonb, boolean, integer, integer, text, text);
drop function if exists tell_protocol_lifecycle(uuid, uuid, jsonb);

-- For servers of 0.7 beside newer ones, until 0.9: what they read of these runs and events (functions/protocol.sql has
-- what they write). They see no events that are encrypted.
create view protocol_runs as
select run_id, thread_id, protocol_graph as graph_id, attempt, created_at, ended_at
from run_streams where protocol_graph is not null and ended_at is null;
create view protocol_events as
select thread_id, last_seq, run_id,
       (select string_agg(m[1], E'\n' order by n)
        from regexp_matches(frames, '(?:^|\n)event: protocol:([^\n]*)\n', 'g') with ordinality as x(m, n)) as names,
       (select string_agg(m[1], E'\n' order by n)
        from regexp_matches(frames, '(?:^|\n)event: protocol:[^\n]*\ndata: ([^\n]*)\n', 'g') with ordinality as x(m, n)) as bodies
from run_stream_segments where last_seq is not null and frames like '%event: protocol:%';
