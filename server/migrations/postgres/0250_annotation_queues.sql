-- Queues of runs that people review against a rubric.
create table annotation_queues (
  tenant_id uuid not null,
  -- chosen by the client; unique in its workspace only
  queue_id uuid not null,
  name text not null,
  description text,
  rubric_instructions text,
  rubric_items jsonb,
  metadata jsonb,
  -- where corrections go
  default_dataset uuid,
  -- null: all assigned reviewers
  num_reviewers_per_item integer check (num_reviewers_per_item > 0),
  enable_reservations boolean not null,
  reservation_minutes integer not null check (reservation_minutes > 0),
  reviewer_access_mode text not null check (reviewer_access_mode in ('any', 'assigned')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, queue_id),
  foreign key (tenant_id, default_dataset) references datasets on delete set null (default_dataset)
);
create index annotation_queues_by_creation on annotation_queues (tenant_id, created_at desc, queue_id desc);
create index annotation_queues_by_dataset on annotation_queues (tenant_id, default_dataset)
  where default_dataset is not null;

create table annotation_queue_runs (
  tenant_id uuid not null,
  queue_run_id uuid not null,
  queue_id uuid not null,
  run_id uuid not null,
  -- location of the run
  project_id uuid not null,
  trace_id uuid not null,
  start_time timestamptz not null,
  source_proposed_example_id uuid,
  added_at timestamptz not null,
  last_reviewed_time timestamptz,
  -- when enough reviewers had completed it
  archived_at timestamptz,
  primary key (tenant_id, queue_run_id),
  foreign key (tenant_id, queue_id) references annotation_queues on delete cascade
);
create unique index annotation_queue_runs_once on annotation_queue_runs (tenant_id, queue_id, run_id);
create index annotation_queue_runs_by_addition on annotation_queue_runs (tenant_id, queue_id, added_at, queue_run_id);
create index annotation_queue_runs_by_run on annotation_queue_runs (tenant_id, run_id);

-- One row per item and reviewer. A reservation lasts from reserved_at to reserved_until, by this database's clock.
create table annotation_queue_reviews (
  tenant_id uuid not null,
  queue_run_id uuid not null,
  identity_id uuid not null,
  status text check (status in ('viewed', 'completed')),
  reserved_at timestamptz,
  reserved_until timestamptz,
  completed_at timestamptz,
  -- moves the item in this reviewer's order
  override_added_at timestamptz,
  primary key (tenant_id, queue_run_id, identity_id),
  foreign key (tenant_id, queue_run_id) references annotation_queue_runs on delete cascade
);

create table annotation_queue_reviewers (
  tenant_id uuid not null,
  queue_id uuid not null,
  identity_id uuid not null references workspace_members on delete cascade,
  primary key (tenant_id, queue_id, identity_id),
  foreign key (tenant_id, queue_id) references annotation_queues on delete cascade
);
create index annotation_queue_reviewers_by_identity on annotation_queue_reviewers (identity_id);
