-- Traces whose root has not arrived, by project, with the run that stands in for it (trace/ingest/trace-heads.ts). The
-- row is deleted when the root arrives, and with the trace.
create table provisional_roots (
  tenant_id uuid not null,
  trace_id uuid not null,
  project_id uuid not null,
  run_id uuid not null,
  -- of the run, as in its row: it locates the run
  start_time text not null,
  parent_run_id uuid,
  -- the thread that the runs of the trace name
  thread_id text,
  created_at timestamptz not null default now(),
  -- whether the root was looked for after the row was visible to all replicas
  checked boolean not null default false,
  primary key (tenant_id, trace_id, project_id)
);
create index provisional_roots_projects on provisional_roots (tenant_id, project_id);
create index provisional_roots_unchecked on provisional_roots (created_at) where not checked;
