-- How often the key that a lane waits for has changed since its last start (functions/flow.sql: reserve_keys).
alter table run_lanes add column passed integer not null default 0;
create index run_lanes_passed on run_lanes (lane) where passed > 0;
