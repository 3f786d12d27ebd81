-- Alert rules: a metric of traced runs, evaluated at each tick of an interval by this database's clock.
create table alert_rules (
  rule_id uuid primary key,
  tenant_id uuid not null,
  -- null: all projects
  project_id uuid,
  name text not null,
  -- metric, condition and timing, as the API takes them
  definition jsonb not null,
  severity text not null check (severity in ('info', 'warning', 'error', 'critical')),
  is_enabled boolean not null,
  disabled_reason text,
  silenced_until timestamptz,
  -- periods without messages: [{starts_at, ends_at}]
  maintenance jsonb not null default '[]',
  -- channels without their secrets, which are in `secrets` (purpose alert-rule)
  actions jsonb not null,
  interval_seconds integer not null check (interval_seconds > 0),
  -- changes with each change of the definition, so that no evaluation of a former one is stored
  generation integer not null default 1,
  -- the last evaluated tick
  evaluated_at timestamptz,
  -- when the next tick is due
  available_at timestamptz not null default now(),
  lease_id uuid,
  -- why the last evaluation failed
  error text,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index alert_rules_of_tenant on alert_rules (tenant_id, created_at desc, rule_id desc);
create index alert_rules_due on alert_rules (available_at) where is_enabled;

-- A period in which a rule's condition holds for a group of runs. Changed only in the transaction that stores a tick.
create table alert_incidents (
  -- UUIDv5 of the rule, its generation, the group and the tick
  incident_id uuid primary key,
  tenant_id uuid not null,
  rule_id uuid not null references alert_rules on delete cascade,
  -- empty without a grouping
  group_name text not null,
  status text not null check (status in ('firing', 'resolved')),
  severity text not null,
  -- ticks: of the first breach, of the firing, of the resolution
  began_at timestamptz not null,
  fired_at timestamptz not null,
  resolved_at timestamptz,
  -- at the firing, the furthest, and at the resolution
  value double precision,
  worst double precision,
  last_value double precision,
  threshold double precision,
  -- why it was resolved
  reason text check (reason in ('recovered', 'no_data', 'changed', 'disabled')),
  -- when its firing was enqueued; null while the rule is silenced
  told_at timestamptz
);
create index alert_incidents_of_rule on alert_incidents (rule_id, fired_at desc, incident_id desc);
create index alert_incidents_of_tenant on alert_incidents (tenant_id, fired_at desc, incident_id desc);

-- Groups of runs that are not in the state ok.
create table alert_groups (
  rule_id uuid not null references alert_rules on delete cascade,
  group_name text not null,
  status text not null check (status in ('pending', 'firing')),
  -- consecutive ticks with a breach
  breaches integer not null,
  -- tick of the first of them
  began_at timestamptz not null,
  incident_id uuid references alert_incidents on delete cascade,
  primary key (rule_id, group_name)
);

-- Messages about incidents. Their content is composed when they are sent.
create table alert_deliveries (
  -- UUIDv5 of incident, event and action; also the message's id for the receiver, the same in each attempt
  delivery_id uuid primary key,
  tenant_id uuid not null,
  rule_id uuid not null references alert_rules on delete cascade,
  incident_id uuid not null references alert_incidents on delete cascade,
  event text not null check (event in ('firing', 'resolved')),
  action_id uuid not null,
  target text not null,
  -- without what is secret of it
  url text not null,
  -- scheme, host and port: what waits, fails and is paused together
  receiver text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- attempts since it was queued
  tries integer not null default 0,
  queued_at timestamptz not null default now(),
  -- not before this; of a resolution, infinity until the message of the firing has ended
  available_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index alert_deliveries_due on alert_deliveries (receiver, available_at) where status = 'pending';
create index alert_deliveries_by_creation on alert_deliveries (created_at);
create index alert_deliveries_by_incident on alert_deliveries (incident_id);
create index alert_deliveries_by_rule on alert_deliveries (rule_id);

create table alert_delivery_attempts (
  delivery_id uuid not null references alert_deliveries on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  primary key (delivery_id, attempt)
);

-- Only receivers that have failed; the next success deletes the row.
create table alert_receivers (
  receiver text primary key,
  failures integer not null,
  paused_until timestamptz,
  last_error text,
  updated_at timestamptz not null default now()
);

-- A receiver learns of a resolution after the firing: a late trigger would open the incident again.
create function release_alert_resolution() returns trigger language plpgsql as $$
begin
  update alert_deliveries set available_at = now(), queued_at = now()
  where incident_id = new.incident_id and action_id = new.action_id and event = 'resolved' and status = 'pending'
    and available_at = 'infinity';
  return null;
end $$;
create trigger alert_firing_ended after update of status on alert_deliveries
  for each row when (new.event = 'firing' and old.status = 'pending' and new.status <> 'pending')
  execute function release_alert_resolution();
