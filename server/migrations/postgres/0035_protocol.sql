-- Events of protocol v2 (contract agent-server §19), numbered over all runs of a thread. They are here before a
-- client sees them, so that what was numbered once keeps its number.

create table protocol_threads (
  thread_id uuid primary key references threads on delete cascade,
  -- the newest event's number
  last_seq bigint not null default 0,
  -- that of the first run: later ones have to be of the same assistant
  assistant_id uuid not null
);

create table protocol_runs (
  run_id uuid primary key,
  thread_id uuid not null references protocol_threads on delete cascade,
  graph_id text not null,
  -- the last batch that was written, so that one sent twice is written once
  attempt integer not null default 0,
  batch integer not null default 0,
  created_at timestamptz not null default now(),
  -- its last event is written: how it ended
  ended_at timestamptz
);
create index protocol_runs_by_thread on protocol_runs (thread_id);
create index protocol_runs_going on protocol_runs (created_at) where ended_at is null;
create index protocol_runs_by_end on protocol_runs (ended_at) where ended_at is not null;

-- What was written at once.
create table protocol_events (
  thread_id uuid not null references protocol_threads on delete cascade,
  -- number of the last one
  last_seq bigint not null,
  run_id uuid not null,
  -- one line an event: a JSON array of its channel and the segments of its namespace
  names text not null,
  -- one line an event: the JSON of its `params`
  bodies text not null,
  primary key (thread_id, last_seq)
);
create index protocol_events_by_run on protocol_events (run_id);
-- short-lived, and read as often as written: compressing them would only cost time
alter table protocol_events alter column bodies set storage external;

-- Whoever accepts such a run, in whatever statement, has its row here by the same commit.
create function note_protocol_run() returns trigger language plpgsql as $$
begin
  insert into protocol_threads (thread_id, assistant_id) values (new.thread_id, new.assistant_id) on conflict do nothing;
  insert into protocol_runs (run_id, thread_id, graph_id)
  values (new.run_id, new.thread_id, coalesce(new.kwargs -> 'config' -> 'configurable' ->> 'graph_id', ''));
  return null;
end $$;
create trigger note_protocol_run after insert on runs
for each row when (new.kwargs ->> 'protocol' = 'v2') execute function note_protocol_run();
