-- Secrets of a workspace, for calls to models. The values are in secrets, under the row's id.
create table workspace_secrets (
  id uuid primary key,
  tenant_id uuid not null,
  key text not null,
  updated_at timestamptz not null default now(),
  unique (tenant_id, key)
);

-- Saved configurations of models.
create table playground_settings (
  id uuid primary key,
  tenant_id uuid not null,
  name text,
  description text,
  settings json not null,
  options json,
  settings_type text not null default 'complex',
  availability jsonb not null default '{}',
  created_by uuid,
  updated_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index playground_settings_in_workspace on playground_settings (tenant_id, created_at, id);

-- Connections to providers of models. `secrets` maps a provider's secrets to keys of workspace_secrets.
create table model_connections (
  id uuid primary key,
  tenant_id uuid not null,
  name text not null,
  provider text not null,
  settings jsonb not null default '{}',
  secrets jsonb not null default '{}',
  default_model text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, name)
);

-- Budgets of workspaces for calls to models, in US dollars per calendar month (UTC). Null: no limit.
create table model_budgets (
  tenant_id uuid primary key,
  limit_usd numeric(20, 12),
  updated_at timestamptz not null default now()
);

-- Sums of the calls of a month. The row is locked while an amount is reserved.
create table model_spending (
  tenant_id uuid not null,
  month date not null,
  spent_usd numeric(24, 12) not null default 0,
  calls bigint not null default 0,
  tokens bigint not null default 0,
  primary key (tenant_id, month)
);

-- Amounts of calls in progress. A call of a server that died stops counting when its reservation expires.
create table model_reservations (
  id uuid primary key,
  tenant_id uuid not null,
  month date not null,
  amount_usd numeric(20, 12) not null,
  expires_at timestamptz not null
);
create index model_reservations_in_month on model_reservations (tenant_id, month);
