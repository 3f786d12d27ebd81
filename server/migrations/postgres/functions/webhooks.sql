-- Fires when a run with a webhook ends, in the same transaction, so that every end has its delivery. A run that
-- was rolled back has no row, so its status here is `rollback`. One statement that copies the run's columns as they are,
-- because every such run pays for it; the message is composed of them when it is sent (webhook_message). A run ends
-- once, so its delivery has its id: no additional index is needed, and rows are appended to the primary key's index.
create or replace function enqueue_webhook() returns trigger language plpgsql as $$
declare
  r runs;
begin
  if tg_op = 'DELETE' then
    r := old;
    r.status := 'rollback';
    r.ended_at := coalesce(r.ended_at, now());
  else
    r := new;
  end if;
  insert into webhook_deliveries
    (delivery_id, run_id, thread_id, run_status, url, receiver, state, state_due, thread_metadata, available_at,
     assistant_id, run_created_at, run_updated_at, run_started_at, run_ended_at, run_metadata, run_kwargs,
     run_multitask_strategy, run_error)
  select r.run_id, r.run_id, r.thread_id, r.status, r.webhook,
         left(coalesce(lower(substring(r.webhook from '^[A-Za-z]+://[^/?#\\]+')), 'self'), 300),
         t.state, t.due, t.metadata, now() + case when t.due then interval '12 s' else interval '0' end,
         r.assistant_id, r.created_at, r.updated_at, r.started_at, r.ended_at, r.metadata,
         shown_kwargs(r.kwargs), r.multitask_strategy, r.error
  from (
    select coalesce(s.metadata, '{}') as metadata,
           case when not r.temporary and s.thread_id is not null then
             case when s.value_lists is null then coalesce(s.values, '{}')
                  else join_values(s.thread_id, s.values, s.value_lists)::jsonb end
           end as state,
           -- the run ended without a state: its server reads it from the checkpoints right afterwards, and extends
           -- these seconds if that takes longer (holdWebhooksForState)
           not r.temporary and r.started_at is not null and r.status <> 'rollback'
             and coalesce(s.state_updated_at < now(), false) as due
    -- its thread may have been deleted
    from (select) one left join threads s on s.thread_id = r.thread_id
  ) t
  -- a failing webhook never prevents the end of a run
  on conflict (delivery_id) do nothing;
  return null;
end $$;

-- Composes the message, field by field (docs/webhooks.md), as JSON text; the sender adds `values` and
-- `webhook_sent_at`.
-- Uses columns that no attempt changes. A caller's session may have any time zone.
create or replace function webhook_message(_delivery_id uuid) returns text language sql stable set timezone = 'UTC' as $$
  select coalesce(d.payload, (
    jsonb_build_object(
      'run_id', d.run_id, 'thread_id', d.thread_id, 'assistant_id', d.assistant_id, 'status', d.run_status,
      'created_at', d.run_created_at, 'updated_at', d.run_updated_at, 'run_started_at', d.run_started_at,
      'metadata', d.run_metadata, 'kwargs', d.run_kwargs, 'multitask_strategy', d.run_multitask_strategy)
    || case when d.run_ended_at is not null then jsonb_build_object('run_ended_at', d.run_ended_at) else '{}' end
    || case when d.run_status in ('error', 'timeout') then jsonb_build_object('error', case when d.run_error is not null
         then jsonb_build_object('error', d.run_error -> 'error', 'message', d.run_error -> 'message') end)
       else '{}' end)::text)
  from webhook_deliveries d where d.delivery_id = _delivery_id
$$;
