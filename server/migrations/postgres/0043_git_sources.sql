-- Deployments of repositories: what they follow, who gets in there, and what is known of their branches.

-- `git_ref` and `git_config_path`: the branch, tag or commit that is deployed, and where its langgraph.json is. A
-- revision of another source leaves them as they are.
-- `force_delete`: on its way out even where something of it cannot be removed.
alter table deployments add column git_ref text, add column git_config_path text,
  add column force_delete boolean not null default false;

-- A way into a Git host. Its token and the secret of its webhook are in `secrets` (purposes git-token and git-webhook,
-- id of the row).
create table integrations (
  id uuid primary key,
  tenant_id uuid not null,
  -- what clients that were written for another platform know it by
  installation_id bigint not null generated always as identity,
  name text not null,
  kind text not null check (kind in ('github', 'gitlab', 'gitea', 'other')),
  -- repositories below it, and no others, are fetched with the token
  url text not null,
  -- of the host's own API, which lists repositories
  api_url text,
  username text not null,
  has_token boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, name)
);

-- Deployments that are built on push. `seen_sha`: the branch's commit when it was looked at last, by whoever looked for
-- the revision `seen_number`; another commit is news.
create table git_watches (
  deployment_id uuid primary key references deployments on delete cascade,
  seen_sha text,
  seen_number bigint not null default 0,
  next_look_at timestamptz not null default now(),
  looked_at timestamptz,
  failures integer not null default 0,
  problem text
);
create index git_watches_by_time on git_watches (next_look_at);

-- Clusters that say that they would run deployments.
create table listeners (
  id uuid primary key,
  tenant_id uuid not null,
  version text,
  compute_type text not null,
  compute_id text not null,
  compute_config jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, compute_id)
);
