-- Number of runs that a server may execute at a time, so that servers can share a burst by free capacity; null for
-- servers of earlier versions, which take part in no shares.
alter table servers add column slots integer;
