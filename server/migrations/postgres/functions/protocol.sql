-- Events of protocol v2: frames of their runs' streams that are numbered over the thread. Locks are taken in one order:
-- the thread's row, then the stream's, then the row of the thread's numbers.

-- Stores a segment with events, and numbers them. Returns the number of the last one; null when the thread was deleted.
create or replace function keep_events(
  _run_id uuid, _thread_id uuid, _first integer, _frames text, _events integer, _interrupts text[]
) returns bigint language plpgsql as $$
declare
  _last bigint;
begin
  update protocol_threads set last_seq = last_seq + _events where thread_id = _thread_id returning last_seq into _last;
  if _last is null then return null; end if;
  insert into run_stream_segments (run_id, first, frames, thread_id, last_seq, events, interrupts)
  values (_run_id, coalesce(_first, -_last), _frames, _thread_id, _last, _events, _interrupts);
  return _last;
end $$;

-- Stores the last event of a run of the protocol, its outcome. It has no number among the frames of the run: their readers
-- do not see it. A run without a row was rolled back. The caller has ended the stream. Returns its number, or null.
create or replace function end_protocol_run(_run_id uuid, _thread_id uuid) returns bigint language plpgsql as $$
declare
  _graph text;
  _status text;
  _error jsonb;
  _event text;
begin
  select s.protocol_graph into _graph from run_streams s where s.run_id = _run_id;
  if _graph is null then return null; end if;
  select s.status, s.error into _status, _error from runs s where s.run_id = _run_id;
  _event := case
    when _status in ('error', 'timeout') then 'failed'
    when _status = 'success' and not exists (
      select 1 from run_stream_segments g where g.run_id = _run_id and g.interrupts is not null) then 'completed'
    else 'interrupted' end;
  return keep_events(_run_id, _thread_id, null, format(E'event: protocol:["lifecycle"]\ndata: %s\n\n', jsonb_build_object(
    'namespace', '[]'::jsonb, 'timestamp', floor(extract(epoch from clock_timestamp()) * 1000), 'data',
    jsonb_build_object('event', _event, 'graph_name', _graph)
    || case when _event = 'failed' then jsonb_build_object('error', coalesce(_error ->> 'message', _status)) else '{}' end)),
    1, null);
end $$;

-- What servers of 0.7 call beside newer ones, until 0.9.
create or replace function append_protocol_events(
  _run_id uuid, _thread_id uuid, _attempt integer, _batch integer, _count integer, _names text, _bodies text, _notify boolean
) returns bigint language plpgsql as $$
declare
  _frames text;
  _interrupts text[];
  _last bigint;
begin
  perform 1 from run_streams s where s.run_id = _run_id and s.attempt <= _attempt and s.ended_at is null for update;
  if not found or not exists (select 1 from runs s where s.run_id = _run_id and s.attempt = _attempt) then return null; end if;
  select string_agg(format(E'event: protocol:%s\ndata: %s\n\n', u.name, u.body), '' order by u.n),
         array_agg(u.body::json -> 'data' ->> 'interrupt_id') filter (where u.name ~ '^\["input"[],]')
  into _frames, _interrupts
  from unnest(string_to_array(_names, E'\n'), string_to_array(_bodies, E'\n')) with ordinality as u(name, body, n);
  -- repeated because its response was lost
  select g.last_seq into _last from run_stream_segments g
  where g.run_id = _run_id and g.frames = _frames
    and g.first = (select min(f.first) from run_stream_segments f where f.run_id = _run_id);
  if found then return _last; end if;
  _last := keep_events(_run_id, _thread_id, null, _frames, _count, _interrupts);
  if _notify then perform pg_notify('heddle_frames', _thread_id::text); end if;
  return _last;
end $$;

create or replace function close_protocol_run(_run_id uuid, _notify boolean, _incomplete text) returns uuid
language sql as 'select null::uuid';
