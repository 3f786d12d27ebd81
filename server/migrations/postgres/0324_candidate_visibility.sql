-- On a cluster of ClickHouse, when the run's row was written: a replica that does not have it yet decides nothing.
alter table rule_candidates add column written_at timestamptz;
