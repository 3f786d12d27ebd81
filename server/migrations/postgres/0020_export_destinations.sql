-- Buckets that traces are exported to. The credentials are in `secrets` (purpose export-destination, id of the row).
create table export_destinations (
  id uuid primary key,
  tenant_id uuid not null,
  display_name text not null,
  config jsonb not null,
  -- which of the credentials' fields there are; none: those of the installation are used
  credentials_keys text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index export_destinations_by_tenant on export_destinations (tenant_id, created_at desc, id desc);

-- Test writes that an exporting process is asked for, because what the API can reach need not be what it can reach.
-- The credentials are in `secrets` (purpose export-destination-test). Whoever asked deletes the row.
create table export_destination_tests (
  id uuid primary key,
  tenant_id uuid not null,
  config jsonb not null,
  created_at timestamptz not null default now(),
  claimed_at timestamptz,
  finished_at timestamptz,
  -- null when it went well
  failure text
);
create index export_destination_tests_waiting on export_destination_tests (created_at) where claimed_at is null;
