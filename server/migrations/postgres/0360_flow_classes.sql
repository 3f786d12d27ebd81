-- A virtual time for each class of priority, at most 20, by (class + 1) (functions/flow.sql).
alter table run_queue_clock add column vtimes double precision[] not null default array_fill(0::double precision, array[20]);
update run_queue_clock set vtimes = array_fill(vtime, array[20]);
alter table run_queue_clock drop column vtime;
drop index run_lanes_empty;
create index run_lanes_empty on run_lanes (rank, vtime) where state = 'empty';
drop function if exists take_queue_events(double precision);
drop function if exists place_lanes(text[], double precision);
