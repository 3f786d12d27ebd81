-- Which directory or bucket holds the files of traces and examples. One row: every trace process of this database has
-- to use it, or a file that one stored would be missing at another.
create table blob_place (
  only_row boolean primary key default true check (only_row),
  kind text not null check (kind in ('directory', 'bucket')),
  -- Of a directory what its file place.id holds, of a bucket its name and prefix.
  id text not null,
  -- For messages: where it was when it was recorded.
  shown text not null,
  -- Whether a file was ever stored there. A place without files gives way to another one without a word.
  in_use boolean not null,
  recorded_at timestamptz not null default now()
);

-- Processes that use the place; a heartbeat each, so that a place is not taken away from a running one.
create table blob_place_users (
  process_id uuid primary key,
  seen_at timestamptz not null default now()
);
