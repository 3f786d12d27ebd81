-- A part with a run of 5 MB takes 60 MB of a merge's memory: merges of such parts took 300 MB with six parts, 160 MB
-- with four (measured).

-- local only
alter table runs modify setting max_parts_to_merge_at_once = 4;
