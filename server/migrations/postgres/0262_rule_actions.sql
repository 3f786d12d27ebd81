-- Claims step from one rule with pending matches to the next; a claim moves available_at to the end of its lease.
create index rule_matches_due on rule_matches (tenant_id, rule_id, available_at) where status = 'pending';
create index rule_matches_back_fill on rule_matches (tenant_id, rule_id) where status = 'pending' and is_backfill;

-- Back-fills count the candidates that wait.
create index rule_candidates_of_rule on rule_candidates (tenant_id, rule_id) where rule_id is not null;

-- What a rule has spent in a window of its limit: day, week or month, by its first day in UTC.
create table rule_spending (
  tenant_id uuid not null,
  rule_id uuid not null,
  window_start date not null,
  spent_usd numeric not null default 0,
  primary key (tenant_id, rule_id, window_start),
  foreign key (tenant_id, rule_id) references rules on delete cascade
);

-- What the judgements in progress may cost. A match has one; it ends when the cost is known.
create table rule_reservations (
  match_id uuid primary key references rule_matches (match_id) on delete cascade,
  tenant_id uuid not null,
  rule_id uuid not null,
  window_start date not null,
  -- null: unknown, so nothing else of the rule is judged meanwhile
  amount_usd numeric,
  lease_id uuid not null
);
create index rule_reservations_by_rule on rule_reservations (tenant_id, rule_id, window_start);

-- Messages of rules: webhooks and alerts. Their content is composed when they are sent.
create table rule_deliveries (
  -- also the message's id for the receiver, the same in each attempt
  delivery_id uuid primary key,
  tenant_id uuid not null,
  rule_id uuid not null,
  match_id uuid not null references rule_matches (match_id) on delete cascade,
  kind text not null check (kind in ('webhook', 'pagerduty')),
  -- place in the rule's list of this kind
  place integer not null,
  url text not null,
  -- scheme, host and port: what waits, fails and is paused together
  receiver text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- attempts since it was queued
  tries integer not null default 0,
  queued_at timestamptz not null default now(),
  -- not before this; during an attempt, when it is taken for lost
  available_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  foreign key (tenant_id, rule_id) references rules on delete cascade
);
create index rule_deliveries_due on rule_deliveries (receiver, available_at) where status = 'pending';
create index rule_deliveries_by_creation on rule_deliveries (created_at);
create index rule_deliveries_by_rule on rule_deliveries (tenant_id, rule_id);
create index rule_deliveries_by_match on rule_deliveries (match_id);

create table rule_delivery_attempts (
  delivery_id uuid not null references rule_deliveries on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  primary key (delivery_id, attempt)
);

-- Only receivers that have failed; the next success deletes the row.
create table rule_receivers (
  receiver text primary key,
  failures integer not null,
  paused_until timestamptz,
  last_error text,
  updated_at timestamptz not null default now()
);
