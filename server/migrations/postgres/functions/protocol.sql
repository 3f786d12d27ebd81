-- Events of protocol v2. Locks are taken in one order: the thread's row, then the run's.

-- Numbers and stores events of a run. Returns the number of the last one, or null when the run belongs to another
-- attempt, has ended or was deleted. A batch that is repeated because its response was lost is written once.
create or replace function append_protocol_events(
  _run_id uuid, _thread_id uuid, _attempt integer, _batch integer, _count integer, _names text, _bodies text, _notify boolean
) returns bigint language plpgsql as $$
declare
  _last bigint;
  r record;
begin
  perform 1 from protocol_threads t where t.thread_id = _thread_id for update;
  select p.attempt, p.batch, p.ended_at into r from protocol_runs p where p.run_id = _run_id for update;
  if not found or r.ended_at is not null or r.attempt > _attempt then return null; end if;
  if r.attempt = _attempt and r.batch >= _batch then
    return (select max(e.last_seq) from protocol_events e where e.run_id = _run_id);
  end if;
  if not exists (select 1 from runs s where s.run_id = _run_id and s.attempt = _attempt) then return null; end if;
  update protocol_runs set attempt = _attempt, batch = _batch where run_id = _run_id;
  update protocol_threads set last_seq = last_seq + _count where thread_id = _thread_id returning last_seq into _last;
  insert into protocol_events (thread_id, last_seq, run_id, names, bodies)
  values (_thread_id, _last, _run_id, _names, _bodies);
  if _notify then perform pg_notify('heddle_protocol', _thread_id::text); end if;
  return _last;
end $$;

-- Numbers and stores an event that the server itself emits for a run. The caller holds the rows of thread and run.
create or replace function tell_protocol_lifecycle(_run_id uuid, _thread_id uuid, _data jsonb)
returns void language plpgsql as $$
declare
  _last bigint;
begin
  update protocol_threads set last_seq = last_seq + 1 where thread_id = _thread_id returning last_seq into _last;
  insert into protocol_events (thread_id, last_seq, run_id, names, bodies)
  values (_thread_id, _last, _run_id, '["lifecycle"]', jsonb_build_object(
    'namespace', '[]'::jsonb, 'timestamp', floor(extract(epoch from clock_timestamp()) * 1000), 'data', _data)::text);
end $$;

-- Writes a run's last event, its outcome, once; nothing while it is unfinished. A run without a row was rolled back.
-- _incomplete, if given, is written before it: why events are missing. Returns the thread; null if nothing was written.
create or replace function close_protocol_run(_run_id uuid, _notify boolean, _incomplete text)
returns uuid language plpgsql as $$
declare
  _thread_id uuid;
  _status text;
  _error jsonb;
  _event text;
  r record;
begin
  select p.thread_id into _thread_id from protocol_runs p where p.run_id = _run_id;
  perform 1 from protocol_threads t where t.thread_id = _thread_id for update;
  select p.graph_id, p.ended_at, p.attempt into r from protocol_runs p where p.run_id = _run_id for update;
  if not found or r.ended_at is not null then return null; end if;
  select s.status, s.error into _status, _error from runs s where s.run_id = _run_id;
  if _status in ('pending', 'running') then return null; end if;
  _event := case
    when _status in ('error', 'timeout') then 'failed'
    when _status = 'success' and not exists (
      select 1 from protocol_events e where e.run_id = _run_id and e.names ~ '(^|\n)\["input"[],]') then 'completed'
    else 'interrupted' end;
  if _incomplete is not null then
    perform tell_protocol_lifecycle(_run_id, _thread_id, jsonb_build_object(
      'event', 'incomplete', 'graph_name', r.graph_id, 'run_id', _run_id, 'attempt', r.attempt, 'reason', _incomplete));
  end if;
  perform tell_protocol_lifecycle(_run_id, _thread_id,
    jsonb_build_object('event', _event, 'graph_name', r.graph_id)
    || case when _event = 'failed' then jsonb_build_object('error', coalesce(_error ->> 'message', _status)) else '{}' end);
  update protocol_runs set ended_at = now() where run_id = _run_id;
  if _notify then perform pg_notify('heddle_protocol', _thread_id::text); end if;
  return _thread_id;
end $$;
