-- The agent server: assistants, threads, runs, checkpoints, store, and the servers that own running runs.

create table assistants (
  assistant_id uuid primary key,
  graph_id text not null,
  name text not null,
  description text,
  -- null is kept apart from {}: what was sent comes back
  config jsonb,
  context jsonb,
  metadata jsonb not null default '{}',
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index assistants_by_creation on assistants (created_at desc, assistant_id);
create index assistants_by_graph on assistants (graph_id);
create index assistants_by_metadata on assistants using gin (metadata jsonb_path_ops);

create table assistant_versions (
  assistant_id uuid not null references assistants on delete cascade,
  version integer not null,
  graph_id text not null,
  name text not null,
  description text,
  config jsonb,
  context jsonb,
  metadata jsonb not null,
  created_at timestamptz not null default now(),
  primary key (assistant_id, version)
);

create table threads (
  thread_id uuid primary key,
  metadata jsonb not null default '{}',
  config jsonb not null default '{}',
  -- 'busy' while a run is pending or running, else settled_status
  status text not null default 'idle' check (status in ('idle', 'busy', 'interrupted', 'error')),
  -- what the last finished run left behind; a rollback goes back to it
  settled_status text not null default 'idle' check (settled_status in ('idle', 'interrupted', 'error')),
  -- written only when a run ends or the state is updated by hand, so a rollback has nothing to undo here
  values jsonb,
  interrupts jsonb not null default '{}',
  error jsonb,
  -- the one run that may write; the claim compares and sets it
  running_run_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  state_updated_at timestamptz not null default now()
);
create index threads_by_creation on threads (created_at desc, thread_id);
create index threads_by_update on threads (updated_at desc, thread_id);
create index threads_by_status on threads (status, created_at desc);
create index threads_by_metadata on threads using gin (metadata jsonb_path_ops);

-- Server processes that may own runs. A heartbeat older than the lease means that the owner is gone.
create table servers (
  server_id uuid primary key,
  host_name text not null,
  -- identifies the process beyond its pid: boot id, pid and start time, where the system tells them
  process text not null,
  -- where other servers reach this one for the streams of its runs
  internal_url text,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);

create table runs (
  run_id uuid primary key,
  -- creation order; created_at has ties
  seq bigint generated always as identity,
  thread_id uuid not null references threads on delete cascade,
  assistant_id uuid not null,
  status text not null default 'pending'
    check (status in ('pending', 'running', 'success', 'error', 'timeout', 'interrupted')),
  metadata jsonb not null default '{}',
  kwargs jsonb not null default '{}',
  multitask_strategy text not null default 'enqueue',
  -- stateless: the thread is deleted with its end
  temporary boolean not null default false,
  -- not claimed before this time: after_seconds, or the pause before a retry
  available_at timestamptz not null default now(),
  -- the fence: counts claims; every write for a run names the attempt that it believes in
  attempt integer not null default 0,
  -- attempts that the run's own doing used up; handing a run back at shutdown is not one
  failures integer not null default 0,
  -- its newest checkpoint when it failed last
  progress text,
  -- the server that accepted it (while pending) or runs it
  server_id uuid,
  -- asked of a running run: how it shall end
  cancel_action text check (cancel_action in ('interrupt', 'rollback', 'timeout')),
  cancel_reason text,
  error jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz
);
create index runs_by_thread on runs (thread_id, seq desc);
create index runs_queue on runs (seq) where status = 'pending';
create index runs_inflight on runs (thread_id, seq) where status in ('pending', 'running');
create unique index runs_one_running on runs (thread_id) where status = 'running';
create index runs_by_assistant on runs (assistant_id);

-- Checkpoints: the tables of the official Postgres saver (@langchain/langgraph-checkpoint-postgres 1.0),
-- so that a thread can be read with it.
create table checkpoints (
  thread_id text not null,
  checkpoint_ns text not null default '',
  checkpoint_id text not null,
  parent_checkpoint_id text,
  type text,
  checkpoint jsonb not null,
  metadata jsonb not null default '{}',
  primary key (thread_id, checkpoint_ns, checkpoint_id)
);

create table checkpoint_blobs (
  thread_id text not null,
  checkpoint_ns text not null default '',
  channel text not null,
  version text not null,
  type text not null,
  blob bytea,
  primary key (thread_id, checkpoint_ns, channel, version)
);

create table checkpoint_writes (
  thread_id text not null,
  checkpoint_ns text not null default '',
  checkpoint_id text not null,
  task_id text not null,
  idx integer not null,
  channel text not null,
  type text,
  blob bytea not null,
  primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

-- Set up as the official saver has left it, so that its setup() finds nothing to do.
create table checkpoint_migrations (v integer primary key);
insert into checkpoint_migrations (v) values (0), (1), (2), (3), (4);

create table store_items (
  namespace text[] not null,
  key text not null,
  value jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (namespace, key)
);
create index store_items_by_update on store_items (updated_at desc);
-- a search names the head of the namespace, mostly a kind and an owner
create index store_items_by_prefix on store_items ((namespace[1]), (namespace[2]), updated_at desc);
