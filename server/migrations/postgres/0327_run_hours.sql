-- Hours of a project in which runs started, and whether ClickHouse has a copy of them that is up to date (run_facts).
-- Writers of runs announce each write here before it, so a copy that began later includes it, or does not become the
-- current one.
create table run_hours (
  tenant_id uuid not null,
  project_id uuid not null,
  -- hours since 1970
  hour integer not null,
  -- when a write was last announced
  marked_at timestamptz not null default clock_timestamp(),
  -- of the rows of run_facts that are the copy; null: there is none, or it is out of date
  build bigint,
  -- run_facts may have rows that are out of date
  has_rows boolean not null default false,
  primary key (tenant_id, project_id, hour)
);
create index run_hours_open on run_hours (marked_at) where build is null;

create sequence run_builds;

-- Set when the hours of the runs from before this table have been listed.
create table run_hours_listed (
  listed_at timestamptz not null default now()
);
