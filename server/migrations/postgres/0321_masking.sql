-- Rules by which the platform masks what arrives in traces, before it is stored.
create table masking_rules (
  tenant_id uuid not null,
  rule_id uuid not null,
  name text not null,
  -- null: all projects
  project_id uuid,
  is_enabled boolean not null,
  fields text[] not null,
  -- names separated by dots, * for any; empty: the whole field
  path text not null,
  detectors text[] not null,
  pattern text,
  replacement text,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, rule_id)
);

-- What was masked, by day in UTC. Counted in processes and added every few seconds.
create table masking_counts (
  tenant_id uuid not null,
  rule_id uuid not null,
  day date not null,
  runs bigint not null,
  replaced bigint not null,
  primary key (tenant_id, rule_id, day),
  foreign key (tenant_id, rule_id) references masking_rules on delete cascade
);
