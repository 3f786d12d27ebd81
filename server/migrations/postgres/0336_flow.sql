-- Flow control of runs (functions/flow.sql, docs/flow-control.md). A run of a graph without rules has no flow, and
-- touches none of these tables.
alter table runs add column flow jsonb;

-- Pending runs without flow, for claim_runs.
create index if not exists runs_queue_plain on runs (seq) where status = 'pending' and flow is null;

-- The declaration of each graph, written by the server that started last with it.
create table run_queue_rules (
  graph_id text primary key,
  rules jsonb not null,
  declared_at timestamptz not null default now()
);

-- A single row. Its lock serializes the claims of runs with flow; only the claims change lanes, ready runs and rates.
create table run_queue_clock (
  id boolean primary key default true check (id),
  vtime double precision not null default 0
);
insert into run_queue_clock default values;

-- Changes that the next claim takes in. Inserted by triggers without a lock that others wait for.
create table run_queue_events (
  id bigint generated always as identity primary key,
  thread_id uuid not null,
  -- keys of which a slot was released, or whose rate permits another run
  freed text[],
  -- a run that ends unless it has begun
  expires uuid,
  due_at timestamptz not null default '-infinity'
);
create index run_queue_events_due on run_queue_events (due_at, id);

-- Waiting runs with equal rules and keys, oldest first. state: ready, blocked (on a key), empty.
create table run_lanes (
  lane text primary key,
  graph_id text not null,
  flow jsonb not null,
  -- all lanes of a fair key have the same virtual time
  fair text,
  state text not null check (state in ('ready', 'blocked', 'empty')),
  blocked_on text,
  -- class of priority after ageing; 0 is the highest
  rank integer not null,
  promote_at timestamptz,
  vtime double precision not null,
  head_seq bigint not null
);
create index run_lanes_ready on run_lanes (rank, vtime, head_seq) where state = 'ready';
create index run_lanes_blocked on run_lanes (blocked_on, rank, vtime, head_seq) where state = 'blocked';
create index run_lanes_empty on run_lanes (vtime) where state = 'empty';
create index run_lanes_by_fair on run_lanes (fair);
create index run_lanes_promoted on run_lanes (promote_at) where promote_at is not null;

-- The first pending run of each free thread, if it has flow.
create table run_ready (
  thread_id uuid primary key,
  run_id uuid not null,
  lane text not null,
  seq bigint not null
);
create index run_ready_by_lane on run_ready (lane, seq);

-- Slots of running runs ("concurrency …"), and places of runs that have not begun ("waiting …").
create table run_slots (
  key text not null,
  run_id uuid not null,
  primary key (key, run_id)
);
create index run_slots_by_run on run_slots (run_id);

-- The rate limiter of each key (GCRA): theoretical arrival time of the next run.
create table run_rates (
  key text primary key,
  tat timestamptz not null,
  -- time of the event that tries the key's lanes again
  wake_at timestamptz
);
create index run_rates_by_time on run_rates (tat);

-- rows that live for a moment
alter table run_queue_events set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
alter table run_lanes set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
alter table run_ready set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
alter table run_slots set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- functions/flow.sql defines it
create function note_flow_change() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger flow_of_new_run after insert on runs for each row
  when (new.flow is not null) execute function note_flow_change();
create trigger flow_of_changed_run after update of status on runs for each row
  when (old.status <> new.status and (old.flow is not null or old.status = 'pending' and new.status <> 'running'))
  execute function note_flow_change();
create trigger flow_of_deleted_run after delete on runs for each row
  when (old.flow is not null or old.status = 'pending') execute function note_flow_change();
