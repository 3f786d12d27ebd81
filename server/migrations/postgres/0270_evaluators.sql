-- Evaluators of runs: judges, which are prompts of a model, and code.
create table evaluators (
  tenant_id uuid not null,
  evaluator_id uuid not null,
  name text not null,
  description text,
  type text not null check (type in ('llm', 'code')),
  newest_version integer not null check (newest_version > 0),
  -- keys that its schema declares, and those that its code has given
  feedback_keys text[] not null default '{}',
  -- id in the library that it was made from
  library_id text,
  -- where people label what it judged
  annotation_queue_id uuid,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, evaluator_id)
);
create index evaluators_by_creation on evaluators (tenant_id, created_at desc, evaluator_id desc);

-- Each change of what an evaluator does is a new version; none is ever changed.
create table evaluator_versions (
  tenant_id uuid not null,
  evaluator_id uuid not null,
  version integer not null check (version > 0),
  -- trace/evaluators/definition.ts
  definition jsonb not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  primary key (tenant_id, evaluator_id, version),
  foreign key (tenant_id, evaluator_id) references evaluators on delete cascade
);

-- Sums of the judgements of a day (UTC).
create table evaluator_spending (
  tenant_id uuid not null,
  evaluator_id uuid not null,
  version integer not null,
  day date not null,
  judgements bigint not null default 0,
  errors bigint not null default 0,
  spent_usd numeric(24, 12) not null default 0,
  primary key (tenant_id, evaluator_id, version, day),
  foreign key (tenant_id, evaluator_id) references evaluators on delete cascade
);

-- Marks the project of the judges' own traces, at most one in a workspace: rules never record runs of it.
alter table projects add column of_evaluators boolean not null default false;
create unique index projects_of_evaluators on projects (tenant_id) where of_evaluators;

-- Judgement of all runs of an existing experiment.
create table experiment_evaluations (
  tenant_id uuid not null,
  evaluation_id uuid not null,
  -- the experiment
  project_id uuid not null,
  evaluator_id uuid not null,
  version integer not null,
  rule_id uuid,
  status text not null check (status in ('pending', 'running', 'completed', 'failed')),
  total bigint,
  done bigint not null default 0,
  errors bigint not null default 0,
  cost_usd numeric(24, 12) not null default 0,
  -- last run that was judged, by start time and id
  cursor_start_time timestamptz,
  cursor_run_id uuid,
  error text,
  available_at timestamptz not null default now(),
  leased_until timestamptz,
  lease_id uuid,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (tenant_id, evaluation_id),
  foreign key (tenant_id, evaluator_id) references evaluators on delete cascade
);
create index experiment_evaluations_by_experiment on experiment_evaluations (tenant_id, project_id, created_at desc);
create index experiment_evaluations_open on experiment_evaluations (created_at) where status in ('pending', 'running');

-- Judgements of an evaluator. The length is bounded, since any client can store such metadata.
create index if not exists feedback_by_evaluator on feedback (tenant_id, left(source_metadata ->> 'evaluator_id', 36), created_at desc)
  where source_type = 'model' and source_metadata ->> 'evaluator_id' is not null;
