-- What an erasure deletes is fixed when it begins: a repetition after a crash, and the pass for late pieces, take
-- nothing that arrived since.
alter table erasures
  -- when the traces that exist, or the workspace's projects, were recorded in trace_ids and project_ids
  add column begun_at timestamptz,
  -- how many of project_ids have been deleted, in their order; the runs of the last ones perhaps not yet
  add column projects_deleted integer not null default 0;
