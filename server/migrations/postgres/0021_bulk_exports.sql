-- Bulk exports: what was asked for, its runs (one a day of the window), their files, and multipart uploads under way.

create table bulk_exports (
  id uuid primary key,
  tenant_id uuid not null,
  destination_id uuid not null references export_destinations (id),
  session_id uuid not null,
  start_time timestamptz not null,
  -- null: a schedule, which itself exports nothing and spawns an export a window
  end_time timestamptz,
  interval_hours integer check (interval_hours between 1 and 168),
  filter text,
  format_version text not null check (format_version in ('v1', 'v2_beta')),
  compression text not null check (compression in ('none', 'gzip', 'snappy', 'zstandard')),
  -- in the order of columns; null: all
  export_fields text[],
  status text not null check (status in ('CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT')),
  -- of an export that a schedule spawned: which one, and the number of the window from 0
  source_bulk_export_id uuid references bulk_exports (id),
  window_n integer,
  -- of a schedule: the next window
  next_window integer not null default 0,
  -- every change of hands goes up by one; who works writes only while it is its own
  attempt integer not null default 0,
  lease_until timestamptz,
  not_before timestamptz not null default now(),
  -- failures of the whole since the last success; those of a run are counted there
  failures integer not null default 0,
  error text,
  -- the ids of the query, kept in ClickHouse (export_keys) from the start until the end
  snapshot_id uuid,
  snapshot_at timestamptz,
  row_count bigint,
  -- from here on it is being completed and cannot be cancelled
  sealed_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  -- what is left of it outside of Postgres is gone
  cleaned_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((interval_hours is null) = (end_time is not null)),
  -- no window twice, whoever spawns it
  unique (source_bulk_export_id, window_n)
);
create index bulk_exports_by_tenant on bulk_exports (tenant_id, created_at desc, id);
create index bulk_exports_by_destination on bulk_exports (destination_id);
create index bulk_exports_to_do on bulk_exports (not_before) where cleaned_at is null and interval_hours is null;
create index bulk_exports_schedules on bulk_exports (start_time) where interval_hours is not null and status = 'RUNNING';

create table bulk_export_runs (
  id uuid primary key,
  bulk_export_id uuid not null references bulk_exports (id) on delete cascade,
  -- within one day of UTC
  start_time timestamptz not null,
  end_time timestamptz not null,
  status text not null default 'CREATED'
    check (status in ('CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT')),
  retry_number integer not null default 0,
  -- retry_0, retry_1, … to what went wrong
  errors jsonb,
  -- ids of the snapshot that fall into it
  row_count bigint,
  started_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (bulk_export_id, start_time)
);

-- What is in the bucket for good, in the order of the keys. The last one's end is where a run goes on.
create table bulk_export_files (
  run_id uuid not null references bulk_export_runs (id) on delete cascade,
  n integer not null,
  -- null: every run of the slice was deleted before it was written
  key text,
  row_count bigint not null,
  -- of the slice's ids those that were deleted before it was written
  deleted_count bigint not null,
  byte_count bigint not null,
  sha256 text,
  min_start_time timestamptz not null,
  max_start_time timestamptz not null,
  -- as ClickHouse prints and reads them
  last_start_time text not null,
  last_id uuid not null,
  primary key (run_id, n)
);

-- Multipart uploads that were begun and not yet ended, for the case that their process does not end them.
create table bulk_export_uploads (
  run_id uuid not null references bulk_export_runs (id) on delete cascade,
  key text not null,
  upload_id text not null,
  primary key (run_id, key, upload_id)
);
