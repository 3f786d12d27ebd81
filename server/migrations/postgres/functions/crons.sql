create or replace function cron_wire(c crons) returns json language sql stable as $$
  select json_build_object(
    'cron_id', c.cron_id, 'assistant_id', c.assistant_id, 'thread_id', c.thread_id, 'schedule', c.schedule,
    'timezone', c.timezone, 'end_time', c.end_time, 'enabled', c.enabled, 'on_run_completed', c.on_run_completed,
    'payload', c.payload #- '{config,configurable,langgraph_auth_user}', 'metadata', c.metadata, 'user_id', c.user_id,
    'next_run_date', c.next_run_date, 'created_at', c.created_at, 'updated_at', c.updated_at)
$$;

-- Decides an occurrence, once over all servers and restarts: moves the cron on from _expected to _next and, with
-- _start, creates the run, in one transaction. outcome: taken (another server decided it, or the cron was changed),
-- passed (without _start), waiting (the previous occurrence's run has not started: with _skip_waiting none is added),
-- or the outcome of accept_run. _expected null: a run beside the schedule, which stays as it is, also of a paused cron. Locks the thread before the cron, like its deletion.
create or replace function fire_cron(
  _cron_id uuid, _expected timestamptz, _next timestamptz, _start boolean, _skip_waiting boolean,
  _run_id uuid, _thread_id uuid, _assistant_id uuid, _kwargs jsonb, _metadata jsonb, _strategy text, _temporary boolean
) returns text language plpgsql as $$
declare
  c record;
  _outcome text := 'passed';
begin
  perform 1 from threads t where t.thread_id = _thread_id for update;
  select s.thread_id, s.last_run_id into c from crons s
  where s.cron_id = _cron_id and (_expected is null or (s.next_run_date = _expected and s.enabled))
  for update skip locked;
  if not found then return 'taken'; end if;
  if _start and _skip_waiting and exists (select 1 from runs r where r.run_id = c.last_run_id and r.status = 'pending') then
    _outcome := 'waiting';
  elsif _start then
    select a.outcome into _outcome from accept_run(
      _run_id, _thread_id, _assistant_id, _kwargs, _metadata, _strategy, c.thread_id is null, 0, _temporary,
      null, false, false, true) a;
    if _outcome = 'created' then perform pg_notify('heddle_queue', ''); end if;
  end if;
  update crons s
  set next_run_date = case when _expected is null then s.next_run_date else _next end, last_run_id = case when _outcome = 'created' then _run_id else s.last_run_id end
  where s.cron_id = _cron_id;
  return _outcome;
end $$;
