-- The message of a delivery is made when it is sent, of the run's columns as they were at its end: the text cost every
-- end of a run with a webhook its making. What was queued before has it in `payload`, and keeps it.
alter table webhook_deliveries
  alter column payload drop not null,
  add column assistant_id uuid,
  add column run_created_at timestamptz,
  add column run_updated_at timestamptz,
  add column run_started_at timestamptz,
  add column run_ended_at timestamptz,
  add column run_metadata jsonb,
  add column run_kwargs jsonb,
  add column run_multitask_strategy text,
  add column run_error jsonb;

drop function if exists insert_webhook_delivery(runs, text);
