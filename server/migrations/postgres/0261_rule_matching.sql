-- Why a rule was disabled by the platform: its project, dataset, queue or evaluator was deleted, or its filter fails.
alter table rules add column disabled_reason text;

-- A batch takes the candidates of several workspaces in turn.
create index rule_candidates_by_tenant on rule_candidates (tenant_id, candidate_id);
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

-- Ended matches by age, for their deletion.
create index rule_matches_ended on rule_matches (matched_at) where status <> 'pending';
