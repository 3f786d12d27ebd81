-- Kept streams of runs. A stream's row is the lock and the fence of its frames: a writer names the attempt that it
-- believes in and the number of its first frame, and writes nothing when either is not what the row says.

-- Appends frames and, with _status, ends the stream. Answers 'stored', or 'lost' when somebody else writes.
-- A call that is repeated because its answer was lost on the way answers 'stored' again.
create or replace function append_frames(
  _run_id uuid, _thread_id uuid, _attempt integer, _first integer, _count integer, _frames text, _status text
) returns text language plpgsql as $$
declare
  _next integer;
  s record;
begin
  loop
    update run_streams r
    set attempt = _attempt, frames = _first + _count, status = _status,
        ended_at = case when _status is not null then now() end,
        ordinal = coalesce(r.ordinal, case when _count > 0 then nextval('run_stream_ordinals') end)
    where r.run_id = _run_id and r.attempt <= _attempt and r.frames = _first and r.ended_at is null;
    exit when found;
    select r.attempt, r.frames, r.ended_at is not null as ended into s from run_streams r where r.run_id = _run_id;
    -- a reader elsewhere has asked for it since the update
    continue when found and s.attempt <= _attempt and s.frames = _first and not s.ended;
    if found then
      return case when s.attempt = _attempt and s.frames = _first + _count and s.ended = (_status is not null)
                  then 'stored' else 'lost' end;
    end if;
    if _first > 0 then return 'lost'; end if;
    insert into run_streams (run_id, thread_id, ordinal, attempt, frames, status, ended_at)
    values (_run_id, _thread_id, case when _count > 0 then nextval('run_stream_ordinals') end, _attempt, _count,
            _status, case when _status is not null then now() end)
    on conflict (run_id) do nothing;
    exit when found; -- else the same, in between
  end loop;
  if _count > 0 then
    insert into run_stream_segments (run_id, first, frames) values (_run_id, _first, _frames);
  end if;
  return 'stored';
end $$;
