-- One channel announces what the control plane and its gateways follow, with the table as payload. Rows count, not
-- statements: one that changes nothing announces nothing, so that who looks at every announcement comes to rest.
create function announce_control() returns trigger language plpgsql as $$
begin
  perform pg_notify('heddle_control', tg_table_name);
  return null;
end $$;

drop trigger instances_routes on instances;
drop trigger deployments_routes on deployments;
drop function announce_routes();

create trigger instances_rows after insert or delete on instances
  for each row execute function announce_control();
create trigger instances_changes after update of state, port, place, address on instances
  for each row when ((old.state, old.port, old.place, old.address)
    is distinct from (new.state, new.port, new.place, new.address)) execute function announce_control();

create trigger deployments_rows after insert or delete on deployments
  for each row execute function announce_control();
create trigger deployments_changes after update of slug, status, active_revision_id, scale on deployments
  for each row when ((old.slug, old.status, old.active_revision_id, old.scale)
    is distinct from (new.slug, new.status, new.active_revision_id, new.scale)) execute function announce_control();

create trigger revisions_rows after insert on revisions
  for each row execute function announce_control();
create trigger revisions_changes after update of status, holder, not_before, interrupted_by_user on revisions
  for each row when ((old.status, old.holder, old.not_before, old.interrupted_by_user)
    is distinct from (new.status, new.holder, new.not_before, new.interrupted_by_user))
  execute function announce_control();

create trigger cluster_targets_rows after insert or delete on cluster_targets
  for each row execute function announce_control();
-- every report moves seen_at, which is no change
create trigger cluster_targets_changes after update of generation, revision_id, state, message on cluster_targets
  for each row when ((old.generation, old.revision_id, old.state, old.message)
    is distinct from (new.generation, new.revision_id, new.state, new.message)) execute function announce_control();
