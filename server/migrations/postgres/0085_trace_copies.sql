-- Requests for a consistent copy of the traces of an engine that runs inside a trace process (trace/backups). A backup
-- inserts the row and renews it; the trace process links the engine's files into a directory named after the row.
create table trace_copies (
  copy_id uuid primary key,
  requested_at timestamptz not null default now(),
  -- the backup that asked is alive
  seen_at timestamptz not null default now(),
  -- null until the files are linked: [{"table": …, "directory": …}]
  tables jsonb,
  -- of the store's schema
  version integer,
  error text
);
