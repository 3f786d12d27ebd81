-- The run queue's decisions, one round trip each. Applied again whenever this file changes; a function
-- whose signature changes gets a new name, so that servers of the version before can go on.
--
-- Locks are always taken in one order, thread before run, so that no two of these can deadlock.
-- Each statement of a plpgsql function sees what was committed before it (read committed): after the
-- thread's row is locked, what is read of its runs is current.

-- Sets a thread's status from its runs. The caller holds the thread's lock.
create or replace function settle_thread(_thread_id uuid) returns void language sql as $$
  update threads t
  set status = case
        when exists (select 1 from runs r where r.thread_id = _thread_id and r.status in ('pending', 'running'))
        then 'busy' else t.settled_status end,
      updated_at = now()
  where t.thread_id = _thread_id
$$;

-- Deletes what a run wrote: its checkpoints, their writes, and the blobs that no other checkpoint names.
create or replace function delete_run_checkpoints(_thread_id uuid, _run_id uuid) returns void language plpgsql as $$
declare
  _thread text := _thread_id::text;
  _gone integer;
begin
  with gone as (
    delete from checkpoints
    where thread_id = _thread and metadata ->> 'run_id' = _run_id::text
    returning checkpoint_ns, checkpoint_id
  ), writes as (
    delete from checkpoint_writes w using gone g
    where w.thread_id = _thread and w.checkpoint_ns = g.checkpoint_ns and w.checkpoint_id = g.checkpoint_id
  )
  select count(*) into _gone from gone;
  if _gone = 0 then return; end if;
  delete from checkpoint_blobs b
  where b.thread_id = _thread
    and not exists (
      select 1 from checkpoints c
      where c.thread_id = _thread and c.checkpoint_ns = b.checkpoint_ns
        and c.checkpoint -> 'channel_versions' ->> b.channel = b.version
    );
end $$;

create or replace function delete_thread_data(_thread_id uuid) returns void language sql as $$
  delete from checkpoints where thread_id = _thread_id::text;
  delete from checkpoint_blobs where thread_id = _thread_id::text;
  delete from checkpoint_writes where thread_id = _thread_id::text;
  delete from threads where thread_id = _thread_id;
$$;

-- Stops what is pending on a thread and asks what is running to stop. The caller holds the thread's lock.
create or replace function stop_inflight(_thread_id uuid, _strategy text) returns uuid[] language plpgsql as $$
declare
  _stopped uuid[];
  _running uuid;
begin
  if _strategy = 'interrupt' then
    with stopped as (
      update runs set status = 'interrupted', updated_at = now(), ended_at = now(), cancel_reason = 'a newer run took over'
      where thread_id = _thread_id and status = 'pending' returning run_id
    ) select coalesce(array_agg(run_id), '{}') into _stopped from stopped;
  else
    -- a pending run may be one that was handed back and has written already
    perform delete_run_checkpoints(_thread_id, run_id) from runs
    where thread_id = _thread_id and status = 'pending' and attempt > 0;
    with stopped as (
      delete from runs where thread_id = _thread_id and status = 'pending' returning run_id
    ) select coalesce(array_agg(run_id), '{}') into _stopped from stopped;
  end if;
  update runs
  set cancel_action = case when cancel_action = 'rollback' then 'rollback' else _strategy end,
      cancel_reason = coalesce(cancel_reason, 'a newer run took over'), updated_at = now()
  where thread_id = _thread_id and status = 'running' returning run_id into _running;
  if _running is not null then
    _stopped := _stopped || _running;
    perform pg_notify('heddle_cancel', _running::text);
  end if;
  return _stopped;
end $$;

-- The run's kwargs with assistant and thread merged in, later ones winning (contract agent-server §7.2).
create or replace function merge_run_config(
  _kwargs jsonb, _assistant_config jsonb, _assistant_context jsonb, _thread_config jsonb, _run_metadata jsonb, _own jsonb
) returns jsonb language plpgsql immutable as $$
declare
  _config jsonb := _assistant_config || coalesce(_kwargs -> 'config', '{}');
  _context jsonb := _kwargs -> 'context';
begin
  _config := _config || jsonb_build_object(
    'configurable', coalesce(_assistant_config -> 'configurable', '{}') || coalesce(_thread_config -> 'configurable', '{}')
                    || coalesce(_kwargs -> 'config' -> 'configurable', '{}') || _own,
    'metadata', coalesce(_config -> 'metadata', '{}') || _run_metadata);
  if _assistant_context is not null and jsonb_typeof(_assistant_context) <> 'null' then
    _context := case when jsonb_typeof(_assistant_context) = 'object' and jsonb_typeof(coalesce(_context, '{}')) = 'object'
                     then _assistant_context || coalesce(_context, '{}') else _assistant_context end;
  end if;
  _kwargs := _kwargs || jsonb_build_object('config', _config);
  return case when _context is null then _kwargs else _kwargs || jsonb_build_object('context', _context) end;
end $$;

-- Accepts a run and, where its thread is free and the server has a slot (_claim), starts it at once.
-- outcome: created | no_assistant | no_thread | busy | exists (a retried call; the run is as it is)
-- | locked (without _wait: somebody holds the thread, such as a state update; nobody else shall wait for it).
create or replace function create_run(
  _run_id uuid, _thread_id uuid, _assistant_id uuid, _kwargs jsonb, _metadata jsonb, _strategy text,
  _create_thread boolean, _after double precision, _temporary boolean, _server uuid, _claim boolean,
  _describe boolean, _wait boolean
) returns table (
  outcome text, run text, graph_id text, claimed boolean, kwargs text, fresh_thread boolean, cancelled uuid[]
) language plpgsql as $$
declare
  a record; t record;
  _new boolean;
  _inflight integer := 0;
  _merged jsonb; _lasting jsonb; _run_metadata jsonb; _thread_metadata jsonb;
begin
  cancelled := '{}';
  claimed := false;
  select s.graph_id, coalesce(s.config, '{}') as config, s.context, s.metadata into a
  from assistants s where s.assistant_id = _assistant_id;
  if not found then outcome := 'no_assistant'; return next; return; end if;
  graph_id := a.graph_id;
  _thread_metadata := jsonb_build_object('graph_id', a.graph_id, 'assistant_id', _assistant_id);

  -- twice when somebody else creates the thread at the same time
  loop
    -- never "select *": a thread's values may be large
    if _wait then
      select s.metadata, s.config, s.status, s.running_run_id into t from threads s where s.thread_id = _thread_id for update;
    else
      select s.metadata, s.config, s.status, s.running_run_id into t
      from threads s where s.thread_id = _thread_id for update skip locked;
      if not found and exists (select 1 from threads where thread_id = _thread_id) then
        outcome := 'locked'; return next; return;
      end if;
    end if;
    _new := t.metadata is null;
    if _new then
      if not _create_thread then outcome := 'no_thread'; return next; return; end if;
      fresh_thread := true;
    else
      perform 1 from runs where runs.run_id = _run_id;
      if found then
        outcome := 'exists';
        select run_wire(s)::text into run from runs s where s.run_id = _run_id;
        return next; return;
      end if;
      select count(*) into _inflight from runs where thread_id = _thread_id and status in ('pending', 'running');
      if _inflight > 0 then
        if _strategy = 'reject' then outcome := 'busy'; return next; return; end if;
        if _strategy in ('interrupt', 'rollback') then
          cancelled := stop_inflight(_thread_id, _strategy);
          select count(*) into _inflight from runs where thread_id = _thread_id and status in ('pending', 'running');
        end if;
      end if;
      fresh_thread := not exists (select 1 from checkpoints c where c.thread_id = _thread_id::text);
    end if;

    _run_metadata := a.metadata || case when _new then _thread_metadata || _metadata else t.metadata || _metadata end;
    _merged := merge_run_config(_kwargs, a.config, a.context, case when _new then '{}' else t.config end, _run_metadata,
      jsonb_build_object('run_id', _run_id, 'thread_id', _thread_id, 'graph_id', a.graph_id, 'assistant_id', _assistant_id));
    claimed := _claim and _inflight = 0 and _after <= 0 and t.running_run_id is null;
    -- what sticks to the thread: not what belongs to one run or points at a moment in time
    _lasting := (_merged -> 'config') - 'metadata' || jsonb_build_object('configurable', (_merged -> 'config' -> 'configurable')
      - array['run_id', 'thread_id', 'graph_id', 'assistant_id', 'checkpoint_id', 'checkpoint_ns', 'checkpoint_map']);

    if _new then
      insert into threads (thread_id, metadata, config, status, running_run_id)
      values (_thread_id, _thread_metadata || _metadata, _lasting, 'busy', case when claimed then _run_id end)
      on conflict do nothing;
      continue when not found;
    elsif t.status <> 'busy' then
      update threads set status = 'busy', updated_at = now(), metadata = t.metadata || _thread_metadata,
                         config = t.config || _lasting, running_run_id = case when claimed then _run_id else running_run_id end
      where thread_id = _thread_id;
    elsif claimed then
      update threads set running_run_id = _run_id, updated_at = now() where thread_id = _thread_id;
    end if;
    exit;
  end loop;

  insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary,
                    available_at, attempt, server_id, started_at)
  values (_run_id, _thread_id, _assistant_id, case when claimed then 'running' else 'pending' end,
          _run_metadata, _merged, _strategy, _temporary, now() + make_interval(secs => greatest(_after, 0)),
          case when claimed then 1 else 0 end, _server, case when claimed then now() end);

  outcome := 'created';
  if claimed then kwargs := _merged::text; end if;
  if _describe then select run_wire(s)::text into run from runs s where s.run_id = _run_id; end if;
  return next;
end $$;

-- Claims up to _limit pending runs for a server: oldest first, one a thread, never past an older one of the
-- same thread. A run waits for the server that accepted it while that one lives, because readers wait there.
create or replace function claim_runs(_server uuid, _limit integer) returns table (
  run_id uuid, thread_id uuid, assistant_id uuid, graph_id text, attempt integer, failures integer,
  kwargs text, fresh_thread boolean, cancel_action text
) language sql as $$
  with candidate as (
    select r.run_id, r.thread_id
    from runs r join threads t on t.thread_id = r.thread_id
    where r.status = 'pending' and r.available_at <= now() and t.running_run_id is null
      and not exists (select 1 from runs e where e.thread_id = r.thread_id and e.seq < r.seq
                      and e.status = 'pending' and e.available_at <= now())
      and (r.server_id is null or r.server_id = _server
           or not exists (select 1 from servers s where s.server_id = r.server_id))
    order by r.seq
    limit _limit
    for update of r, t skip locked
  ), claimed as (
    update runs r
    set status = 'running', attempt = r.attempt + 1, server_id = _server, updated_at = now(),
        started_at = coalesce(r.started_at, now())
    from candidate c where r.run_id = c.run_id
    returning r.*
  ), marked as (
    update threads t set running_run_id = c.run_id, status = 'busy' from claimed c where t.thread_id = c.thread_id
  )
  select c.run_id, c.thread_id, c.assistant_id, a.graph_id, c.attempt, c.failures, c.kwargs::text,
         not exists (select 1 from checkpoints k where k.thread_id = c.thread_id::text), c.cancel_action
  from claimed c left join assistants a on a.assistant_id = c.assistant_id
  order by c.seq
$$;

-- Ends a run: its final status, the thread's values and status, the thread's freedom, in one transaction.
-- outcome: the run's final status, or 'deleted' (rolled back), or 'lost' (the attempt is not the current one).
-- _state: {"values", "next": [], "interrupts": {}} as the graph host saw it, or null when nobody knows.
create or replace function finish_run(
  _run_id uuid, _thread_id uuid, _attempt integer, _outcome text, _error jsonb, _state jsonb, _notify boolean
) returns table (outcome text, waiting boolean) language plpgsql as $$
declare
  r record;
  _status text;
  _settled text;
begin
  perform 1 from threads where thread_id = _thread_id for update;
  -- never "select *": a run's input may be large
  select s.attempt, s.status, s.cancel_action, s.temporary into r from runs s where s.run_id = _run_id;
  if not found or r.attempt <> _attempt or r.status <> 'running' then
    outcome := 'lost'; waiting := false; return next; return;
  end if;
  waiting := exists (select 1 from runs where thread_id = _thread_id and status = 'pending');

  if r.cancel_action = 'rollback' then
    perform delete_run_checkpoints(_thread_id, _run_id);
    delete from runs where run_id = _run_id;
    outcome := 'deleted';
  else
    outcome := case
      when _outcome = 'success' then 'success'
      when r.cancel_action = 'timeout' then 'timeout'
      when r.cancel_action = 'interrupt' then 'interrupted'
      when _outcome = 'cancelled' then 'interrupted'
      else 'error' end;
  end if;

  if r.temporary and not waiting then
    perform delete_thread_data(_thread_id);
  elsif outcome = 'deleted' then
    update threads set running_run_id = null, updated_at = now(),
                       status = case when waiting then 'busy' else settled_status end
    where thread_id = _thread_id;
  else
    update runs set status = outcome, error = case when outcome in ('error', 'timeout') then _error end,
                    updated_at = now(), ended_at = now()
    where run_id = _run_id;
    _settled := case
      when outcome in ('error', 'timeout') then 'error'
      when jsonb_array_length(_state -> 'next') > 0 then 'interrupted'
      else 'idle' end;
    update threads
    set settled_status = _settled, status = case when waiting then 'busy' else _settled end, running_run_id = null,
        values = coalesce(_state -> 'values', values), interrupts = coalesce(_state -> 'interrupts', interrupts),
        error = case when _settled = 'error' then _error end, updated_at = now(), state_updated_at = now()
    where thread_id = _thread_id;
  end if;
  if _notify then perform pg_notify('heddle_done', _run_id::text); end if;
  return next;
end $$;

-- Gives a run that its owner could not finish back to the queue. _blame counts a failure; at the limit the
-- run ends as error with _reason. A run that has written a checkpoint since its last failure starts to count
-- anew: a long run may lose many hosts, but none twice at the same step without end. A run that was asked to
-- stop ends as asked.
create or replace function release_run(
  _run_id uuid, _attempt integer, _blame boolean, _max_failures integer, _reason text, _notify boolean
) returns table (outcome text, thread_id uuid) language plpgsql as $$
declare
  r record;
  _progress text;
  _failures integer;
begin
  select s.thread_id into release_run.thread_id from runs s where s.run_id = _run_id;
  perform 1 from threads t where t.thread_id = release_run.thread_id for update;
  select s.attempt, s.status, s.cancel_action, s.failures, s.progress into r from runs s where s.run_id = _run_id;
  if not found or r.attempt <> _attempt or r.status <> 'running' then
    outcome := 'lost'; return next; return;
  end if;
  _failures := r.failures;
  if _blame then
    select max(c.checkpoint_id) into _progress from checkpoints c
    where c.thread_id = release_run.thread_id::text and c.checkpoint_ns = '' and c.metadata ->> 'run_id' = _run_id::text;
    _failures := case when _progress > coalesce(r.progress, '') then 1 else r.failures + 1 end;
  end if;
  update runs set failures = _failures, progress = coalesce(_progress, r.progress) where run_id = _run_id;
  if r.cancel_action is not null or (_blame and _failures >= _max_failures) then
    select f.outcome into outcome
    from finish_run(_run_id, release_run.thread_id, _attempt, case when r.cancel_action is null then 'error' else 'cancelled' end,
                    jsonb_build_object('error', 'RunFailed', 'message', _reason), null, _notify) f;
    return next; return;
  end if;
  update runs
  set status = 'pending', updated_at = now(),
      available_at = now() + make_interval(secs => case when _blame then (_failures - 1) * 0.5 else 0 end)
  where run_id = _run_id;
  update threads t set running_run_id = null where t.thread_id = release_run.thread_id;
  outcome := 'pending';
  perform pg_notify('heddle_queue', '');
  return next;
end $$;

-- Cancels a run. outcome: not_found | finished | cancelled (it was pending) | signalled (it runs).
create or replace function cancel_run(_run_id uuid, _thread_id uuid, _action text, _reason text)
returns table (outcome text, server_id uuid) language plpgsql as $$
declare r record;
begin
  perform 1 from threads t where t.thread_id = _thread_id for update;
  select s.server_id, s.status, s.temporary into r from runs s where s.run_id = _run_id and s.thread_id = _thread_id;
  if not found then outcome := 'not_found'; return next; return; end if;
  server_id := r.server_id;
  if r.status = 'running' then
    update runs
    set cancel_action = case when cancel_action = 'rollback' then 'rollback' else _action end,
        cancel_reason = coalesce(runs.cancel_reason, _reason), updated_at = now()
    where runs.run_id = _run_id;
    perform pg_notify('heddle_cancel', _run_id::text);
    outcome := 'signalled';
  elsif r.status = 'pending' then
    if _action = 'rollback' then
      -- an earlier attempt of it may have written
      perform delete_run_checkpoints(_thread_id, _run_id);
      delete from runs where runs.run_id = _run_id;
    else
      update runs set status = 'interrupted', cancel_reason = _reason, updated_at = now(), ended_at = now()
      where runs.run_id = _run_id;
    end if;
    if r.temporary
       and not exists (select 1 from runs n where n.thread_id = _thread_id and n.status in ('pending', 'running')) then
      perform delete_thread_data(_thread_id);
    else
      perform settle_thread(_thread_id);
    end if;
    perform pg_notify('heddle_done', _run_id::text);
    outcome := 'cancelled';
  else
    outcome := 'finished';
  end if;
  return next;
end $$;

-- What crosses the wire, composed where the rows are, so that the server passes text through (contract §4, §5, §7).
create or replace function assistant_wire(a assistants) returns json language sql stable as $$
  select json_build_object(
    'assistant_id', a.assistant_id, 'graph_id', a.graph_id, 'name', a.name, 'description', a.description,
    'config', a.config, 'context', a.context, 'metadata', a.metadata, 'version', a.version,
    'created_at', a.created_at, 'updated_at', a.updated_at)
$$;

create or replace function thread_wire(t threads) returns json language sql stable as $$
  select json_build_object(
    'thread_id', t.thread_id, 'created_at', t.created_at, 'updated_at', t.updated_at,
    'state_updated_at', t.state_updated_at, 'metadata', t.metadata, 'status', t.status, 'config', t.config,
    'values', coalesce(t.values, '{}'), 'interrupts', t.interrupts, 'error', t.error)
$$;

create or replace function run_wire(r runs) returns json language sql stable as $$
  select json_build_object(
    'run_id', r.run_id, 'thread_id', r.thread_id, 'assistant_id', r.assistant_id,
    'created_at', r.created_at, 'updated_at', r.updated_at, 'status', r.status, 'metadata', r.metadata,
    'kwargs', r.kwargs, 'multitask_strategy', r.multitask_strategy, 'error', r.error, 'cancel_reason', r.cancel_reason)
$$;

-- ---------------------------------------------------------------------------------------------------------
-- Assistants (server/src/agent/assistants)

-- Applies a patch and stores the result as the newest version. What the patch does not name stays; metadata
-- is merged. The lock comes first and by itself, so that patches at the same time get versions one by one.
create or replace function patch_assistant(_assistant_id uuid, _patch jsonb) returns json language plpgsql as $$
declare a assistants;
begin
  select * into a from assistants where assistant_id = _assistant_id for update;
  if not found then return null; end if;
  update assistants set
    graph_id = coalesce(_patch ->> 'graph_id', a.graph_id),
    name = coalesce(_patch ->> 'name', a.name),
    description = case when _patch ? 'description' then _patch ->> 'description' else a.description end,
    config = case when _patch ? 'config' then nullif(_patch -> 'config', 'null') else a.config end,
    context = case when _patch ? 'context' then nullif(_patch -> 'context', 'null') else a.context end,
    metadata = a.metadata || coalesce(nullif(_patch -> 'metadata', 'null'), '{}'),
    version = (select max(version) + 1 from assistant_versions where assistant_id = _assistant_id),
    updated_at = now()
  where assistant_id = _assistant_id
  returning * into a;
  insert into assistant_versions (assistant_id, version, graph_id, name, description, config, context, metadata)
  values (a.assistant_id, a.version, a.graph_id, a.name, a.description, a.config, a.context, a.metadata);
  return assistant_wire(a);
end $$;

-- Deletes an assistant and its runs. A run that still runs loses its row, and so its right to write.
create or replace function delete_assistant(_assistant_id uuid) returns boolean language plpgsql as $$
declare _threads uuid[];
begin
  delete from assistants where assistant_id = _assistant_id;
  if not found then return false; end if;
  select coalesce(array_agg(thread_id), '{}') into _threads from (
    select t.thread_id from threads t
    where exists (select 1 from runs r where r.thread_id = t.thread_id and r.assistant_id = _assistant_id)
    order by t.thread_id for update
  ) locked;
  with gone as (delete from runs where assistant_id = _assistant_id returning run_id, thread_id)
  update threads t set running_run_id = null from gone where t.thread_id = gone.thread_id and t.running_run_id = gone.run_id;
  perform settle_thread(thread_id) from threads where thread_id = any(_threads) and status = 'busy';
  return true;
end $$;

-- ---------------------------------------------------------------------------------------------------------
-- Threads (server/src/agent/threads)

-- Deletes a thread. Its runs go first: a host that is just writing for one holds its row, and whoever comes
-- later finds no row and writes nothing, so that no checkpoint stays behind.
create or replace function delete_thread(_thread_id uuid) returns void language plpgsql as $$
begin
  perform 1 from threads where thread_id = _thread_id for update;
  delete from runs where thread_id = _thread_id;
  perform delete_thread_data(_thread_id);
end $$;

-- Copies a thread with its history: the same checkpoints in the same order, the thread's id replaced. All of
-- the history is read in one statement, so that a run of the source that goes on cannot tear it.
create or replace function copy_thread(_source uuid, _target uuid) returns json language plpgsql as $$
declare t threads;
begin
  select * into t from threads where thread_id = _source for share;
  if not found then return null; end if;
  insert into threads (thread_id, metadata, values, interrupts)
  values (_target, t.metadata || jsonb_build_object('thread_id', _target), t.values, t.interrupts)
  returning * into t;
  with copied_blobs as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select _target::text, checkpoint_ns, channel, version, type, blob from checkpoint_blobs where thread_id = _source::text
  ), copied_writes as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    select _target::text, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob
    from checkpoint_writes where thread_id = _source::text
  )
  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
  select _target::text, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
         case when metadata ? 'thread_id' then metadata || jsonb_build_object('thread_id', _target) else metadata end
  from checkpoints where thread_id = _source::text;
  return thread_wire(t);
end $$;

-- Drops all but a thread's latest checkpoint. Kept with it: the checkpoints of subgraphs that belong to it or
-- that live as long as the thread (no task id in their namespace), and, where channels are stored as changes
-- since a snapshot, the ancestors that hold them. A busy thread is left alone: its run may have started from
-- an older checkpoint. False when there is no such thread or it is busy.
create or replace function prune_thread(_thread_id uuid) returns boolean language plpgsql as $$
declare
  _thread text := _thread_id::text;
  _latest text;
begin
  perform 1 from threads where thread_id = _thread_id for update;
  if not found then return false; end if;
  if exists (select 1 from runs where thread_id = _thread_id and status in ('pending', 'running')) then return false; end if;
  select max(checkpoint_id) into _latest from checkpoints where thread_id = _thread and checkpoint_ns = '';
  if _latest is null then return true; end if;

  with recursive newest as (
    select distinct on (checkpoint_ns) checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata
    from checkpoints
    where thread_id = _thread
      and (checkpoint_id = _latest or checkpoint_ns not like '%:%' or metadata -> 'parents' ->> '' = _latest)
    order by checkpoint_ns, checkpoint_id desc
  ), kept as (
    select checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata ? 'counters_since_delta_snapshot' as delta from newest
    union
    select c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, k.delta
    from kept k join checkpoints c on k.delta and c.thread_id = _thread
      and c.checkpoint_ns = k.checkpoint_ns and c.checkpoint_id = k.parent_checkpoint_id
  )
  delete from checkpoints c
  where c.thread_id = _thread
    and not exists (select 1 from kept k where k.checkpoint_ns = c.checkpoint_ns and k.checkpoint_id = c.checkpoint_id);

  delete from checkpoint_writes w
  where w.thread_id = _thread
    and not exists (select 1 from checkpoints c where c.thread_id = _thread
                    and c.checkpoint_ns = w.checkpoint_ns and c.checkpoint_id = w.checkpoint_id);
  delete from checkpoint_blobs b
  where b.thread_id = _thread
    and not exists (select 1 from checkpoints c where c.thread_id = _thread and c.checkpoint_ns = b.checkpoint_ns
                    and c.checkpoint -> 'channel_versions' ->> b.channel = b.version);
  update checkpoints c set parent_checkpoint_id = null
  where c.thread_id = _thread and c.parent_checkpoint_id is not null
    and not exists (select 1 from checkpoints p where p.thread_id = _thread
                    and p.checkpoint_ns = c.checkpoint_ns and p.checkpoint_id = c.parent_checkpoint_id);
  return true;
end $$;

-- ---------------------------------------------------------------------------------------------------------
-- Store (server/src/agent/store)

-- True when all conditions [{key, op, operand}] hold for an item's value. Only values of one type are ordered.
create or replace function store_matches(_value jsonb, _conditions jsonb) returns boolean language sql immutable as $$
  select not exists (
    select 1
    from jsonb_to_recordset(_conditions) as c(key text, op text, operand jsonb),
         lateral (select _value -> c.key as v, coalesce(c.operand, 'null') as w) x
    where not coalesce(case c.op
      when '$eq' then v = w
      when '$ne' then v is distinct from w
      when '$in' then w @> jsonb_build_array(v) and v is not null
      when '$nin' then v is null or not w @> jsonb_build_array(v)
      else jsonb_typeof(v) = jsonb_typeof(w) and case c.op
        when '$gt' then v > w
        when '$gte' then v >= w
        when '$lt' then v < w
        when '$lte' then v <= w end
    end, false)
  )
$$;

-- ---------------------------------------------------------------------------------------------------------
-- Identity (server/src/identity)

-- What a role is worth, for identity/roles/built-in.ts to read; null for null.
create or replace function role_rights(_role uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('built_in', organization_id is null, 'name', name, 'permissions', to_jsonb(permissions))
  from roles where id = _role
$$;

-- Which workspace a key means that names none: the only one that it is for, or that its person is a member of.
create or replace function only_workspace_of_key(_key uuid, _user uuid) returns uuid language sql stable as $$
  select case when count(*) = 1 then (array_agg(candidate.id))[1] end
  from (
    select workspace_id as id from api_key_workspaces where key_id = _key
    union
    select m.workspace_id
    from workspace_members m
    join workspaces w on w.id = m.workspace_id and w.deleted_at is null
    join api_keys k on k.id = _key and k.all_workspaces and k.organization_id = w.organization_id
    where m.user_id = _user
  ) candidate
$$;

-- The workspaces that a person may enter: as a member, or as an administrator of the organisation.
create or replace function workspaces_of_user(_user uuid) returns setof workspaces language sql stable as $$
  select w.*
  from workspaces w
  join organization_members om on om.organization_id = w.organization_id and om.user_id = _user
  join roles r on r.id = om.role_id
  where w.deleted_at is null and (
    exists (select 1 from workspace_members m where m.workspace_id = w.id and m.user_id = _user)
    or (r.organization_id is null and r.name = 'ORGANIZATION_ADMIN') or r.permissions @> '{organization:manage}')
$$;
