-- Embedding model of a connection; null: the provider's first suggestion.
alter table model_connections add column embedding_model text;

-- Saved settings of insights of a project.
create table insight_configs (
  tenant_id uuid not null,
  config_id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  config jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, config_id),
  foreign key (tenant_id, project_id) references projects (tenant_id, project_id) on delete cascade
);
create index insight_configs_by_project on insight_configs (tenant_id, project_id, created_at);

-- A job finds the recurring kinds of questions or failures of a project in a period.
create table insight_jobs (
  tenant_id uuid not null,
  job_id uuid not null,
  project_id uuid not null,
  config_id uuid,
  name text not null,
  -- the settings as checked: period, filter, sample, subject, connections, budget
  options jsonb not null,
  -- jobs with the same key are compared: the config, or the subject and the filter
  series text not null,
  state text not null check (state in ('queued', 'running', 'success', 'stopped', 'cancelled', 'error')),
  stage text not null check (stage in ('sample', 'embed', 'cluster', 'name', 'measure', 'done')),
  -- why it stopped: budget, model, or what went wrong
  reason text,
  error text,
  budget_usd numeric,
  spent_usd numeric not null default 0,
  calls integer not null default 0,
  tokens bigint not null default 0,
  -- runs or threads of the subject in the period, those that failed, and those of the sample
  population bigint,
  population_failed bigint,
  sampled integer,
  embedding_model text,
  dimensions integer,
  report jsonb,
  requested_by text not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  -- lease of the process that works, by this database's clock
  attempt integer not null default 0,
  failures integer not null default 0,
  leased_until timestamptz,
  not_before timestamptz not null default now(),
  primary key (tenant_id, job_id),
  foreign key (tenant_id, project_id) references projects (tenant_id, project_id) on delete cascade,
  foreign key (tenant_id, config_id) references insight_configs on delete set null (config_id)
);
create index insight_jobs_by_project on insight_jobs (tenant_id, project_id, created_at desc, job_id desc);
create index insight_jobs_by_config on insight_jobs (tenant_id, config_id) where config_id is not null;
create index insight_jobs_to_do on insight_jobs (not_before) where state in ('queued', 'running');

create table insight_clusters (
  tenant_id uuid not null,
  job_id uuid not null,
  cluster_id uuid not null,
  parent_id uuid,
  -- 0: top
  level integer not null,
  -- position among all clusters of the job
  place integer not null,
  is_leaf boolean not null,
  name text not null,
  description text not null default '',
  -- terms: by frequent words, until a model has named it
  named_by text not null default 'terms' check (named_by in ('terms', 'model')),
  num_runs integer not null,
  -- float32, little-endian, of length 1
  centroid bytea not null,
  stats jsonb not null default '{}',
  primary key (tenant_id, job_id, cluster_id),
  foreign key (tenant_id, job_id) references insight_jobs on delete cascade
);

-- Runs of a sample. Their texts are read from the runs themselves; a summary is deleted with its run.
create table insight_runs (
  tenant_id uuid not null,
  job_id uuid not null,
  run_id uuid not null,
  trace_id uuid not null,
  project_id uuid not null,
  start_time timestamptz not null,
  thread_id text,
  place integer not null,
  failed boolean not null,
  -- runs of the period for which it stands
  weight double precision not null,
  -- null: not summarized yet; empty: the run's own text is used
  summary text,
  -- float32, little-endian, of length 1; empty: the run has no text
  embedding bytea,
  cluster_id uuid,
  -- cosine similarity to the center of its cluster
  similarity real,
  primary key (tenant_id, job_id, run_id),
  foreign key (tenant_id, job_id) references insight_jobs on delete cascade
);
create index insight_runs_by_trace on insight_runs (tenant_id, trace_id);
create index insight_runs_by_cluster on insight_runs (tenant_id, job_id, cluster_id, similarity desc);
create unique index insight_runs_by_place on insight_runs (tenant_id, job_id, place);
