-- Why a rule was disabled by the platform: its project, dataset, queue or evaluator was deleted, or its filter fails.
alter table rules add column disabled_reason text;

-- A batch takes the candidates of several workspaces in turn, of each those of new runs before those of back-fills.
create index rule_candidates_by_tenant on rule_candidates (tenant_id, (rule_id is not null), candidate_id);
-- Rows live for a second, so that the table is small while vacuum keeps up with it.
alter table rule_candidates set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What the match of an idle thread is made of, kept as its runs are evaluated: its last root, and whether a root has
-- matched. due_at is infinity once the thread was evaluated.
alter table rule_threads
  add column trace_id uuid not null,
  add column run_name text,
  add column run_type text,
  add column end_time timestamptz,
  add column matched boolean not null,
  add column is_backfill boolean not null,
  add column touched_at timestamptz not null default now();
create index rule_threads_old on rule_threads (touched_at);

-- Ended matches by age, for their deletion. Decisions against runs that were not sampled are the most numerous, and go
-- earlier.
create index rule_matches_ended on rule_matches (matched_at) where status <> 'pending';
create index rule_matches_unsampled on rule_matches (matched_at) where reason = 'not_sampled' and status = 'skipped';

-- Decisions about deleted traces and projects are deleted with them.
create index rule_matches_by_trace on rule_matches (tenant_id, trace_id);
create index rule_matches_by_project on rule_matches (tenant_id, project_id);

-- A rule of something that is gone does nothing; it stays, disabled, with its log.
create function disable_rules_of_deleted() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'projects' then
    update rules r set is_enabled = false, disabled_reason = 'Its project was deleted.', updated_at = clock_timestamp()
    from gone where r.tenant_id = gone.tenant_id and r.project_id = gone.project_id and r.is_enabled;
  elsif tg_table_name = 'datasets' then
    update rules r set is_enabled = false, disabled_reason = 'Its dataset was deleted.', updated_at = clock_timestamp()
    from gone where r.tenant_id = gone.tenant_id and r.is_enabled
      and (r.dataset_id = gone.dataset_id or r.actions ->> 'add_to_dataset_id' = gone.dataset_id::text);
  else
    update rules r set is_enabled = false, disabled_reason = 'Its annotation queue was deleted.',
      updated_at = clock_timestamp()
    from gone where r.tenant_id = gone.tenant_id and r.is_enabled
      and r.actions ->> 'add_to_annotation_queue_id' = gone.queue_id::text;
  end if;
  return null;
end $$;
create trigger disable_rules after delete on projects referencing old table as gone
  for each statement execute function disable_rules_of_deleted();
create trigger disable_rules after delete on datasets referencing old table as gone
  for each statement execute function disable_rules_of_deleted();
create trigger disable_rules after delete on annotation_queues referencing old table as gone
  for each statement execute function disable_rules_of_deleted();

-- A rule that is enabled again knows nothing of the threads from before.
create function forget_threads_of_disabled() returns trigger language plpgsql as $$
begin
  delete from rule_threads where tenant_id = new.tenant_id and rule_id = new.rule_id;
  return null;
end $$;
create trigger forget_threads after update of is_enabled on rules
  for each row when (old.is_enabled and not new.is_enabled) execute function forget_threads_of_disabled();
