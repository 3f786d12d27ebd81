-- The workspace that the agent servers of this database are about. No thread, run or item names a workspace: they all
-- belong to this one. Written by the first agent server that starts here.
create table database_owner (
  only_row boolean primary key default true check (only_row),
  workspace_id uuid not null,
  claimed_at timestamptz not null default now()
);
