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

-- Composes the message, service-interface §6 field by field, as JSON text; the sender adds `values` and `webhook_sent_at`.
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

-- Receivers with due deliveries that are not paused. The recursion steps from one receiver to the next in the index, to
-- the first due row of each, so that ten thousand rows of a dead receiver cost no more than one. Nothing here is
-- a join with the deliveries: a plan made while the table was empty read all later rows.
create or replace function due_webhook_receivers(_limit integer) returns table (receiver text, failures integer)
language sql as $$
  with recursive waiting as (
    (select d.receiver, d.available_at from webhook_deliveries d
     where d.status = 'pending' order by d.receiver, d.available_at limit 1)
    union all
    select n.receiver, n.available_at
    from waiting w cross join lateral (
      select d.receiver, d.available_at from webhook_deliveries d
      where d.status = 'pending' and d.receiver > w.receiver order by d.receiver, d.available_at limit 1) n
  )
  select w.receiver, coalesce(h.failures, 0)
  from waiting w left join webhook_receivers h on h.receiver = w.receiver
  where w.available_at <= now() and (h.paused_until is null or h.paused_until <= now())
  order by random()
  limit _limit
$$;

-- Claims up to a number of deliveries per receiver under a lease; another sender takes them over when it expires.
create or replace function claim_webhooks(_receivers text[], _allowances integer[], _lease_ms double precision)
returns table (delivery_id uuid, run_id uuid, receiver text, url text, attempt integer, tries integer) language sql as $$
  with picked as (
    select p.delivery_id
    from unnest(_receivers, _allowances) as u (receiver, allowance)
    cross join lateral (
      select d.delivery_id from webhook_deliveries d
      where d.status = 'pending' and d.receiver = u.receiver and d.available_at <= now()
      order by d.available_at limit u.allowance
      for update skip locked
    ) p
  )
  update webhook_deliveries d
  set attempts = d.attempts + 1, tries = d.tries + 1, available_at = now() + make_interval(secs => _lease_ms / 1000)
  from picked p where d.delivery_id = p.delivery_id
  returning d.delivery_id, d.run_id, d.receiver, d.url, d.attempts, d.tries
$$;

-- Records the outcome of an attempt: delivered | failed | retry (after _retry_ms). A receiver that does not
-- respond (_blame) is paused after the fifth consecutive failure, twice as long each time, at most five minutes; then one
-- delivery probes it. _pause_ms: the receiver itself requested a pause.
create or replace function finish_webhook_attempt(
  _delivery_id uuid, _attempt integer, _started_at timestamptz, _duration_ms integer, _status_code integer, _error text,
  _outcome text, _retry_ms double precision, _blame boolean, _pause_ms double precision, _first_pause_ms double precision
) returns void language plpgsql as $$
declare
  _receiver text;
begin
  update webhook_deliveries d
  set status = case _outcome when 'retry' then 'pending' else _outcome end,
      available_at = now() + make_interval(secs => _retry_ms / 1000),
      finished_at = case _outcome when 'retry' then null else now() end
  where d.delivery_id = _delivery_id and d.attempts = _attempt and d.status = 'pending';
  select d.receiver into _receiver from webhook_deliveries d where d.delivery_id = _delivery_id;
  if not found then return; end if;
  insert into webhook_attempts (delivery_id, attempt, started_at, duration_ms, status_code, error)
  values (_delivery_id, _attempt, _started_at, _duration_ms, _status_code, _error)
  on conflict do nothing;
  if _blame or _pause_ms > 0 then
    insert into webhook_receivers as h (receiver, failures, paused_until)
    values (_receiver, case when _blame then 1 else 0 end,
            case when _pause_ms > 0 then now() + make_interval(secs => _pause_ms / 1000) end)
    on conflict (receiver) do update
    set failures = h.failures + excluded.failures, updated_at = now(),
        paused_until = greatest(h.paused_until, excluded.paused_until,
          case when _blame and h.failures >= 4 then now() + make_interval(secs =>
            least(300, _first_pause_ms / 1000 * power(2, least(h.failures - 4, 20))) * (0.75 + random() / 2)) end);
  else
    delete from webhook_receivers h where h.receiver = _receiver;
  end if;
end $$;
