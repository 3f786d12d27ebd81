-- How a dataset's experiments are shown: column visibility, precision and colours. One per dataset.
create table experiment_view_overrides (
  tenant_id uuid not null,
  override_id uuid not null,
  dataset_id uuid not null,
  column_overrides jsonb not null,
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now(),
  primary key (tenant_id, override_id),
  foreign key (tenant_id, dataset_id) references datasets on delete cascade
);
create unique index experiment_view_overrides_once on experiment_view_overrides (tenant_id, dataset_id);

-- Judging of a comparison's pairs by an evaluator, in the background. Judgements are feedback, so a job that is resumed
-- continues with the pairs that have none.
create table pairwise_jobs (
  tenant_id uuid not null,
  job_id uuid not null,
  comparative_experiment_id uuid not null,
  evaluator_id uuid not null,
  evaluator_version integer,
  status text not null check (status in ('queued', 'running', 'completed', 'cancelled', 'failed')),
  -- pairs
  total integer not null default 0,
  judged integer not null default 0,
  failed integer not null default 0,
  error text,
  lease_id uuid,
  leased_until timestamptz,
  -- consecutive attempts that ended without a judgement
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (tenant_id, job_id),
  foreign key (tenant_id, comparative_experiment_id) references comparative_experiments on delete cascade
);
create index pairwise_jobs_by_comparison on pairwise_jobs (tenant_id, comparative_experiment_id, created_at desc);
create index pairwise_jobs_open on pairwise_jobs (not_before) where status in ('queued', 'running');

create index if not exists feedback_by_comparison on feedback (tenant_id, comparative_experiment_id)
  where comparative_experiment_id is not null;
