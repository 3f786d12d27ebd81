-- The last error of a receiver whose deliveries fail, so that it can be shown without a look at its messages. The
-- functions due_webhook_receivers, claim_webhooks and finish_webhook_attempt stay in databases that have them, for
-- servers of the previous version; the statements are in base/webhooks/sql.ts.
alter table webhook_receivers add column last_error text;

-- Webhooks of a workspace on changes of its prompts. Their headers are in `secrets` (purpose prompt-webhook).
create table prompt_webhooks (
  webhook_id uuid primary key,
  tenant_id uuid not null,
  -- its query may hold a secret
  url text not null,
  -- scheme, host and port
  receiver text not null,
  -- ids of prompts; null: all
  include_prompts uuid[],
  exclude_prompts uuid[],
  triggers text[] not null,
  -- names of the headers
  headers text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index prompt_webhooks_of_tenant on prompt_webhooks (tenant_id, created_at, webhook_id);

-- Messages about prompts. Not in webhook_deliveries: agent servers count and expire what is there, those of previous
-- versions too.
create table prompt_webhook_deliveries (
  -- also the message's id for the receiver, the same in each attempt
  delivery_id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  webhook_id uuid not null references prompt_webhooks on delete cascade,
  repo_id uuid not null references prompts on delete cascade,
  commit_id uuid not null references prompt_commits on delete cascade,
  event text not null,
  tag_name text,
  changed_by text not null,
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
  finished_at timestamptz
);
create index prompt_webhook_deliveries_due on prompt_webhook_deliveries (receiver, available_at) where status = 'pending';
create index prompt_webhook_deliveries_of_tenant on prompt_webhook_deliveries (tenant_id, receiver, available_at)
  where status = 'pending';
create index prompt_webhook_deliveries_by_creation on prompt_webhook_deliveries (created_at);
create index prompt_webhook_deliveries_by_webhook on prompt_webhook_deliveries (webhook_id, created_at);
create index prompt_webhook_deliveries_by_prompt on prompt_webhook_deliveries (repo_id);
create index prompt_webhook_deliveries_by_commit on prompt_webhook_deliveries (commit_id);

create table prompt_webhook_attempts (
  delivery_id uuid not null references prompt_webhook_deliveries on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  primary key (delivery_id, attempt)
);

-- Only receivers that have failed; the next success deletes the row.
create table prompt_webhook_receivers (
  receiver text primary key,
  failures integer not null,
  paused_until timestamptz,
  last_error text,
  updated_at timestamptz not null default now()
);
