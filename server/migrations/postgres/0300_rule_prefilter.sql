-- Rules that have to look at a candidate, decided where the run was written. Null: all of the workspace, as of runs
-- that an older version recorded, or the one of rule_id.
alter table rule_candidates add column rule_ids uuid[];
