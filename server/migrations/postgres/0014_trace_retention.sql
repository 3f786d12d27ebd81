-- Feedback moves its trace to the longer tier, unless whoever gives it says otherwise (extend_trace_retention).
alter table feedback add column extends_retention boolean not null default true;
