-- The run queue's operations, one round trip each. The files of this folder are reapplied whenever one changes;
-- a function whose signature changes gets a new name, so that servers of the previous version keep working.
--
-- Locks are always taken in one order, thread before run, so that no two of these can deadlock.
-- Each statement of a plpgsql function sees the commits before it (read committed): after the
-- thread's row is locked, reads of its runs are current.

-- Sets a thread's status from its runs. The caller holds the thread's lock.
create or replace function settle_thread(_thread_id uuid) returns void language sql as $$
  update threads t
  set status = case
        when exists (select 1 from runs r where r.thread_id = _thread_id and r.status in ('pending', 'running'))
        then 'busy' else t.settled_status end,
      updated_at = now()
  where t.thread_id = _thread_id
$$;

-- Deletes the blobs of a thread that no checkpoint names and on which no other blob is based.
create or replace function delete_unused_blobs(_thread text) returns void language sql as $$
  with recursive used as (
    select b.checkpoint_ns, b.channel, b.version, b.base
    from (
      select distinct c.checkpoint_ns, v.key as channel, v.value as version
      from checkpoints c cross join lateral jsonb_each_text(c.checkpoint -> 'channel_versions') v
      where c.thread_id = _thread
    ) named join checkpoint_blobs b on b.thread_id = _thread
      and b.checkpoint_ns = named.checkpoint_ns and b.channel = named.channel and b.version = named.version
    union
    select b.checkpoint_ns, b.channel, b.version, b.base
    from used u join checkpoint_blobs b on b.thread_id = _thread
      and b.checkpoint_ns = u.checkpoint_ns and b.channel = u.channel and b.version = u.base
  )
  delete from checkpoint_blobs b
  where b.thread_id = _thread and (b.checkpoint_ns, b.channel, b.version) not in (
    select u.checkpoint_ns, u.channel, u.version from used u);
$$;

-- Deletes what a run wrote: its checkpoints, their writes, and the blobs that no other checkpoint names. While another
-- run of the thread is running, blobs stay for the next deletion: that run has read them, and its next checkpoints
-- name them without writing them again.
-- If channels are stored as changes since a snapshot, checkpoints that precede those of other runs stay with their
-- writes, and all of the run's while another one is running: without them the values that follow could not be rebuilt.
create or replace function delete_run_checkpoints(_thread_id uuid, _run_id uuid) returns void language plpgsql as $$
declare
  _thread text := _thread_id::text;
  _gone integer;
  _running boolean := exists (
    select 1 from runs r where r.thread_id = _thread_id and r.status = 'running' and r.run_id <> _run_id);
begin
  with recursive needed as (
    select c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id from checkpoints c
    where c.thread_id = _thread and c.metadata ? 'counters_since_delta_snapshot'
      and (_running or c.metadata ->> 'run_id' is distinct from _run_id::text)
    union
    select c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id
    from needed n join checkpoints c on c.thread_id = _thread
      and c.checkpoint_ns = n.checkpoint_ns and c.checkpoint_id = n.parent_checkpoint_id
  ), gone as (
    delete from checkpoints c
    where c.thread_id = _thread and c.metadata ->> 'run_id' = _run_id::text
      and not exists (select 1 from needed n where n.checkpoint_ns = c.checkpoint_ns and n.checkpoint_id = c.checkpoint_id)
    returning checkpoint_ns, checkpoint_id
  ), writes as (
    delete from checkpoint_writes w using gone g
    where w.thread_id = _thread and w.checkpoint_ns = g.checkpoint_ns and w.checkpoint_id = g.checkpoint_id
  )
  select count(*) into _gone from gone;
  if _gone = 0 or _running then return; end if;
  perform delete_unused_blobs(_thread);
end $$;

-- Runs are deleted before checkpoints, here with their thread: a host that is writing for a run holds its row.
create or replace function delete_thread_data(_thread_id uuid) returns void language sql as $$
  delete from threads where thread_id = _thread_id;
  delete from checkpoints where thread_id = _thread_id::text;
  delete from checkpoint_blobs where thread_id = _thread_id::text;
  delete from checkpoint_writes where thread_id = _thread_id::text;
$$;

-- Stops the pending runs of a thread and signals the running one to stop. The caller holds the thread's lock.
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
    -- a pending run may have been handed back after it wrote
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

-- The run's kwargs with the settings of assistant and thread merged in: config and context of the assistant, then
-- configurable of the thread, then those of the run. The user's id is metadata of its traces and checkpoints too.
create or replace function merge_run_config(
  _kwargs jsonb, _assistant_config jsonb, _assistant_context jsonb, _thread_config jsonb, _run_metadata jsonb, _own jsonb
) returns jsonb language plpgsql immutable as $$
declare
  _config jsonb := _assistant_config || coalesce(_kwargs -> 'config', '{}');
  _context jsonb := _kwargs -> 'context';
  _user_id jsonb := _kwargs #> '{config,configurable,langgraph_auth_user_id}';
  _queue jsonb := _assistant_config #> '{heddle,queue}';
begin
  -- the place in the queue: of each field the run's value, else the assistant's
  if jsonb_typeof(_queue) = 'object' and jsonb_typeof(_kwargs #> '{config,heddle,queue}') = 'object' then
    _config := jsonb_set(_config, '{heddle,queue}', _queue || jsonb_strip_nulls(_kwargs #> '{config,heddle,queue}'));
  end if;
  _config := _config || jsonb_build_object(
    'configurable', ((coalesce(_assistant_config -> 'configurable', '{}') || coalesce(_thread_config -> 'configurable', '{}'))
                     - user_keys()) || coalesce(_kwargs -> 'config' -> 'configurable', '{}') || _own,
    'metadata', ((coalesce(_config -> 'metadata', '{}') || _run_metadata) - user_keys())
                || case when _user_id is null then '{}' else jsonb_build_object('langgraph_auth_user_id', _user_id) end);
  if _assistant_context is not null and jsonb_typeof(_assistant_context) <> 'null' then
    _context := case when jsonb_typeof(_assistant_context) = 'object' and jsonb_typeof(coalesce(_context, '{}')) = 'object'
                     then _assistant_context || coalesce(_context, '{}') else _assistant_context end;
  end if;
  _kwargs := _kwargs || jsonb_build_object('config', _config);
  return case when _context is null then _kwargs else _kwargs || jsonb_build_object('context', _context) end;
end $$;

-- Accepts a run and, if its thread is free and the server has a slot (_claim), starts it at once.
-- _kwargs: what the run executes with, and for this function only "asked", "access" (conditions on the thread's metadata),
-- "refusable" (the caller handles queue_full). _strategy: the multitask strategy. _create_thread: if it does not exist.
-- _after: delay in seconds. _temporary: the thread is deleted at the run's end. _server: the caller, which executes the
-- run if _claim is set. _describe: return the run in wire format. _wait: wait for locks of other transactions.
-- outcome: created | no_assistant | no_thread | busy | waits_for_itself | queue_full (to callers that send "refusable") | exists
-- (a retried call; the run is as it is)
-- | locked (without _wait: another transaction holds the thread, such as a state update, or a waiting key of flow control,
-- and others must not wait for it)
-- | unknown_interrupt (a resume that does not fit the pending interrupts; run holds the reason, see questions.sql).
-- head: the thread's newest checkpoint, if the run starts at once and nothing was written besides that checkpoint:
-- a caller that has it in memory need not read it.
create or replace function accept_run(
  _run_id uuid, _thread_id uuid, _assistant_id uuid, _kwargs jsonb, _metadata jsonb, _strategy text,
  _create_thread boolean, _after double precision, _temporary boolean, _server uuid, _claim boolean,
  _describe boolean, _wait boolean
) returns table (
  outcome text, run text, graph_id text, claimed boolean, kwargs text, fresh_thread boolean, cancelled uuid[], head text
) language plpgsql as $$
declare
  a record; t record;
  _new boolean;
  _inflight integer := 0;
  _merged jsonb; _lasting jsonb; _flow jsonb; _full jsonb;
  _debounces boolean;
  _replaced uuid[];
  _debounced record; _run_metadata jsonb; _thread_metadata jsonb; _questions jsonb; _asked jsonb;
  -- The time of the snapshot in which "asked" was read. now() is that of the statement's first preparation, a round trip
  -- earlier: an interrupt raised in between would seem younger than the run.
  _accepted_at timestamptz := statement_timestamp();
begin
  cancelled := '{}';
  claimed := false;
  -- Read before the wait for the thread: the caller cannot have seen interrupts that are raised during it. Servers that
  -- support "asked" send it, from before the wait for other runs of the same statement.
  _asked := coalesce(_kwargs -> 'asked', answerable_interrupts(_thread_id, _kwargs));
  _kwargs := _kwargs - 'asked';
  select s.graph_id, coalesce(s.config, '{}') as config, s.context, s.metadata, q.rules into a
  from assistants s left join run_queue_rules q on q.graph_id = s.graph_id where s.assistant_id = _assistant_id;
  if not found then outcome := 'no_assistant'; return next; return; end if;
  graph_id := a.graph_id;
  -- new input only: an answer, or a run for later, is meant for itself
  _debounces := coalesce(a.rules ? 'debounce', false) and _after <= 0 and coalesce(_kwargs -> 'input', 'null') <> 'null'
    and coalesce(_kwargs -> 'command', 'null') = 'null';
  _thread_metadata := jsonb_build_object('graph_id', a.graph_id, 'assistant_id', _assistant_id);

  -- twice if another transaction creates the thread concurrently
  loop
    -- never "select *": a thread's values may be large
    if _wait then
      select s.metadata, s.config, s.status, s.settled_status, s.running_run_id into t from threads s where s.thread_id = _thread_id for update;
    else
      select s.metadata, s.config, s.status, s.settled_status, s.running_run_id into t
      from threads s where s.thread_id = _thread_id for update skip locked;
      if not found and exists (select 1 from threads where thread_id = _thread_id) then
        outcome := 'locked'; run := _asked::text; return next; return;
      end if;
    end if;
    _new := t.metadata is null;
    if _new then
      if not _create_thread then outcome := 'no_thread'; return next; return; end if;
      fresh_thread := true;
    else
      -- the conditions of the project's own rules for an existing thread
      if _kwargs ? 'access' and not access_permits(t.metadata, _kwargs -> 'access') then
        outcome := 'no_thread'; return next; return;
      end if;
      perform 1 from runs where runs.run_id = _run_id;
      if found then
        outcome := 'exists';
        select run_wire(s)::text into run from runs s where s.run_id = _run_id;
        return next; return;
      end if;
      -- without the runs whose place this one takes
      select count(*) into _inflight from runs
      where thread_id = _thread_id and status in ('pending', 'running')
        and not (_debounces and status = 'pending' and attempt = 0 and coalesce(flow ? 'debounced_since', false));
      if _inflight > 0 and _strategy = 'reject' and not (_asked is not null and answers_live(_thread_id, _kwargs)) then
        outcome := 'busy'; return next; return;
      end if;
      -- a node that calls its own server as a remote graph, with the metadata of its run: it would wait for itself
      if _strategy = 'enqueue' and t.running_run_id::text = _kwargs #>> '{config,metadata,run_id}'
         and _kwargs #> '{config,metadata}' ? 'langgraph_node' then
        outcome := 'waits_for_itself'; run := t.running_run_id::text; return next; return;
      end if;
    end if;
    _run_metadata := a.metadata || case when _new then _thread_metadata || _metadata else t.metadata || _metadata end;
    _merged := merge_run_config(_kwargs - 'access' - 'refusable', a.config, a.context, case when _new then '{}' else t.config end, _run_metadata,
      jsonb_build_object('run_id', _run_id, 'thread_id', _thread_id, 'graph_id', a.graph_id, 'assistant_id', _assistant_id));
    -- both before the strategy stops other runs
    if a.rules is not null then
      _flow := run_flow(a.rules, _merged, _run_metadata, a.graph_id, _assistant_id);
      if _kwargs ? 'refusable' and _flow ? 'waiting' then
        select coalesce(array_agg(r.run_id), '{}') into _replaced from runs r
        where r.thread_id = _thread_id and r.status = 'pending'
          and (_debounces and r.attempt = 0 and r.flow ? 'debounced_since' or _strategy in ('interrupt', 'rollback'));
        _full := full_waiting_key(_flow, _replaced);
        if _full is null then
          if not hold_waiting_keys(_flow) then outcome := 'locked'; run := _asked::text; return next; return; end if;
          _full := full_waiting_key(_flow, _replaced);
        end if;
      end if;
      if _full is not null then
        -- runs of another transaction that has created the thread meanwhile may be those whose place this one takes
        continue when _new and exists (select 1 from threads where thread_id = _thread_id);
        outcome := 'queue_full'; run := _full::text; return next; return;
      end if;
    end if;
    if _asked is not null then
      _questions := bind_resume(_thread_id, _kwargs, _inflight > 0, _asked);
      if _questions ? 'refused' then
        outcome := 'unknown_interrupt'; run := _questions ->> 'refused'; return next; return;
      end if;
    end if;
    if _debounces then
      -- of a thread that another transaction is creating, only in the second turn, under its lock
      select * into _debounced from debounce_run(case when not _new then _thread_id end, _accepted_at, a.rules -> 'debounce');
      cancelled := _debounced.replaced;
      _flow := _flow || jsonb_build_object('debounced_since', _debounced.since);
      _after := _debounced.after;
    end if;
    if _flow is not null and _after > 0 then
      _flow := _flow || jsonb_build_object('due', _accepted_at + make_interval(secs => _after));
    end if;
    if not _new then
      if _inflight > 0 and _strategy in ('interrupt', 'rollback') then
        cancelled := cancelled || stop_inflight(_thread_id, _strategy);
        select count(*) into _inflight from runs where thread_id = _thread_id and status in ('pending', 'running');
      end if;
      fresh_thread := not exists (select 1 from checkpoints c where c.thread_id = _thread_id::text);
    end if;

    -- a graph that this server cannot run is left to claim_runs
    -- a server without a lease claims nothing: other servers have taken over its runs
    -- as is a run with flow control: only claims know the limits
    claimed := _claim and _flow is null and _inflight = 0 and _after <= 0 and t.running_run_id is null
      and exists (select 1 from servers v where v.server_id = _server and (v.graphs is null or a.graph_id = any (v.graphs)));
    if claimed and _questions ->> 'begun' = 'false' then
      _questions := meet_questions(_thread_id, _questions, _merged, t.settled_status);
    elsif t.settled_status = 'interrupted' and _inflight = 0 and _after <= 0 then
      _questions := coalesce(_questions, discarded_questions(_thread_id, _merged, t.settled_status));
    end if;
    if claimed and not _new then
      _merged := in_users_name(_thread_id, _merged, _questions, t.settled_status);
    end if;
    -- the settings that persist on the thread, without those of one run or of a point in time
    _lasting := (_merged -> 'config') - 'metadata' || jsonb_build_object('configurable', (_merged -> 'config' -> 'configurable')
      - array['run_id', 'thread_id', 'graph_id', 'assistant_id', 'checkpoint_id', 'checkpoint_ns', 'checkpoint_map',
              '__pregel_resuming']
      - user_keys());

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
                    created_at, updated_at, available_at, attempt, server_id, started_at, webhook, questions, flow)
  values (_run_id, _thread_id, _assistant_id, case when claimed then 'running' else 'pending' end,
          _run_metadata, _merged, _strategy, _temporary, _accepted_at, _accepted_at,
          _accepted_at + make_interval(secs => greatest(_after, 0)),
          case when claimed then 1 else 0 end, _server, case when claimed then _accepted_at end, _kwargs ->> 'webhook', _questions, _flow);

  outcome := 'created';
  if claimed then
    kwargs := case when _questions is null then _merged else _merged || jsonb_build_object('questions', _questions) end::text;
  end if;
  if claimed and not fresh_thread then
    select c.checkpoint_id into head from checkpoints c
    where c.thread_id = _thread_id::text and c.checkpoint_ns = '' order by c.checkpoint_id desc limit 1;
    perform 1 from checkpoint_writes w
    where w.thread_id = _thread_id::text and w.checkpoint_ns = '' and w.checkpoint_id = head;
    if found then head := null; end if;
  end if;
  if _describe then
    select run_wire(s)::text into run from runs s where s.run_id = _run_id;
  elsif _questions ? 'discarded' then
    run := jsonb_build_object('discarded_interrupts', _questions -> 'discarded')::text;
  end if;
  return next;
end $$;

-- The time from which a pending run waits for its start: when it was created or became due, or the pause before its retry
-- ended. In the future if it is not due.
create or replace function waits_since(r runs) returns timestamptz language sql stable as $$
  select greatest(r.created_at, r.available_at, (r.flow ->> 'due')::timestamptz)
$$;

-- The number of runs, up to _limit, that a server should claim now so that all servers use the same fraction of their
-- slots once the pending runs have started. Runs that have waited for _left_over seconds are any server's: the
-- servers whose share they were are frozen, or lack the graph. Counts at most 512 pending runs, so that a backlog costs
-- no more: with that many, every server is busy for a while.
create or replace function claim_share(_server uuid, _limit integer, _left_over double precision) returns integer language sql stable as $$
  with load as (
    select s.server_id, s.slots, count(r.run_id) as running
    from servers s left join runs r on r.status = 'running' and r.server_id = s.server_id
    where s.slots is not null group by s.server_id
  ), queue as (
    select count(*) as due, count(*) filter (
      where p.since not between clock_timestamp() - make_interval(secs => _left_over) and clock_timestamp()) as left_over
    from (select r.run_id, r.thread_id, r.attempt, r.available_at, r.created_at, greatest(r.available_at, r.created_at) as since
          from runs r where r.status = 'pending' order by r.seq limit 512) p
    join threads t on t.thread_id = p.thread_id and coalesce(t.running_run_id, p.run_id) = p.run_id
    where p.available_at <= greatest(now(), p.created_at) or p.attempt > 0 and p.available_at > now() + interval '5 s'
  )
  select greatest(0, least(_limit, greatest(
    ceil(own.slots * (everyone.running + queue.due)::numeric / everyone.slots)::integer - own.running::integer,
    queue.left_over::integer)))
  from load own, queue, (select sum(slots) as slots, sum(running) as running from load) everyone
  where own.server_id = _server
$$;

-- Claims up to _limit pending runs for a server: first those without flow, oldest first, then those with flow in the
-- order of their lanes (flow.sql); one per thread, never past an older one of the same thread. Any server with a slot
-- claims them; readers find the frames on any server (streams.sql).
-- A graph that this server cannot run is left to one that can. If no server can, it is claimed, to end with the reason.
-- Due are runs without a delay, whatever the database's clock has done since, and retries whose pause lies further ahead
-- than pauses can. A retry blocks younger runs of its thread during its pause, because its own steps are on the thread.
-- A server without a lease claims nothing.
-- The free thread is a join, because without statistics the planner takes `is null` for rare: it scanned all threads
-- and looked up the runs of each, 0.5 ms at 700 threads.
create or replace function claim_runs(_server uuid, _limit integer) returns table (
  run_id uuid, thread_id uuid, assistant_id uuid, graph_id text, attempt integer, failures integer,
  kwargs text, fresh_thread boolean, cancel_action text
) language plpgsql as $$
declare
  _chosen uuid[];
  _has_flow boolean;
begin
  select coalesce(array_agg(c.run_id), '{}'),
         exists (select 1 from run_queue_events) or exists (select 1 from run_lanes l where l.state = 'ready')
  into _chosen, _has_flow
  from (
    select r.run_id
    from runs r join threads t on t.thread_id = r.thread_id
    where r.status = 'pending' and r.flow is null and coalesce(t.running_run_id, r.run_id) = r.run_id
      and (r.available_at <= greatest(now(), r.created_at) or r.attempt > 0 and r.available_at > now() + interval '5 s')
      and not exists (select 1 from runs e where e.thread_id = r.thread_id and e.seq < r.seq and e.status = 'pending'
                      and (e.available_at <= greatest(now(), e.created_at) or e.attempt > 0))
      and exists (select 1 from servers m where m.server_id = _server)
      -- a scalar subquery, so that it uses the index for the few rows that reach it
      and (select a.graph_id <> all ((select m.graphs from servers m where m.server_id = _server)::text[])
                  and exists (select 1 from servers v where v.server_id <> _server and a.graph_id = any (v.graphs))
           from assistants a where a.assistant_id = r.assistant_id) is not true
    order by r.seq
    limit _limit
    for update of r, t skip locked
  ) c;
  if _has_flow and cardinality(_chosen) < _limit then
    _chosen := _chosen || choose_from_lanes(_server, _limit - cardinality(_chosen));
  end if;
  if cardinality(_chosen) = 0 then return; end if;
  return query
  with met as (
    select c.run_id, t.settled_status,
           case when c.questions is not null or (c.attempt = 0 and t.settled_status = 'interrupted')
                then meet_questions(c.thread_id, c.questions, c.kwargs, t.settled_status) end as met
    from runs c join threads t on t.thread_id = c.thread_id where c.run_id = any (_chosen)
  ), claimed as (
    update runs r
    set status = 'running', attempt = r.attempt + 1, server_id = _server, updated_at = now(),
        started_at = coalesce(r.started_at, now()), questions = m.met,
        -- large ones are not written again where nothing changes
        kwargs = case when r.attempt = 0 and r.kwargs #> '{config,configurable}' ? 'langgraph_auth_user_id'
                 then in_users_name(r.thread_id, r.kwargs, m.met, m.settled_status) else r.kwargs end
    from met m where r.run_id = m.run_id
    returning r.*
  ), marked as (
    update threads t set running_run_id = c.run_id, status = 'busy' from claimed c where t.thread_id = c.thread_id
  )
  select c.run_id, c.thread_id, c.assistant_id, a.graph_id, c.attempt, c.failures,
         case when c.questions is null then c.kwargs else c.kwargs || jsonb_build_object('questions', c.questions) end::text,
         not exists (select 1 from checkpoints k where k.thread_id = c.thread_id::text), c.cancel_action
  from claimed c left join assistants a on a.assistant_id = c.assistant_id
  order by c.seq;
end $$;

-- Ends a run: writes its final status and the thread's values and status, and frees the thread, in one transaction.
-- outcome: the run's final status, or 'deleted' (rolled back), or 'lost' (the attempt is not the current one), or
-- 'stale_values' (nothing was written: the thread's values are not those that the state's lists continue).
-- _outcome 'refused': the run ends as error without having started, and its thread is unchanged.
-- _state: {"values", "next": [], "interrupts": {}, "of"} as the graph host saw it, or null if unknown. Its long lists may be
-- in "lists" instead, relative to the values of checkpoint "base" (values.sql: put_value_lists).
create or replace function finish_run(
  _run_id uuid, _thread_id uuid, _attempt integer, _outcome text, _error jsonb, _state jsonb, _notify boolean
) returns table (outcome text, waiting boolean) language plpgsql as $$
declare
  r record;
  t record;
  _settled text;
begin
  -- never "select *": a thread's values and a run's input may be large
  select s.value_lists, s.values_of into t from threads s where s.thread_id = _thread_id for update;
  select s.attempt, s.status, s.cancel_action, s.temporary, s.webhook into r from runs s where s.run_id = _run_id;
  if not found or r.attempt <> _attempt or r.status <> 'running' then
    outcome := 'lost'; waiting := false; return next; return;
  end if;
  waiting := exists (select 1 from runs where thread_id = _thread_id and status = 'pending');
  if waiting then
    insert into run_queue_events (thread_id)
    select _thread_id where exists (select 1 from runs where thread_id = _thread_id and status = 'pending' and flow is not null);
  end if;

  if r.cancel_action = 'rollback' then
    -- the run first: its host may be writing a checkpoint, and holds the row until that checkpoint can be deleted
    delete from runs where run_id = _run_id;
    perform delete_run_checkpoints(_thread_id, _run_id);
    outcome := 'deleted';
  else
    outcome := case
      when _outcome = 'success' then 'success'
      when r.cancel_action = 'timeout' then 'timeout'
      when r.cancel_action = 'interrupt' then 'interrupted'
      when _outcome = 'cancelled' then 'interrupted'
      else 'error' end;
  end if;

  if r.temporary and outcome = 'success' and coalesce(_state -> 'interrupts', '{}') <> '{}'
     and exists (select 1 from runs s where s.run_id = _run_id and s.kwargs ? 'keep_interrupted') then
    -- its caller may answer; the thread is deleted with the run that follows, or when nothing has answered in a day
    r.temporary := false;
    update threads set ttl_strategy = 'delete', ttl_minutes = 1440 where thread_id = _thread_id and ttl_minutes is null;
  end if;
  if r.temporary and not waiting then
    -- only its webhook reports this end
    if r.webhook is not null and outcome <> 'deleted' then
      update runs set status = outcome, error = case when outcome in ('error', 'timeout') then _error end,
                      updated_at = now(), ended_at = now()
      where run_id = _run_id;
    end if;
    perform delete_thread_data(_thread_id);
  elsif outcome = 'deleted' then
    update threads set running_run_id = null, updated_at = now(),
                       status = case when waiting then 'busy' else settled_status end
    where thread_id = _thread_id;
  elsif _outcome = 'refused' and outcome = 'error' then
    update threads set running_run_id = null, updated_at = now(),
                       status = case when waiting then 'busy' else settled_status end
    where thread_id = _thread_id;
    update runs set status = outcome, error = _error, updated_at = now(), ended_at = now() where run_id = _run_id;
  elsif _state ? 'lists' and is_stale_state(t.value_lists, t.values_of, _state) then
    outcome := 'stale_values'; return next; return;
  else
    _settled := case
      when outcome in ('error', 'timeout') then 'error'
      when jsonb_array_length(_state -> 'next') > 0 then 'interrupted'
      else 'idle' end;
    if _state ? 'values' then
      update threads
      set settled_status = _settled, status = case when waiting then 'busy' else _settled end, running_run_id = null,
          values = _state -> 'values', value_lists = null, values_of = _state ->> 'of',
          interrupts = coalesce(_state -> 'interrupts', interrupts),
          error = case when _settled = 'error' then _error end, updated_at = now(), state_updated_at = now()
      where thread_id = _thread_id;
      if t.value_lists is not null or _state ? 'lists' then
        perform put_value_lists(_thread_id, t.value_lists, _state -> 'lists');
      end if;
    else
      update threads
      set settled_status = _settled, status = case when waiting then 'busy' else _settled end, running_run_id = null,
          interrupts = coalesce(_state -> 'interrupts', interrupts),
          error = case when _settled = 'error' then _error end, updated_at = now(),
          state_updated_at = case when _state is null then state_updated_at else now() end
      where thread_id = _thread_id;
    end if;
    -- after its thread, because the webhook trigger sends the thread's values
    update runs set status = outcome, error = case when outcome in ('error', 'timeout') then _error end,
                    updated_at = now(), ended_at = now()
    where run_id = _run_id;
  end if;
  if _notify then perform pg_notify('heddle_done', _run_id::text); end if;
  return next;
end $$;

-- Hands a run that its owner could not finish back to the queue. _blame counts a failure; at the limit the
-- run ends as error with _reason. A checkpoint written since the last failure resets the count:
-- a long run may lose many hosts, but not endlessly at the same step. A run that was signalled to
-- stop ends accordingly.
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
  -- a host that is writing holds the row until its checkpoint counts as progress
  select s.attempt, s.status, s.cancel_action, s.failures, s.progress into r from runs s where s.run_id = _run_id for update;
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
      -- at most 5 s; claim_runs relies on it
      available_at = case when _blame and _failures > 1 then now() + make_interval(secs => least((_failures - 1) * 0.5, 5))
                          else created_at end
  where run_id = _run_id;
  update threads t set running_run_id = null where t.thread_id = release_run.thread_id;
  outcome := 'pending';
  perform pg_notify('heddle_queue', '');
  return next;
end $$;

-- Cancels a run. outcome: not_found | finished | cancelled (it was pending) | signalled (it is running).
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
      -- an earlier attempt may have written
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
