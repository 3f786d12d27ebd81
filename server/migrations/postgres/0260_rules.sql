-- Automation rules: a filter over the runs that are written, and what happens to those that match.
create table rules (
  tenant_id uuid not null,
  rule_id uuid not null,
  display_name text not null,
  is_enabled boolean not null,
  -- of a project, of a dataset's experiments, or of all projects when both are null
  project_id uuid,
  dataset_id uuid,
  sampling_rate double precision not null check (sampling_rate between 0 and 1),
  filter text,
  trace_filter text,
  tree_filter text,
  -- 'thread_id': the rule acts on threads that have been idle for idle_seconds
  group_by text check (group_by in ('thread_id')),
  idle_seconds integer not null check (idle_seconds > 0),
  -- the actions as the API takes them
  actions jsonb not null,
  evaluator_id uuid,
  spend_limit_usd numeric check (spend_limit_usd >= 0),
  -- runs that were first stored before are matched by a back-fill only
  active_from timestamptz not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, rule_id),
  check (project_id is null or dataset_id is null)
);
create index rules_by_creation on rules (tenant_id, created_at desc, rule_id desc);
create index rules_by_project on rules (tenant_id, project_id) where project_id is not null;
create index rules_by_dataset on rules (tenant_id, dataset_id) where dataset_id is not null;
create index rules_by_evaluator on rules (tenant_id, evaluator_id) where evaluator_id is not null;

-- Runs that rules have to look at: written where the runs are written, before the write is acknowledged. A row is
-- deleted in the transaction that stores what the rules decided about it.
create table rule_candidates (
  candidate_id bigint generated always as identity primary key,
  tenant_id uuid not null,
  project_id uuid not null,
  run_id uuid not null,
  trace_id uuid not null,
  start_time timestamptz not null,
  -- of a back-fill or a trigger: this rule only, also for runs from before it
  rule_id uuid,
  recorded_at timestamptz not null default now()
);

-- Threads that rules wait for. Each new run moves due_at.
create table rule_threads (
  tenant_id uuid not null,
  rule_id uuid not null,
  project_id uuid not null,
  thread_id text not null,
  last_run_id uuid not null,
  last_start_time timestamptz not null,
  due_at timestamptz not null,
  primary key (tenant_id, rule_id, project_id, thread_id),
  foreign key (tenant_id, rule_id) references rules on delete cascade
);
create index rule_threads_due on rule_threads (due_at);

-- A decision about a run, or about a thread as of its last run: at most one for each rule, ever.
create table rule_matches (
  tenant_id uuid not null,
  rule_id uuid not null,
  run_id uuid not null,
  match_id uuid not null unique,
  project_id uuid not null,
  trace_id uuid not null,
  start_time timestamptz not null,
  thread_id text,
  run_name text,
  run_type text,
  end_time timestamptz,
  is_backfill boolean not null,
  -- pending: actions are to be done; skipped: sampled out, or over the spend limit
  status text not null check (status in ('pending', 'done', 'failed', 'skipped')),
  reason text,
  matched_at timestamptz not null default now(),
  -- lease of the process that acts, by this database's clock
  leased_until timestamptz,
  lease_id uuid,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  ended_at timestamptz,
  -- outcome of each action by its name in the API: {outcome, payload}
  outcomes jsonb not null default '{}',
  cost_usd numeric,
  primary key (tenant_id, rule_id, run_id),
  foreign key (tenant_id, rule_id) references rules on delete cascade
);
create index rule_matches_pending on rule_matches (available_at) where status = 'pending';
create index rule_matches_by_time on rule_matches (tenant_id, rule_id, matched_at desc, match_id desc);

create table rule_backfills (
  tenant_id uuid not null,
  rule_id uuid not null,
  backfill_id uuid not null,
  backfill_from timestamptz not null,
  backfill_to timestamptz not null,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  -- runs enqueued so far, and the count when it began
  done bigint not null default 0,
  total bigint,
  cursor_start_time timestamptz,
  cursor_run_id uuid,
  error text,
  leased_until timestamptz,
  lease_id uuid,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (tenant_id, backfill_id),
  foreign key (tenant_id, rule_id) references rules on delete cascade
);
create index rule_backfills_by_rule on rule_backfills (tenant_id, rule_id, created_at desc);
create index rule_backfills_open on rule_backfills (created_at) where status in ('pending', 'running');
