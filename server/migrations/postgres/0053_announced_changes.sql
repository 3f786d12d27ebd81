-- Changes that have begun and whose line in audit_log is not written yet. A row goes in the statement that writes the
-- line, so that what is left here when its process has died tells of a change that perhaps happened.
create table announced_changes (
  id uuid primary key,
  -- The process that works on it touches it now and then.
  touched_at timestamptz not null default now(),
  -- The line, but for its outcome.
  draft jsonb not null
);
create index announced_changes_by_touch on announced_changes (touched_at);
