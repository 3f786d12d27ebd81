-- Traces. Everything but the sorting key may be null, because a run comes in pieces: each piece is a row of its
-- own, and the engine merges the rows of one key field by field, the last value that isn't null winning. A query
-- that reads a run reads it merged: with FINAL, within bounds of start_time.
--
-- The key of a run (project, start time) is that of its first piece; run_keys remembers it for pieces that
-- don't tell it.
--
-- Lists for filters (tags, metadata, input_pairs, output_pairs) are text, because a map can't be null and an
-- absent one would overwrite: entries between U+001E, key and value parted by U+001F:
--     tags      \x1Ea\x1Eb\x1E         has(tags, 'a')        position(tags, '\x1Ea\x1E') > 0
--     metadata  \x1Ek\x1Fv\x1E         k = v                 position(metadata, '\x1Ek\x1Fv\x1E') > 0
-- (code: trace/runs/pairs.ts). Nested keys are joined by dots, elements of arrays repeat their key, values are
-- cut after 250 characters.
--
-- *_compress_block_size: a merge holds a block a column and direction; with a quarter of the default it needs half
-- the memory, and the same room on disk.
--
-- fsync_*: an insert that was answered survives the loss of power. Merges need none: their sources stay for
-- eight minutes.

-- shard by: cityHash64(trace_id)
create table if not exists runs (
  tenant_id UUID,
  project_id UUID,
  start_time DateTime64(6, 'UTC'),
  id UUID,
  trace_id UUID,
  parent_run_id Nullable(UUID),
  dotted_order Nullable(String),
  name Nullable(String),
  run_type LowCardinality(Nullable(String)),
  end_time Nullable(DateTime64(6, 'UTC')),
  -- as the client said it; what it is follows from error and end_time (trace/runs/clickhouse.ts)
  status LowCardinality(Nullable(String)),
  error Nullable(String) codec(ZSTD(1)),
  -- JSON text as it came
  inputs Nullable(String) codec(ZSTD(1)),
  outputs Nullable(String) codec(ZSTD(1)),
  events Nullable(String) codec(ZSTD(1)),
  extra Nullable(String) codec(ZSTD(1)),
  serialized Nullable(String) codec(ZSTD(1)),
  inputs_preview Nullable(String) codec(ZSTD(1)),
  outputs_preview Nullable(String) codec(ZSTD(1)),
  tags Nullable(String),
  metadata Nullable(String) codec(ZSTD(1)),
  input_pairs Nullable(String) codec(ZSTD(1)),
  output_pairs Nullable(String) codec(ZSTD(1)),
  thread_id Nullable(String),
  reference_example_id Nullable(UUID),
  prompt_tokens Nullable(Int64),
  completion_tokens Nullable(Int64),
  total_tokens Nullable(Int64),
  -- JSON objects of whole numbers
  prompt_token_details Nullable(String),
  completion_token_details Nullable(String),
  prompt_cost Nullable(Decimal(38, 18)),
  completion_cost Nullable(Decimal(38, 18)),
  total_cost Nullable(Decimal(38, 18)),
  -- JSON objects of decimal strings
  prompt_cost_details Nullable(String),
  completion_cost_details Nullable(String),
  price_model_id Nullable(UUID),
  first_token_time Nullable(DateTime64(6, 'UTC')),
  -- longlived or shortlived; null is the project's
  trace_tier LowCardinality(Nullable(String)),
  -- when the first piece came, and the last
  inserted_at Nullable(DateTime64(6, 'UTC')),
  updated_at DateTime64(6, 'UTC'),
  index trace trace_id type bloom_filter(0.01) granularity 1,
  index thread thread_id type bloom_filter(0.01) granularity 1,
  index example reference_example_id type bloom_filter(0.01) granularity 1
)
engine = CoalescingMergeTree
partition by toYYYYMM(start_time)
primary key (tenant_id, project_id, start_time)
order by (tenant_id, project_id, start_time, id)
settings index_granularity = 2048, max_compress_block_size = 262144, min_compress_block_size = 65536,
  fsync_after_insert = 1, fsync_part_directory = 1;

-- Where the run of an id is. One row a run, the newest wins; `deleted` keeps late pieces of a deleted run out.
-- shard by: cityHash64(id)
create table if not exists run_keys (
  tenant_id UUID,
  id UUID,
  project_id UUID,
  start_time DateTime64(6, 'UTC'),
  trace_id UUID,
  deleted Bool default false,
  version DateTime64(6, 'UTC')
)
engine = ReplacingMergeTree(version)
order by (tenant_id, id)
settings index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- Files that came with runs. `blob` names the content in the blob store.
-- shard by: cityHash64(run_id)
create table if not exists run_attachments (
  tenant_id UUID,
  run_id UUID,
  name String,
  mime_type String,
  size UInt64,
  blob String,
  uploaded_at DateTime64(6, 'UTC')
)
engine = ReplacingMergeTree(uploaded_at)
order by (tenant_id, run_id, name)
settings index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;
