-- The user in whose name a run works, where the project has its own authentication.

-- Keys of `configurable` that the server alone sets: the user in whose name the run works, and the one whose answer
-- resumed it (authorize-run.ts).
create or replace function user_keys() returns text[] language sql immutable as $$
  select array['langgraph_auth_user', 'langgraph_auth_user_id', 'langgraph_auth_permissions',
               'heddle_answering_user', 'heddle_answering_user_id']
$$;

-- Returns a run's kwargs as callers may see them: users as returned by `authenticate` may hold their credentials.
create or replace function shown_kwargs(_kwargs jsonb) returns jsonb language sql immutable as $$
  select case when _kwargs #> '{config,configurable}' ?| array['langgraph_auth_user', 'heddle_answering_user']
              then _kwargs #- '{config,configurable,langgraph_auth_user}' #- '{config,configurable,heddle_answering_user}'
              else _kwargs end
$$;

-- Returns the user keys of the run that wrote a checkpoint (null: the thread's newest one), or the one before a state
-- update wrote it. If that run was deleted, only the user's id is known. Null: it worked in no user's name. A copied
-- thread has the checkpoints of another thread's runs, which count for nothing here.
create or replace function user_of_checkpoint(_thread_id uuid, _checkpoint text) returns jsonb language sql stable as $$
  with recursive written as (
    (select c.parent_checkpoint_id, c.metadata
     from checkpoints c
     where c.thread_id = _thread_id::text and c.checkpoint_ns = '' and (_checkpoint is null or c.checkpoint_id = _checkpoint)
     order by c.checkpoint_id desc limit 1)
    union all
    select p.parent_checkpoint_id, p.metadata
    from written w join checkpoints p
      on p.thread_id = _thread_id::text and p.checkpoint_ns = '' and p.checkpoint_id = w.parent_checkpoint_id
    where not w.metadata ? 'run_id'
  ), writer as (
    select w.metadata, r.kwargs #> '{config,configurable}' as configurable
    from written w left join runs r on r.thread_id = _thread_id and r.run_id::text = w.metadata ->> 'run_id'
    where w.metadata ? 'run_id'
  )
  select case
    when w.configurable ? 'langgraph_auth_user_id' then jsonb_build_object(
      'langgraph_auth_user', w.configurable -> 'langgraph_auth_user',
      'langgraph_auth_user_id', w.configurable -> 'langgraph_auth_user_id',
      'langgraph_auth_permissions', w.configurable -> 'langgraph_auth_permissions')
    when w.configurable is null and w.metadata ? 'langgraph_auth_user_id' then jsonb_build_object(
      'langgraph_auth_user', jsonb_build_object(
        'identity', w.metadata -> 'langgraph_auth_user_id', 'display_name', w.metadata -> 'langgraph_auth_user_id',
        'is_authenticated', true, 'permissions', jsonb_build_array()),
      'langgraph_auth_user_id', w.metadata -> 'langgraph_auth_user_id', 'langgraph_auth_permissions', jsonb_build_array())
    end
  from writer w
$$;

-- Returns the kwargs of a run that begins. One that resumes another run, by answers to its interrupts or without new
-- input, works in the name of that run's user, and its caller is named beside that user. Any other works in its caller's.
create or replace function in_users_name(_thread_id uuid, _kwargs jsonb, _questions jsonb, _settled text)
returns jsonb language plpgsql stable as $$
declare
  _configurable jsonb := _kwargs #> '{config,configurable}';
  _answering jsonb;
  _user jsonb;
begin
  if not coalesce(_configurable ? 'langgraph_auth_user_id', false) then return _kwargs; end if;
  if coalesce(_questions -> 'bound', '{}') = '{}' and (
    coalesce(_settled, 'idle') = 'idle'
    or coalesce(jsonb_typeof(_kwargs -> 'input'), 'null') <> 'null'
    or coalesce(jsonb_typeof(_kwargs #> '{command,resume}'), 'null') <> 'null') then
    return _kwargs;
  end if;
  _user := user_of_checkpoint(_thread_id, _configurable ->> 'checkpoint_id');
  -- what is known of the user now is newer
  if _user -> 'langgraph_auth_user_id' = _configurable -> 'langgraph_auth_user_id' then _user := null; end if;
  _answering := jsonb_build_object('heddle_answering_user_id', _configurable -> 'langgraph_auth_user_id');
  _configurable := _configurable || coalesce(_user, '{}') || _answering
    || jsonb_build_object('heddle_answering_user', _configurable -> 'langgraph_auth_user');
  return jsonb_set(_kwargs, '{config}', _kwargs -> 'config' || jsonb_build_object(
    'configurable', _configurable,
    'metadata', coalesce(_kwargs #> '{config,metadata}', '{}') || _answering
                || jsonb_build_object('langgraph_auth_user_id', _configurable -> 'langgraph_auth_user_id')));
end $$;
