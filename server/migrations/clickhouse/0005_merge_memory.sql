-- A merge holds buffers for each column of each of its parts: 75 MB, and 15 MB a part (measured). At full load
-- inserts leave more parts than are merged, and two merges at once of twenty took 740 MB.

-- local only
alter table runs modify setting max_parts_to_merge_at_once = 6;
