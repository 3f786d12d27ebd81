-- Deletes a thread. Its runs are deleted first: a host that is writing for one holds its row, and later
-- writers find no row and write nothing, so that no checkpoint is left behind.
create or replace function delete_thread(_thread_id uuid) returns void language plpgsql as $$
begin
  perform 1 from threads where thread_id = _thread_id for update;
  delete from runs where thread_id = _thread_id;
  perform delete_thread_data(_thread_id);
end $$;

-- Copies a thread with its history: the same checkpoints in the same order, the thread's id replaced, and without the
-- users in whose name they were written: a copy belongs to whoever makes it. All of
-- the history is read in one statement, so that a running run of the source cannot make it inconsistent.
create or replace function copy_thread(_source uuid, _target uuid) returns json language plpgsql as $$
declare t threads;
begin
  select * into t from threads where thread_id = _source for share;
  if not found then return null; end if;
  insert into threads (thread_id, metadata, values, value_lists, values_of, interrupts)
  values (_target, t.metadata || jsonb_build_object('thread_id', _target), t.values, t.value_lists, t.values_of, t.interrupts)
  returning * into t;
  if t.value_lists is not null then
    insert into thread_value_items (thread_id, channel, position, item)
    select _target, channel, position, item from thread_value_items where thread_id = _source;
  end if;
  with copied_blobs as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob, base, chain, depth)
    select _target::text, checkpoint_ns, channel, version, type, blob, base, chain, depth from checkpoint_blobs where thread_id = _source::text
  ), copied_writes as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    select _target::text, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob
    from checkpoint_writes where thread_id = _source::text
  )
  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
  select _target::text, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
         case when metadata ? 'thread_id' then metadata || jsonb_build_object('thread_id', _target) else metadata end
         - user_keys()
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
  perform delete_unused_blobs(_thread);
  update checkpoints c set parent_checkpoint_id = null
  where c.thread_id = _thread and c.parent_checkpoint_id is not null
    and not exists (select 1 from checkpoints p where p.thread_id = _thread
                    and p.checkpoint_ns = c.checkpoint_ns and p.checkpoint_id = c.parent_checkpoint_id);
  return true;
end $$;

-- Applies a thread's time to live if it has expired: deletes the thread, or all but its latest checkpoint. A thread
-- that is locked or has an unfinished run is left for the next sweep. False: nothing was done.
create or replace function expire_thread(_thread_id uuid) returns boolean language plpgsql as $$
declare t record;
begin
  select s.ttl_strategy, s.expires_at into t from threads s where s.thread_id = _thread_id for update skip locked;
  if not found or t.expires_at is null or t.expires_at > now() then return false; end if;
  if exists (select 1 from runs where thread_id = _thread_id and status in ('pending', 'running')) then return false; end if;
  if t.ttl_strategy = 'delete' then
    perform delete_thread(_thread_id);
  else
    perform prune_thread(_thread_id);
    -- until its next activity
    update threads set expires_at = null where thread_id = _thread_id;
  end if;
  return true;
end $$;

-- Returns whether a state update may write: no run is on the thread, and no checkpoint of the namespaces that it has read
-- is newer than the newest one then (empty: none), except its own, which exists when the statement is repeated. Locks the
-- thread's row against runs until the commit, and other hosts' updates. The second statement sees what was committed
-- while it waited. Marks the thread as one whose row does not reflect the checkpoint yet.
create or replace function holds_head(_thread text, _namespaces text[], _newest text[], _own text) returns boolean
language plpgsql as $$
declare t record;
begin
  select s.running_run_id into t from threads s where s.thread_id = _thread::uuid for share;
  if not found or t.running_run_id is not null then return false; end if;
  perform pg_advisory_xact_lock(hashtextextended(_thread, 2));
  perform 1 from unnest(_namespaces, _newest) n(ns, id) join checkpoints c
    on c.thread_id = _thread and c.checkpoint_ns = n.ns and c.checkpoint_id > n.id and c.checkpoint_id <> _own;
  if found then return false; end if;
  insert into stale_threads as m (thread_id) values (_thread::uuid)
  on conflict (thread_id) do update set since = excluded.since;
  return true;
end $$;

-- Writes the state that a state update resulted in. _state: as for finish_run. The caller holds the thread's lock.
create or replace function settle_state(_thread_id uuid, _state jsonb) returns void language plpgsql as $$
declare
  _settled text := case when _state -> 'next' ->> 0 is null then 'idle' else 'interrupted' end;
begin
  if _state ? 'values' then perform put_values(_thread_id, _state); end if;
  update threads
  set interrupts = coalesce(nullif(_state -> 'interrupts', 'null'), '{}'), settled_status = _settled, status = _settled,
      error = null, updated_at = now(), state_updated_at = now()
  where thread_id = _thread_id;
  delete from stale_threads where thread_id = _thread_id;
end $$;

-- Writes a state as a graph host has read it, unless a run owns the thread, whose end will write it.
-- The caller holds the thread's lock.
create or replace function write_thread_head(_thread_id uuid, _state jsonb) returns void language plpgsql as $$
declare
  _settled text := case when jsonb_array_length(_state -> 'next') > 0 then 'interrupted' else 'idle' end;
begin
  update threads t
  set interrupts = _state -> 'interrupts', state_updated_at = now(), updated_at = now(),
      settled_status = case when t.settled_status = 'error' then 'error' else _settled end,
      status = case when t.status = 'busy' then 'busy' when t.settled_status = 'error' then 'error' else _settled end
  where t.thread_id = _thread_id and t.running_run_id is null;
  if found then perform put_values(_thread_id, _state); end if;
end $$;
