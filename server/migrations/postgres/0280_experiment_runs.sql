-- Experiments that Heddle executes: a target over the examples of a dataset, judged by evaluators.
create table experiment_jobs (
  tenant_id uuid not null,
  -- the experiment: the project of the runs
  project_id uuid not null,
  dataset_id uuid not null,
  -- state of the dataset that is executed
  dataset_as_of timestamptz not null,
  target jsonb not null,
  -- [{evaluator_id, version, name}]
  evaluators jsonb not null,
  options jsonb not null,
  metadata jsonb not null,
  repetitions integer not null check (repetitions > 0),
  total integer not null check (total > 0),
  status text not null check (status in ('pending', 'running', 'completed', 'stopped', 'cancelled')),
  -- why it stopped
  reason text,
  created_by uuid,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  -- lease of the process that executes it, by this database's clock; the attempt fences its writes
  leased_until timestamptz,
  attempt integer not null default 0,
  -- sums of the rows, once they no longer change
  sums jsonb,
  primary key (tenant_id, project_id),
  foreign key (tenant_id, project_id) references projects on delete cascade
);
create index experiment_jobs_open on experiment_jobs (created_at) where status in ('pending', 'running');
create index experiment_jobs_by_creation on experiment_jobs (tenant_id, created_at desc, project_id desc);
create index experiment_jobs_by_dataset on experiment_jobs (tenant_id, dataset_id, created_at desc);

-- One row per example and repetition.
create table experiment_rows (
  tenant_id uuid not null,
  project_id uuid not null,
  row_index integer not null,
  example_id uuid not null,
  repetition integer not null,
  -- ran: the target's answer is stored in result, its runs and feedback perhaps not;
  -- unjudged: an evaluator failed, result is kept for another try
  status text not null check (status in ('pending', 'running', 'ran', 'done', 'failed', 'unjudged')),
  -- counts the retries that a person asked for; part of the run's id
  round integer not null default 0,
  -- counts the claims, and fences the writes of a claim
  claims integer not null default 0,
  run_id uuid,
  result json,
  error text,
  judge_errors jsonb,
  scores jsonb,
  latency_ms integer,
  total_tokens bigint,
  cost_usd numeric,
  judge_cost_usd numeric,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (tenant_id, project_id, row_index),
  foreign key (tenant_id, project_id) references experiment_jobs on delete cascade
);
create index experiment_rows_open on experiment_rows (tenant_id, project_id, row_index)
  where status in ('pending', 'running', 'ran');
