-- A copy of Postgres' feedback for filters and statistics over runs (trace/feedback/feedback-mirror.ts). One row a
-- feedback, the newest version wins; read it with FINAL, which leaves the deleted ones out. It is small beside the
-- runs. Feedback on a project as a whole bears the nil UUID as its run.

-- shard by: cityHash64(run_id)
create table if not exists feedback (
  tenant_id UUID,
  run_id UUID,
  id UUID,
  session_id Nullable(UUID),
  trace_id Nullable(UUID),
  key String,
  score Nullable(Float64),
  -- a text as it is, all else as JSON
  value Nullable(String),
  comment Nullable(String),
  source LowCardinality(String),
  -- the evaluator failed instead of judging
  failed Bool default false,
  created_at DateTime64(6, 'UTC'),
  version UInt64,
  deleted UInt8 default 0
)
engine = ReplacingMergeTree(version, deleted)
order by (tenant_id, run_id, id)
settings index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;
