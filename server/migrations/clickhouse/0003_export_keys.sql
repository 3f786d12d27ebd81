-- Bulk exports under way (trace/bulk-exports). A snapshot is the ids that an export's query had when it began; its
-- partition is dropped when the export has ended.

-- shard by: cityHash64(id)
create table if not exists export_keys (
  snapshot_id UUID,
  start_time DateTime64(6, 'UTC'),
  id UUID
)
engine = MergeTree
partition by snapshot_id
order by (snapshot_id, start_time, id)
settings index_granularity = 8192, fsync_after_insert = 1, fsync_part_directory = 1;

-- Statistics of the feedback on runs of the slices that are being written; those of Postgres, as JSON.
-- shard by: cityHash64(run_id)
create table if not exists export_feedback (
  snapshot_id UUID,
  run_id UUID,
  stats String
)
engine = MergeTree
partition by snapshot_id
order by (snapshot_id, run_id);
