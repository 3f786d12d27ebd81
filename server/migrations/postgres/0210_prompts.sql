-- Prompts of workspaces: repositories of manifests, which are kept as the text that was received. A commit never
-- changes; tags move between commits, and each move is kept.

create table prompts (
  repo_id uuid primary key,
  tenant_id uuid not null,
  repo_handle text not null,
  description text,
  readme text,
  -- labels of the repository; tags of commits are in prompt_tags
  tags text[] not null default '{}',
  repo_type text not null check (repo_type in ('prompt', 'file', 'agent', 'skill')),
  source text check (source in ('internal', 'external')),
  -- readable by all workspaces of the installation
  is_public boolean not null,
  is_archived boolean not null default false,
  -- the repository at the beginning of a chain of forks, and the one before this
  original_repo_id uuid references prompts on delete set null,
  upstream_repo_id uuid references prompts on delete set null,
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  num_commits integer not null default 0,
  -- of the table below, whose rows are written first; checked by the transaction that writes both
  last_commit_id uuid,
  unique (tenant_id, repo_handle)
);
create index prompts_by_change on prompts (tenant_id, updated_at desc, repo_id);
create index prompts_public on prompts (updated_at desc, repo_id) where is_public;
create index prompts_by_upstream on prompts (upstream_repo_id) where upstream_repo_id is not null;
create index prompts_by_original on prompts (original_repo_id) where original_repo_id is not null;

create table prompt_commits (
  commit_id uuid primary key,
  repo_id uuid not null references prompts on delete cascade,
  tenant_id uuid not null,
  -- SHA-256 of the parent's hash and the manifest, in hex; bytes compare as a prefix requires
  commit_hash text collate "C" not null,
  -- 1, 2, 3 … in the repository
  position integer not null,
  parent_id uuid,
  parent_commit_hash text,
  -- exactly the text that was received
  manifest text not null,
  manifest_sha bytea not null,
  -- the prompt in it, where the manifest also has a model
  prompt_manifest text,
  description text,
  created_by text,
  full_name text,
  created_at timestamptz not null default now(),
  unique (repo_id, commit_hash),
  unique (repo_id, position)
);

create table prompt_tags (
  tag_id uuid not null unique,
  repo_id uuid not null references prompts on delete cascade,
  tag_name text not null,
  commit_id uuid not null references prompt_commits on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (repo_id, tag_name)
);
create index prompt_tags_by_commit on prompt_tags (commit_id);

-- One row a change of a tag: its creation has no commit before, its deletion none after.
create table prompt_tag_moves (
  move_id uuid primary key,
  tenant_id uuid not null,
  repo_id uuid not null references prompts on delete cascade,
  tag_name text not null,
  from_commit_id uuid,
  from_commit_hash text,
  to_commit_id uuid,
  to_commit_hash text,
  performed_by text,
  performed_by_name text,
  created_at timestamptz not null default now()
);
create index prompt_tag_moves_of_tag on prompt_tag_moves (repo_id, tag_name, created_at desc, move_id desc);
create index prompt_tag_moves_of_tenant on prompt_tag_moves (tenant_id, created_at desc, move_id desc);

-- Names of the tags that the workspace uses as environments; without a row, staging and production.
create table prompt_environments (
  tenant_id uuid primary key,
  model_id uuid not null unique,
  environments text[] not null check (cardinality(environments) between 0 and 4),
  updated_at timestamptz not null default now()
);

-- The planner's statistics hold no contents, which an erasure would leave there.
alter table prompts
  alter column description set statistics 0,
  alter column readme set statistics 0,
  alter column tags set statistics 0;
alter table prompt_commits
  alter column manifest set statistics 0,
  alter column manifest_sha set statistics 0,
  alter column prompt_manifest set statistics 0,
  alter column description set statistics 0;
