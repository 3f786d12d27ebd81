-- Budgets: alert rules whose metric is the spend of a calendar month.
alter table alert_rules
  -- of a budget: limit, thresholds and time zone; null: an alert rule
  add column budget jsonb,
  -- of a budget: when its spend was read
  add column measured_at timestamptz;

-- Spend by day of the budget's time zone and by user; '' is the whole. It outlives the runs.
create table budget_days (
  rule_id uuid not null references alert_rules on delete cascade,
  day date not null,
  group_name text not null,
  spent double precision not null,
  -- when it was read
  read_at timestamptz not null,
  primary key (rule_id, day, group_name)
);

alter table alert_incidents
  -- of a budget: its month, and the threshold in percent, or forecast
  add column period text,
  add column level text,
  drop constraint alert_incidents_reason_check,
  add constraint alert_incidents_reason_check
    check (reason in ('recovered', 'no_data', 'changed', 'disabled', 'period_ended'));
create index alert_incidents_firing on alert_incidents (rule_id) where status = 'firing';
