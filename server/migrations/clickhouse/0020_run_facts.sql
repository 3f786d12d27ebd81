-- What statistics read of runs, merged, with the sums of a trace at its head: copies of the runs of finished hours
-- (trace/dashboards/fact-builder.ts). A row counts if Postgres names its build as the current one of its hour
-- (run_hours), so rows that were replaced, or whose build did not end, are without effect.
--
-- Columns with the name of a column of `runs` mean the same, so that filters compile to the same conditions. `error` is
-- its beginning.

-- shard by: cityHash64(trace_id)
create table if not exists run_facts (
  tenant_id UUID,
  project_id UUID,
  is_head Bool,
  run_type LowCardinality(String),
  start_time DateTime64(6, 'UTC') codec(Delta, ZSTD(1)),
  id UUID,
  trace_id UUID,
  parent_run_id Nullable(UUID),
  provisional_root Nullable(Bool),
  name String,
  end_time Nullable(DateTime64(6, 'UTC')) codec(ZSTD(1)),
  status LowCardinality(Nullable(String)),
  error Nullable(String) codec(ZSTD(1)),
  tags Nullable(String) codec(ZSTD(1)),
  metadata Nullable(String) codec(ZSTD(1)),
  thread_id Nullable(String) codec(ZSTD(1)),
  reference_example_id Nullable(UUID),
  prompt_tokens Nullable(Int64),
  completion_tokens Nullable(Int64),
  total_tokens Nullable(Int64),
  prompt_cost Nullable(Decimal(38, 18)),
  completion_cost Nullable(Decimal(38, 18)),
  total_cost Nullable(Decimal(38, 18)),
  first_token_time Nullable(DateTime64(6, 'UTC')),
  trace_tier LowCardinality(Nullable(String)),
  repeats_usage Nullable(Bool),
  -- of heads
  trace_prompt_tokens Nullable(Int64),
  trace_completion_tokens Nullable(Int64),
  trace_total_tokens Nullable(Int64),
  trace_prompt_cost Nullable(Decimal(38, 18)),
  trace_completion_cost Nullable(Decimal(38, 18)),
  trace_total_cost Nullable(Decimal(38, 18)),
  build UInt64 codec(Delta, ZSTD(1))
)
engine = MergeTree
partition by toYYYYMM(start_time)
order by (tenant_id, project_id, is_head, run_type, start_time)
settings index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1,
  max_parts_to_merge_at_once = 6;
