-- Judgements of evaluators whose correction has changed: a worker makes examples of them (trace/evaluators).
create table corrected_judgements (
  tenant_id uuid not null,
  feedback_id uuid not null,
  -- a correction that changes while it is processed is processed again
  changed_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  primary key (tenant_id, feedback_id)
);
create index corrected_judgements_by_time on corrected_judgements (available_at);
