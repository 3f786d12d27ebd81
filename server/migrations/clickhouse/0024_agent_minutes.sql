-- Metrics of agent servers per minute, as they send them (trace/agent-metrics). A server sends a minute again when its
-- numbers have grown, or when an answer was lost: the row with the highest count is its last.

-- shard by: cityHash64(server_id)
create table if not exists agent_minutes (
  tenant_id UUID,
  project_id UUID,
  -- run, wait, queue, cron or webhook
  kind LowCardinality(String),
  minute DateTime('UTC') codec(Delta, ZSTD(1)),
  server_id UUID,
  graph LowCardinality(String),
  assistant String,
  status LowCardinality(String),
  -- events; of the queue, the most due runs of a reading
  count UInt64,
  -- their sum; of the queue, the age of the oldest due run
  seconds Float64,
  -- events by duration, twenty bins per factor of ten, by the logarithm of their lower edge times twenty
  bins Map(Int16, UInt64)
)
engine = ReplacingMergeTree(count)
partition by toYYYYMM(minute)
order by (tenant_id, project_id, kind, minute, server_id, graph, assistant, status)
ttl minute + interval 400 day
settings index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1;
