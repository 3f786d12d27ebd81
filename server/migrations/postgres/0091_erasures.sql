-- Legal holds: while one is not released, nothing that it covers is deleted, by a request or by retention.
create table legal_holds (
  hold_id uuid primary key,
  tenant_id uuid not null,
  -- null: the whole workspace
  project_id uuid,
  reason text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  released_by text,
  released_at timestamptz
);
create index legal_holds_active on legal_holds (tenant_id) where released_at is null;
create index legal_holds_by_tenant on legal_holds (tenant_id, created_at desc, hold_id desc);

-- Deletions of traces, projects and workspaces, until nothing of them is left on disk (trace/erasures).
--   pending   is being deleted
--   deleted   cannot be read any more
--   done      is off the disk
create table erasures (
  erasure_id uuid primary key,
  tenant_id uuid not null,
  scope text not null check (scope in ('traces', 'project', 'workspace')),
  -- what to delete; of a workspace nothing is named
  project_ids uuid[],
  trace_ids uuid[],
  traces integer,
  dataset_copies boolean not null,
  -- whether the disk is to be given back at once, and not with the next sweep
  at_once boolean not null,
  status text not null default 'pending' check (status in ('pending', 'deleted', 'done')),
  requested_by text not null,
  requested_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- when the parts were rewritten; they leave the disk a few minutes later
  rewritten_at timestamptz,
  done_at timestamptz,
  error text
);
create index erasures_open on erasures (requested_at) where status <> 'done';
create index erasures_by_tenant on erasures (tenant_id, requested_at desc, erasure_id desc);
