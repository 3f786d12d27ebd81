-- Applies a patch and stores the result as the newest version. Fields that the patch does not name stay; metadata
-- is merged. The lock is taken first, in its own statement, so that concurrent patches get consecutive versions.
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

-- Deletes an assistant and its runs. A run that is still executing loses its row, and thereby its fence.
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
  -- runs with flow may have waited for those
  insert into run_queue_events (thread_id)
  select t from unnest(_threads) t
  where exists (select 1 from runs r where r.thread_id = t and r.status = 'pending' and r.flow is not null);
  return true;
end $$;
