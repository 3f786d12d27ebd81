-- Datasets that grow from use: mappings of runs, duplicates, and examples that a model proposes.
alter table datasets
  -- applied, in order, to examples that are taken from runs
  add column transformations jsonb,
  -- the last mapping of runs to examples that was chosen for the dataset
  add column run_mapping jsonb;

-- Digest of the canonical inputs; null in rows from before this column, until duplicates are looked for.
alter table dataset_examples add column inputs_digest bytea;
create index dataset_examples_by_inputs on dataset_examples (tenant_id, dataset_id, inputs_digest)
  where replaced_at is null;

-- Requests for synthetic examples. A request that is repeated with its id continues, and proposes nothing twice.
create table example_generations (
  tenant_id uuid not null,
  request_id uuid not null,
  dataset_id uuid not null,
  -- the request without its id, to recognise a repetition
  digest bytea not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, request_id),
  foreign key (tenant_id, dataset_id) references datasets on delete cascade
);
create index example_generations_by_dataset on example_generations (tenant_id, dataset_id);

-- Source examples of a request for which a model has answered.
create table example_generation_sources (
  tenant_id uuid not null,
  request_id uuid not null,
  source_example_id uuid not null,
  primary key (tenant_id, request_id, source_example_id),
  foreign key (tenant_id, request_id) references example_generations on delete cascade
);

-- Examples that a model proposed. They are no examples of the dataset until a person accepts them.
create table example_proposals (
  tenant_id uuid not null,
  proposal_id uuid not null,
  dataset_id uuid not null,
  request_id uuid not null,
  source_example_id uuid not null,
  inputs json not null,
  outputs json,
  metadata jsonb not null,
  inputs_digest bytea not null,
  status text not null check (status in ('pending', 'accepted', 'rejected')),
  -- the example that an accepted one became
  example_id uuid,
  -- run of the model's call
  run_id uuid,
  created_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  primary key (tenant_id, proposal_id),
  foreign key (tenant_id, request_id) references example_generations on delete cascade,
  foreign key (tenant_id, dataset_id) references datasets on delete cascade
);
create index example_proposals_by_dataset on example_proposals (tenant_id, dataset_id, status, created_at, proposal_id);
create index example_proposals_by_inputs on example_proposals (tenant_id, dataset_id, inputs_digest);
create index example_proposals_by_request on example_proposals (tenant_id, request_id);

-- Configurations of feedback keys have ids, by which rubrics name them.
alter table feedback_configs add column config_id uuid not null default gen_random_uuid();
create unique index feedback_configs_by_id on feedback_configs (tenant_id, config_id);

alter table annotation_queues
  add column queue_type text not null default 'single' check (queue_type in ('single', 'pairwise')),
  -- of a pairwise queue: the comparison to which its judgements belong
  add column comparative_experiment_id uuid;

-- Items: a run; a thread, whose run is its latest root at the time of addition; or a pair of runs.
alter table annotation_queue_runs
  add column item_type text not null default 'RUN' check (item_type in ('RUN', 'THREAD', 'PAIR')),
  add column thread_id text,
  add column other_run_id uuid,
  add column other_project_id uuid,
  add column other_trace_id uuid,
  add column other_start_time timestamptz,
  add check ((item_type = 'THREAD') = (thread_id is not null)),
  add check ((item_type = 'PAIR') = (other_run_id is not null));
drop index annotation_queue_runs_once;
create unique index annotation_queue_runs_once on annotation_queue_runs (tenant_id, queue_id, run_id)
  where item_type = 'RUN';
create unique index annotation_queue_threads_once on annotation_queue_runs (tenant_id, queue_id, project_id, md5(thread_id))
  where item_type = 'THREAD';
create unique index annotation_queue_pairs_once on annotation_queue_runs (tenant_id, queue_id, run_id, other_run_id)
  where item_type = 'PAIR';
