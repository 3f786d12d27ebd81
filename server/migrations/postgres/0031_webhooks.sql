-- Calls to tell others that a run has ended. A row is written by whatever ends the run, in its transaction.
alter table runs add column webhook text;

create table webhook_deliveries (
  -- also the message's id for the receiver, the same in each attempt
  delivery_id uuid primary key default gen_random_uuid(),
  run_id uuid not null,
  thread_id uuid not null,
  run_status text not null,
  -- as it was given; its query may hold a secret
  url text not null,
  -- scheme, host and port, or 'self': what waits, fails and is paused together
  receiver text not null,
  -- a JSON object as text, without what follows
  payload text not null,
  -- the thread's values; null for a run whose thread went with it
  state jsonb,
  -- the state is older than the run's end, and is about to be read from the checkpoints
  state_due boolean not null default false,
  -- whose it is, for filters of custom auth
  thread_metadata jsonb not null default '{}',
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- attempts since it was queued, the last time by hand
  tries integer not null default 0,
  queued_at timestamptz not null default now(),
  -- not before this; while an attempt is under way, when it is taken for lost
  available_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index webhook_deliveries_due on webhook_deliveries (receiver, available_at) where status = 'pending';
create index webhook_deliveries_by_creation on webhook_deliveries (created_at desc, delivery_id);
create index webhook_deliveries_by_run on webhook_deliveries (run_id);
create index webhook_deliveries_state_due on webhook_deliveries (thread_id) where state_due;

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  primary key (delivery_id, attempt)
);

-- Only receivers that have failed; the next success deletes the row.
create table webhook_receivers (
  receiver text primary key,
  failures integer not null,
  paused_until timestamptz,
  updated_at timestamptz not null default now()
);

-- bodies are in functions/webhooks.sql
create function enqueue_webhook() returns trigger language plpgsql as $$ begin return null; end $$;

create trigger webhook_of_ended_run after update of status on runs for each row
when (new.webhook is not null and old.status in ('pending', 'running')
      and new.status in ('success', 'error', 'timeout', 'interrupted'))
execute function enqueue_webhook();

create trigger webhook_of_rolled_back_run after delete on runs for each row
when (old.webhook is not null and old.status in ('pending', 'running'))
execute function enqueue_webhook();
