-- Schedules of runs. An occurrence is claimed by moving next_run_date on, in the transaction that creates its run.
create table crons (
  cron_id uuid primary key,
  assistant_id uuid not null references assistants on delete cascade,
  -- null: each run gets a thread of its own
  thread_id uuid references threads on delete cascade,
  schedule text not null,
  -- IANA name; null is UTC
  timezone text,
  -- nothing starts after it
  end_time timestamptz,
  enabled boolean not null default true,
  -- of the thread that a run got
  on_run_completed text not null default 'delete' check (on_run_completed in ('delete', 'keep')),
  -- the body that runs are created with
  payload jsonb not null default '{}',
  metadata jsonb not null default '{}',
  user_id text,
  -- null: disabled, or over
  next_run_date timestamptz,
  -- tells whether the occurrence before still waits
  last_run_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index crons_due on crons (next_run_date) where enabled and next_run_date is not null;
create index crons_by_creation on crons (created_at desc, cron_id);
create index crons_by_assistant on crons (assistant_id);
create index crons_by_thread on crons (thread_id) where thread_id is not null;
create index crons_by_metadata on crons using gin (metadata jsonb_path_ops);
