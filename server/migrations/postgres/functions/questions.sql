-- Pending interrupts of a thread, and the runs that answer or discard them. Their source is checkpoint_writes:
-- LangGraph keeps an interrupt there beside the checkpoint of its task's step, until the task has writes of its own.
-- A second interrupt of the same task has the same id up to LangGraph.js 1.5; the task's list of resume values
-- distinguishes them.
--
-- runs.questions is null for most runs. Otherwise it has one of three shapes:
--   {"bound": {id: fingerprint}, "named": [ids] | null, "strict", "checkpoint", "begun", "open": [ids]}: a resume.
--     "named" are the ids of its resume value, "bound" the interrupts that it answers. "begun": they were checked, at its
--     creation if no other run came first, otherwise in its first claim. "open" are those that the current attempt answers.
--   {"refused": reason}: a resume whose claim found other interrupts. It ends as error without having started.
--   {"discarded": [ids]}: new input that discards interrupts; set when it starts.

-- Returns the ids of the interrupts of a stored write, null for one without an id. LangGraph.js up to 1.5 writes an
-- object (0.3 with an interrupt_id), 1.7 an array of those that its task and the subgraphs beneath raised. Python hosts store MessagePack: after the
-- name of its class, an interrupt has its value, its id ("id" with a text of 32 characters) and perhaps a schema; `encode`
-- doubles backslashes in text that users wrote.
create or replace function interrupt_ids(_type text, _blob bytea) returns text[] language sql immutable as $$
  select case
    -- encrypted rows (graph-host/src/checkpoints/sealed-rows.ts) have the ids in their type
    when _type like '%+sealed:%' then array(select nullif(i, '') from unnest(string_to_array(split_part(_type, ':', 2), ',')) i)
    else case _type
    -- Postgres has no text for the escapes of U+0000 and of lone surrogates, which values may contain; no id has escapes
    when 'json' then array(
      select coalesce(i ->> 'id', i ->> 'interrupt_id')
      from (select replace(convert_from(_blob, 'UTF8'), '\u', '\n')::json as j) w,
           json_array_elements(case json_typeof(j) when 'array' then j else json_build_array(j) end) i)
    when 'msgpack' then array(
      select substring(i from '.*\\242id\\331 ([0-9a-f]{32})(?:\\257response_schema|\\30[789]|$)')
      from regexp_split_to_table(encode(_blob, 'escape'), 'langgraph\.types\\251Interrupt') with ordinality s(i, n) where n > 1)
  end end
$$;

-- Returns a thread's pending interrupts as {id: fingerprint}; the fingerprint changes when the task raises its next one.
-- Interrupts without an id (LangGraph before 0.4) use their task's id. _checkpoint: null for the newest one.
create or replace function pending_interrupts(_thread_id uuid, _checkpoint text) returns jsonb language plpgsql stable as $$
declare
  _thread text := _thread_id::text;
  _head text := _checkpoint;
  _tasks text[];
  _found jsonb;
begin
  if _head is null then
    select c.checkpoint_id into _head from checkpoints c
    where c.thread_id = _thread and c.checkpoint_ns = '' order by c.checkpoint_id desc limit 1;
  end if;
  -- negative indexes are LangGraph's own: errors, interrupts, resume values
  select array_agg(w.task_id) into _tasks from checkpoint_writes w
  where w.thread_id = _thread and w.checkpoint_ns = '' and w.checkpoint_id = _head and w.channel = '__interrupt__'
    and not exists (
      select 1 from checkpoint_writes d
      where d.thread_id = _thread and d.checkpoint_ns = '' and d.checkpoint_id = _head and d.task_id = w.task_id and d.idx >= 0);
  if _tasks is null then return '{}'; end if;
  -- a subgraph's namespace names the tasks above it; up to LangGraph.js 1.5 the root's row keeps only the last of several
  -- interrupts
  with places as (
    select '' as ns, _head as id
    union all
    select c.checkpoint_ns, max(c.checkpoint_id) from checkpoints c
    where c.thread_id = _thread and c.checkpoint_ns > ''
      and exists (select 1 from unnest(_tasks) k where position(k in c.checkpoint_ns) > 0)
    group by c.checkpoint_ns
  ), asked as (
    select p.ns, p.id, w.task_id,
           coalesce(i.id, w.task_id) as interrupt,
           (select md5(r.blob) from checkpoint_writes r
            where r.thread_id = _thread and r.checkpoint_ns = p.ns and r.checkpoint_id = p.id and r.task_id = w.task_id
              and r.channel = '__resume__') as answers
    from places p join checkpoint_writes w
      on w.thread_id = _thread and w.checkpoint_ns = p.ns and w.checkpoint_id = p.id and w.channel = '__interrupt__',
      unnest(coalesce(nullif(interrupt_ids(w.type, w.blob), '{}'), array[null])) i(id)
    where (p.ns > '' or w.task_id = any (_tasks))
      and (p.ns = '' or not exists (
        select 1 from checkpoint_writes d
        where d.thread_id = _thread and d.checkpoint_ns = p.ns and d.checkpoint_id = p.id and d.task_id = w.task_id and d.idx >= 0))
  ), each as (
    select interrupt, md5(string_agg(concat_ws(' ', ns, id, task_id, answers), ',' order by ns, task_id)) as fingerprint
    from asked group by interrupt
  )
  select coalesce(jsonb_object_agg(interrupt, fingerprint), '{}') into _found from each;
  return _found;
end $$;

-- Returns the interrupts that the previous run left on a thread with unfinished runs, as {id: ''}. '' equals no
-- fingerprint, so a resume that is bound to one of them is refused when it is claimed.
create or replace function settled_interrupts(_thread_id uuid) returns jsonb language sql stable as $$
  select coalesce(jsonb_object_agg(i ->> 'id', ''), '{}')
  from threads t, jsonb_each(t.interrupts) e, jsonb_array_elements(e.value) i
  where t.thread_id = _thread_id and i ? 'id'
    and exists (select 1 from runs r where r.thread_id = _thread_id and r.status in ('pending', 'running'))
$$;

-- Returns the ids of the interrupts that clients can see and answer while their run has not ended: it has emitted them
-- by protocol v2, or it has written the newest checkpoint and they are pending there, or it is a resume that leaves
-- them open. Without those that queued resumes answer; none while other queued input comes first and discards them.
create or replace function live_interrupts(_thread_id uuid) returns text[] language plpgsql stable as $$
declare
  _running uuid;
  _bound jsonb;
  _queued text[];
  _found text[];
begin
  select t.running_run_id, coalesce(r.questions -> 'bound', '{}') into _running, _bound
  from threads t join runs r on r.run_id = t.running_run_id where t.thread_id = _thread_id;
  if not found then return '{}'; end if;
  if exists (select 1 from runs r where r.thread_id = _thread_id and r.status = 'pending'
             and coalesce(r.questions -> 'bound', '{}') = '{}') then
    return '{}';
  end if;
  select coalesce(array_agg(k), '{}') into _queued
  from runs r, jsonb_object_keys(r.questions -> 'bound') k where r.thread_id = _thread_id and r.status = 'pending';
  select coalesce(array_agg(i), '{}') into _found
  from run_stream_segments g, unnest(g.interrupts) i where g.run_id = _running and g.interrupts is not null;
  -- while a resume executes, the interrupts that it answers look as if they were pending
  if _bound <> '{}' or _running::text = (
    select c.metadata ->> 'run_id' from checkpoints c
    where c.thread_id = _thread_id::text and c.checkpoint_ns = '' order by c.checkpoint_id desc limit 1) then
    _found := _found || array(select k from jsonb_object_keys(pending_interrupts(_thread_id, null)) k where not _bound ? k);
  end if;
  return array(select distinct f from unnest(_found) f where f <> all (_queued));
end $$;

-- Whether a resume that waits for no other run answers live interrupts: only the end of their run comes before it.
create or replace function answers_live(_thread_id uuid, _kwargs jsonb) returns boolean language plpgsql stable as $$
declare
  _live text[] := live_interrupts(_thread_id);
  _named text[] := named_interrupts(_kwargs -> 'command' -> 'resume');
begin
  if _named is not null then return _named <@ _live; end if;
  return _live <> '{}' and not exists (select 1 from runs r where r.thread_id = _thread_id and r.status = 'pending');
end $$;

-- Returns the interrupts that a resume can answer now, as {id: fingerprint}: the pending ones or, between two
-- interrupts of a running run, those that the previous run left. Null for other runs.
-- Evaluated in the snapshot of the calling statement, so callers must call it outside volatile functions.
create or replace function answerable_interrupts(_thread_id uuid, _kwargs jsonb) returns jsonb language sql stable as $$
  select case when jsonb_typeof(_kwargs -> 'command' -> 'resume') <> 'null' then coalesce(
    nullif(pending_interrupts(_thread_id, _kwargs -> 'config' -> 'configurable' ->> 'checkpoint_id'), '{}'),
    settled_interrupts(_thread_id))
  end
$$;

-- Returns the ids that a resume value names; null for a plain value. The same test as LangGraph's.
create or replace function named_interrupts(_resume jsonb) returns text[] language sql immutable as $$
  select case when jsonb_typeof(_resume) = 'object' and _resume <> '{}'
                   and not exists (select 1 from jsonb_object_keys(_resume) k where k !~ '^[0-9a-f]{32}$')
              then array(select jsonb_object_keys(_resume)) end
$$;

create or replace function interrupts_text(_ids text[]) returns text language sql immutable as $$
  select case cardinality(_ids) when 0 then 'none' else array_to_string(array(select unnest(_ids) order by 1), ', ') end
$$;

-- Checks the ids of a resume or, with strict_resume, a plain value against the pending interrupts. Null: accepted.
create or replace function resume_refusal(_named text[], _strict boolean, _pending jsonb) returns text language sql immutable as $$
  select case
    when _named is not null and not _pending ?& _named then
      format('Interrupts not pending on this thread: %s. Pending: %s.',
             interrupts_text(array(select n from unnest(_named) n where not _pending ? n)),
             interrupts_text(array(select jsonb_object_keys(_pending))))
    when _named is null and _strict and _pending = '{}' then
      'strict_resume: no interrupt is pending on this thread.'
    when _named is null and _strict and (select count(*) from jsonb_object_keys(_pending)) > 1 then
      format('strict_resume: several interrupts are pending. Name the interrupts to answer: %s.',
             interrupts_text(array(select jsonb_object_keys(_pending))))
  end
$$;

-- Binds a resume to the interrupts that are pending when it is accepted. The caller holds the thread's lock.
-- Returns the first or second shape of runs.questions; one that is refused here is not created.
-- _busy: other runs of the thread come first; the resume may be meant for interrupts that they raise.
-- _asked: the answerable interrupts when the request arrived, before it waited for locks or its statement's other rows.
create or replace function bind_resume(_thread_id uuid, _kwargs jsonb, _busy boolean, _asked jsonb) returns jsonb language plpgsql as $$
declare
  _named text[] := named_interrupts(_kwargs -> 'command' -> 'resume');
  _strict boolean := coalesce((_kwargs ->> 'strict_resume')::boolean, false);
  _checkpoint text := _kwargs -> 'config' -> 'configurable' ->> 'checkpoint_id';
  _pending jsonb;
  _refused text;
  _bound jsonb;
begin
  _pending := pending_interrupts(_thread_id, _checkpoint);
  -- LangGraph would repeat the task with its previous answer
  if _checkpoint is not null and _pending = '{}' and exists (
    select 1 from checkpoint_writes w
    where w.thread_id = _thread_id::text and w.checkpoint_ns = '' and w.checkpoint_id = _checkpoint and w.channel = '__interrupt__'
  ) then
    return jsonb_build_object('refused', format('The interrupts of checkpoint %s are not pending: they are answered.', _checkpoint));
  end if;
  if _asked <> '{}' and _busy then
    _pending := _asked;
  elsif _asked <> '{}' and _asked <> _pending then
    -- those that were pending then and still are
    select coalesce(jsonb_object_agg(p.key, p.value), '{}') into _pending from jsonb_each(_pending) p
    where coalesce(_asked -> p.key, case when p.key = any (_named) then p.value end) = p.value;
    if _named is null and _pending = '{}' then
      return jsonb_build_object('refused', format('The interrupts that this resume answers are not pending any more: %s.',
                                                  interrupts_text(array(select jsonb_object_keys(_asked)))));
    end if;
  end if;
  if not _busy then
    _refused := resume_refusal(_named, _strict, _pending);
    if _refused is not null then return jsonb_build_object('refused', _refused); end if;
  elsif _checkpoint is null and _pending = '{}' then
    -- the interrupt that the caller has seen may have been answered already
    _pending := settled_interrupts(_thread_id);
  end if;
  select coalesce(jsonb_object_agg(p.key, p.value), '{}') into _bound from jsonb_each(_pending) p
  where _named is null or p.key = any (_named);
  return jsonb_build_object('checkpoint', _checkpoint, 'strict', _strict, 'named', _named, 'bound', _bound, 'begun', not _busy,
                            'open', case when _busy then '[]' else to_jsonb(array(select jsonb_object_keys(_bound))) end);
end $$;

-- Checks the interrupts of a run that is being claimed. A resume meets the interrupts that it was bound to, or
-- is rejected; "open" are those that it still has to answer, fewer if an earlier attempt has answered some.
create or replace function meet_questions(_thread_id uuid, _questions jsonb, _kwargs jsonb, _settled text) returns jsonb language plpgsql as $$
declare
  _named text[];
  _pending jsonb;
  _all jsonb;
  _open text[];
  _refused text;
begin
  if _questions is null then return discarded_questions(_thread_id, _kwargs, _settled); end if;
  if not _questions ? 'bound' then return _questions; end if;
  _pending := pending_interrupts(_thread_id, _questions ->> 'checkpoint');
  _named := case when jsonb_typeof(_questions -> 'named') = 'array' then array(select jsonb_array_elements_text(_questions -> 'named')) end;
  if (_questions ->> 'begun')::boolean then
    _open := array(select b.key from jsonb_each_text(_questions -> 'bound') b where _pending ->> b.key = b.value);
    return _questions || jsonb_build_object('open', to_jsonb(_open));
  end if;
  if _questions -> 'bound' = '{}' then
    _refused := resume_refusal(_named, (_questions ->> 'strict')::boolean, _pending);
    select coalesce(jsonb_object_agg(p.key, p.value), '{}') into _pending from jsonb_each(_pending) p
    where _named is null or p.key = any (_named);
    _questions := _questions || jsonb_build_object('bound', _pending);
  else
    _all := _pending;
    -- an interrupt with the same id and another fingerprint is the task's next one
    select coalesce(jsonb_object_agg(p.key, p.value), '{}') into _pending from jsonb_each(_pending) p
    where coalesce(_questions -> 'bound' -> p.key, case when p.key = any (_named) then p.value end) = p.value;
    _refused := case
      when _named is not null then resume_refusal(_named, true, _pending)
      when _pending = '{}' then format('The interrupts that this resume answers are not pending any more: %s.',
                                       interrupts_text(array(select jsonb_object_keys(_questions -> 'bound'))))
      -- others may have been raised since it was bound
      else resume_refusal(null, (_questions ->> 'strict')::boolean, _all) end;
    _questions := _questions || jsonb_build_object('bound', _pending);
  end if;
  if _refused is not null then return jsonb_build_object('refused', _refused); end if;
  return _questions || jsonb_build_object('begun', true, 'open', to_jsonb(array(select jsonb_object_keys(_pending))));
end $$;

-- Returns the interrupts that new input discards: LangGraph drops the tasks that raised them. Null for other runs.
create or replace function discarded_questions(_thread_id uuid, _kwargs jsonb, _settled text) returns jsonb language sql stable as $$
  select case
    when _settled = 'interrupted' and jsonb_typeof(coalesce(_kwargs -> 'input', 'null')) <> 'null' and not _kwargs ? 'command'
         -- the input of a remote graph whose parent is resumed is not used
         and _kwargs #> '{config,configurable,__pregel_resuming}' is distinct from 'true'
    then (select jsonb_build_object('discarded', array(select jsonb_object_keys(p)))
          from pending_interrupts(_thread_id, null) p where p <> '{}')
  end
$$;
