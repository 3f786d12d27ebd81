-- Threads with a checkpoint that a state update has written and that their rows do not show yet. The checkpoint's
-- statement adds the row (functions/threads.sql: holds_head), what writes the thread's row removes it.
create table stale_threads (
  thread_id uuid primary key references threads on delete cascade,
  since timestamptz not null default now()
);
