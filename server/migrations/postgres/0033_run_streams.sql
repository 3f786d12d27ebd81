-- Frames of runs that outlive the process that makes them: those of resumable runs, and those that a server reads
-- which does not execute the run.

create sequence run_stream_ordinals;

create table run_streams (
  run_id uuid primary key,
  thread_id uuid not null,
  -- from the sequence, with the first frame: one run of a thread runs at a time, so it puts a thread's streams in order
  ordinal bigint,
  -- the newest attempt that may write; one of an older attempt writes nothing any more
  attempt integer not null default 0,
  -- how many there are; the number that the next frame gets
  frames integer not null default 0,
  -- the run's final status, or 'deleted', written with the last frame
  status text,
  created_at timestamptz not null default now(),
  -- its frames can be read for the time to live after this
  ended_at timestamptz
);
create index run_streams_by_thread on run_streams (thread_id, ordinal);
create index run_streams_by_end on run_streams (ended_at);
create index run_streams_going on run_streams (created_at) where ended_at is null;

-- What was written at once. No foreign key: whoever writes holds the stream's row in the same statement.
create table run_stream_segments (
  run_id uuid not null,
  -- number of its first frame
  first integer not null,
  -- server-sent events as they go over the wire; JSON on one line each, so that they end with an empty line
  frames text not null,
  primary key (run_id, first)
);
-- short-lived, and read as often as written: compressing them would only cost time
alter table run_stream_segments alter column frames set storage external;
