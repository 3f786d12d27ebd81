-- Datasets and their examples. Nothing of an example is overwritten: a change ends one row and begins another,
-- so that the dataset as of any moment is a range condition.

create table datasets (
  tenant_id uuid not null,
  -- may be chosen by the client; unique in its workspace only, so that nobody can find out or take another one's
  dataset_id uuid not null,
  name text not null,
  description text,
  data_type text not null check (data_type in ('kv', 'llm', 'chat')),
  inputs_schema_definition jsonb,
  outputs_schema_definition jsonb,
  metadata jsonb,
  baseline_experiment_id uuid,
  created_at timestamptz not null,
  modified_at timestamptz not null,
  primary key (tenant_id, dataset_id),
  unique (tenant_id, name)
);
create index datasets_by_creation on datasets (tenant_id, created_at desc, dataset_id);

-- One row a change, in whole milliseconds, strictly increasing in a dataset: a JavaScript Date holds no more, and
-- a version must be reached again by the time that a client read.
create table dataset_versions (
  tenant_id uuid not null,
  dataset_id uuid not null,
  as_of timestamptz not null,
  primary key (tenant_id, dataset_id, as_of),
  foreign key (tenant_id, dataset_id) references datasets on delete cascade
);

create table dataset_tags (
  tenant_id uuid not null,
  dataset_id uuid not null,
  tag text not null,
  as_of timestamptz not null,
  primary key (tenant_id, dataset_id, tag),
  foreign key (tenant_id, dataset_id) references datasets on delete cascade
);

create table dataset_examples (
  tenant_id uuid not null,
  example_id uuid not null,
  dataset_id uuid not null,
  -- this row is the example's state from the first version up to, but not including, the second
  modified_at timestamptz not null,
  replaced_at timestamptz,
  name text not null,
  created_at timestamptz not null,
  -- text as it came: the order of keys is the user's
  inputs json not null,
  outputs json,
  metadata jsonb not null,
  source_run_id uuid,
  -- {"name": {"blob": …, "mime_type": …, "size": bytes}}
  attachments jsonb,
  primary key (tenant_id, example_id, modified_at),
  foreign key (tenant_id, dataset_id) references datasets on delete cascade
);
-- at most one state is the current one; unique in a workspace only, so that nobody can find out another one's ids
create unique index dataset_examples_current on dataset_examples (tenant_id, example_id) where replaced_at is null;
create index dataset_examples_in_dataset on dataset_examples (tenant_id, dataset_id, modified_at desc, example_id)
  include (replaced_at);
create index dataset_examples_by_source on dataset_examples (tenant_id, source_run_id) where source_run_id is not null;

-- Whoever knows the token may read the dataset.
create table dataset_shares (
  tenant_id uuid not null,
  dataset_id uuid not null,
  share_token uuid not null unique,
  created_at timestamptz not null default now(),
  primary key (tenant_id, dataset_id),
  foreign key (tenant_id, dataset_id) references datasets on delete cascade
);

-- Pairwise judgements over experiments of one dataset.
create table comparative_experiments (
  tenant_id uuid not null,
  comparative_experiment_id uuid not null,
  reference_dataset_id uuid not null,
  name text,
  description text,
  experiment_ids uuid[] not null,
  extra jsonb,
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now(),
  primary key (tenant_id, comparative_experiment_id),
  foreign key (tenant_id, reference_dataset_id) references datasets on delete cascade
);
create index comparative_experiments_by_dataset
  on comparative_experiments (tenant_id, reference_dataset_id, created_at desc, comparative_experiment_id);
