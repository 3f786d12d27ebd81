-- Stored streams of runs. A stream's row is the lock and the fence of its frames: a writer names its
-- attempt and the number of its first frame, and writes nothing if either differs from the row.

-- Appends frames and, with _status, ends the stream. outcome: 'stored'; 'lost': another attempt writes, or the stream has
-- ended; 'behind': the frames before `stored` exist already, written by a call of the same attempt whose response was
-- lost. A call that is repeated with the same frames returns 'stored' again. _events of the frames are events of protocol
-- v2, which announce _interrupts (protocol.sql); `seq` is the thread's number of the last event, if any was stored.
create or replace function keep_frames(
  _run_id uuid, _thread_id uuid, _attempt integer, _first integer, _count integer, _frames text, _marks text, _status text,
  _events integer default 0, _interrupts text[] default null
) returns table (outcome text, stored integer, seq bigint) language plpgsql as $$
declare
  s record;
  _graph text;
begin
  stored := _first + _count;
  loop
    update run_streams r
    set attempt = _attempt, frames = stored, marks = coalesce(_marks, r.marks), status = _status,
        ended_at = case when _status is not null then now() end,
        ordinal = coalesce(r.ordinal, case when _count > 0 then nextval('run_stream_ordinals') end)
    where r.run_id = _run_id and r.attempt <= _attempt and r.frames = _first and r.ended_at is null
    returning r.protocol_graph into _graph;
    exit when found;
    select r.attempt, r.frames, r.ended_at is not null as ended into s from run_streams r where r.run_id = _run_id;
    -- a reader on another server has requested it since the update
    continue when found and s.attempt <= _attempt and s.frames = _first and not s.ended;
    if found or _first > 0 then
      outcome := case
        when s.attempt = _attempt and s.frames = stored and s.ended = (_status is not null) then 'stored'
        when s.attempt = _attempt and s.frames > _first and not s.ended then 'behind'
        else 'lost' end;
      stored := s.frames;
      if outcome = 'stored' and (_events > 0 or _status is not null) then
        seq := (select max(g.last_seq) from run_stream_segments g where g.run_id = _run_id);
      end if;
      return next; return;
    end if;
    insert into run_streams (run_id, thread_id, ordinal, attempt, frames, marks, status, ended_at)
    values (_run_id, _thread_id, case when _count > 0 then nextval('run_stream_ordinals') end, _attempt, _count,
            _marks, _status, case when _status is not null then now() end)
    on conflict (run_id) do nothing;
    exit when found; -- otherwise it was repeated concurrently
  end loop;
  if _events > 0 then
    seq := keep_events(_run_id, _thread_id, _first, _frames, _events, _interrupts);
  elsif _count > 0 then
    insert into run_stream_segments (run_id, first, frames) values (_run_id, _first, _frames);
  end if;
  if _status is not null and _graph is not null then seq := end_protocol_run(_run_id, _thread_id); end if;
  outcome := 'stored';
  return next;
end $$;

-- Ends a run and its stored stream in one commit: a run is final exactly when all frames of the attempt
-- that ended it are stored. outcome: as of finish_run, or 'behind' as of keep_frames. _last is one more frame, unless the
-- run is rolled back. A call that is repeated because its response was lost returns the same result.
create or replace function end_kept_run(
  _run_id uuid, _thread_id uuid, _attempt integer, _outcome text, _error jsonb, _state jsonb, _notify boolean,
  _first integer, _count integer, _frames text, _last text, _events integer default 0, _interrupts text[] default null
) returns table (outcome text, waiting boolean, stored integer, seq bigint) language plpgsql as $$
declare
  s record;
begin
  waiting := false;
  perform 1 from threads t where t.thread_id = _thread_id for update;
  select r.attempt, r.frames, r.status, r.protocol_graph into s from run_streams r where r.run_id = _run_id for update;
  if found and (s.attempt > _attempt or s.status is not null or s.frames <> _first) or not found and _first > 0 then
    stored := s.frames;
    outcome := case
      when s.attempt = _attempt and s.frames = _first + _count + case when s.status = 'deleted' or _last is null then 0 else 1 end
        then coalesce(s.status, 'behind')
      when s.attempt = _attempt and s.frames > _first and s.status is null then 'behind'
      else 'lost' end;
    if s.status is not null then
      waiting := exists (select 1 from runs where thread_id = _thread_id and status = 'pending');
      seq := (select max(g.last_seq) from run_stream_segments g where g.run_id = _run_id and s.protocol_graph is not null);
    end if;
    return next; return;
  end if;

  select f.outcome, f.waiting into end_kept_run.outcome, end_kept_run.waiting
  from finish_run(_run_id, _thread_id, _attempt, _outcome, _error, _state, _notify) f;
  if outcome in ('lost', 'stale_values') then return next; return; end if;
  if _last is not null and outcome <> 'deleted' then
    _count := _count + 1;
    _frames := _frames || _last;
  end if;
  stored := _first + _count;
  insert into run_streams (run_id, thread_id, ordinal, attempt, frames, status, ended_at)
  values (_run_id, _thread_id, nextval('run_stream_ordinals'), _attempt, stored, outcome, now())
  on conflict (run_id) do update
  set attempt = _attempt, frames = excluded.frames, status = excluded.status, ended_at = now(),
      ordinal = coalesce(run_streams.ordinal, excluded.ordinal);
  if _events > 0 then
    seq := keep_events(_run_id, _thread_id, _first, _frames, _events, _interrupts);
  elsif _count > 0 then
    insert into run_stream_segments (run_id, first, frames) values (_run_id, _first, _frames);
  end if;
  if s.protocol_graph is not null then
    seq := end_protocol_run(_run_id, _thread_id);
    if _notify and seq is not null then perform pg_notify('heddle_frames', _thread_id::text); end if;
  end if;
  return next;
end $$;
