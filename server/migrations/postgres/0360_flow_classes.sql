-- A virtual time for each class of priority, at most 20, by (class + 1) (functions/flow.sql).
alter table run_queue_clock add column vtimes double precision[] not null default array_fill(0::double precision, array[20]);
update run_queue_clock set vtimes = array_fill(vtime, array[20]);
alter table run_queue_clock drop column vtime;
-- The time from which a run waits: when it was due, or created.
alter table run_ready add column since timestamptz not null default now();
update run_ready y set since = r.created_at from runs r where r.run_id = y.run_id;
alter table run_lanes add column head_since timestamptz not null default now();
update run_lanes l set head_since = r.created_at from runs r where r.seq = l.head_seq;
drop index run_ready_by_lane, run_lanes_ready, run_lanes_blocked, run_lanes_empty;
create index run_ready_by_lane on run_ready (lane, since, seq);
create index run_lanes_ready on run_lanes (rank, vtime, head_since, head_seq) where state = 'ready';
create index run_lanes_blocked on run_lanes (blocked_on, rank, vtime, head_since, head_seq) where state = 'blocked';
create index run_lanes_empty on run_lanes (rank, vtime) where state = 'empty';
drop function if exists take_queue_events(double precision);
drop function if exists next_of_thread(uuid);
drop function if exists full_waiting_key(jsonb);
drop function if exists place_lanes(text[], double precision);
