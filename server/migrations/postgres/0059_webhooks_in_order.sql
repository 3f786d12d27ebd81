-- A delivery bears its run's id from now on, which finds it; this is left for those queued before.
drop index webhook_deliveries_by_run;
create index webhook_deliveries_by_run on webhook_deliveries (run_id) where delivery_id <> run_id;

-- Read from its end: a row that comes last is added at the right end of an ascending index, which is its cheapest place.
drop index webhook_deliveries_by_creation;
create index webhook_deliveries_by_creation on webhook_deliveries (created_at, delivery_id);
