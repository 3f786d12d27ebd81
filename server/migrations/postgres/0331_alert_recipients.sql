-- Each recipient of an e-mail has a delivery of its own: a resolution waits for the firing's message to the same one.
create or replace function release_alert_resolution() returns trigger language plpgsql as $$
begin
  update alert_deliveries set available_at = now(), queued_at = now()
  where incident_id = new.incident_id and action_id = new.action_id and event = 'resolved' and status = 'pending'
    and (url = new.url or new.url = 'mailto:') and available_at = 'infinity';
  return null;
end $$;
