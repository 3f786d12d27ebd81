-- Tracing projects ("sessions" on the wire), what is left of deleted ones, and shared traces. The runs themselves
-- are in ClickHouse.

create table projects (
  tenant_id uuid not null,
  -- may be chosen by the client; unique in its workspace only, so that nobody can find out or take another one's
  project_id uuid not null,
  name text not null,
  description text,
  -- null is kept apart from {}: what was sent comes back
  extra jsonb,
  start_time timestamptz not null default now(),
  end_time timestamptz,
  default_dataset_id uuid,
  -- set: the project is an experiment over this dataset
  reference_dataset_id uuid,
  -- the number of the experiment among those of its dataset, from 1
  test_run_number integer,
  -- what evaluate() announces about itself: num_examples, num_repetitions, evaluator_keys
  experiment jsonb,
  -- null: the installation's default
  trace_tier text check (trace_tier in ('longlived', 'shortlived')),
  -- of this project's traces, instead of what their tier says
  retention_days integer check (retention_days > 0),
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now(),
  primary key (tenant_id, project_id),
  unique (tenant_id, name)
);
create index projects_by_start on projects (tenant_id, start_time desc, project_id);
create index projects_by_dataset on projects (tenant_id, reference_dataset_id) where reference_dataset_id is not null;
create index projects_by_metadata on projects using gin ((extra -> 'metadata') jsonb_path_ops);

-- A project is gone for readers with its row. Its runs go right after, and once more later for those that were
-- on their way meanwhile; until that is done the id is kept here.
create table project_deletions (
  tenant_id uuid not null,
  project_id uuid not null,
  deleted_at timestamptz not null default now(),
  primary key (tenant_id, project_id)
);

-- Whoever knows the token may read the trace. One share a trace: a child shares its root.
create table trace_shares (
  share_token uuid primary key,
  tenant_id uuid not null,
  project_id uuid not null,
  trace_id uuid not null,
  created_at timestamptz not null default now(),
  unique (tenant_id, trace_id)
);
create index trace_shares_by_project on trace_shares (tenant_id, project_id);
