-- Composes wire objects next to their rows, so that the server passes text through.
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
    'values', coalesce(thread_values(t.thread_id, t.values, t.value_lists), '{}'),
    'interrupts', t.interrupts, 'error', t.error)
$$;

create or replace function run_object(r runs) returns json language sql stable as $$
  select json_build_object(
    'run_id', r.run_id, 'thread_id', r.thread_id, 'assistant_id', r.assistant_id,
    'created_at', r.created_at, 'updated_at', r.updated_at, 'status', r.status, 'metadata', r.metadata,
    'kwargs', shown_kwargs(r.kwargs), 'multitask_strategy', r.multitask_strategy, 'error', r.error, 'cancel_reason', r.cancel_reason,
    'discarded_interrupts', r.questions -> 'discarded')
$$;

create or replace function run_wire(r runs) returns json language sql stable as $$
  select case when r.stream_incomplete is null then run_object(r)
              else (run_object(r)::jsonb || jsonb_build_object('stream_incomplete', r.stream_incomplete))::json end
$$;
