-- The control plane: deployments, their revisions, what was uploaded for them, what runs of them, and what was said.

-- What has a stable address. Environment and database password are in `secrets` (purposes deployment-env and
-- deployment-database, id of the row).
create table deployments (
  id uuid primary key,
  tenant_id uuid not null,
  name text not null,
  -- the name in the address: the deployment's own, unless another workspace has it
  slug text not null unique,
  display_name text,
  source text not null check (source in ('github', 'external_docker', 'internal_docker', 'internal_source', 'internal_template')),
  source_config jsonb not null,
  secret_references jsonb,
  status text not null check (status in ('AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN')),
  -- the newest revision, and the one that serves
  latest_revision_id uuid,
  active_revision_id uuid,
  delete_tracing_project boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, name)
);
create index deployments_by_tenant on deployments (tenant_id, created_at desc, id desc);
create index deployments_going on deployments (updated_at) where status in ('AWAITING_DATABASE', 'AWAITING_DELETE');

-- A state of a deployment's source and environment, never changed but for what becomes of it. The environment is in
-- `secrets` (purpose revision-env). `attempt` goes up with every claim and fences what is written.
create table revisions (
  id uuid primary key,
  deployment_id uuid not null references deployments on delete cascade,
  -- counts within the deployment: the newest wins
  number bigint not null,
  source text not null,
  source_config jsonb not null,
  secret_references jsonb,
  repo_ref text,
  langgraph_config_path text,
  image_uri text,
  source_tarball_path text,
  repo_commit_sha text,
  status text not null check (status in ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING',
    'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'DEPLOYED', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN')),
  status_message text,
  -- INTERRUPTED by a caller, who alone can go on; otherwise the work goes on by itself
  interrupted_by_user boolean not null default false,
  -- whose build is used: its own when it was built, an older one's after a redeploy
  artifact_id uuid,
  attempt integer not null default 0,
  -- attempts that were lost since the last step that was done
  losses integer not null default 0,
  -- the process that works on it, as pid and start time
  holder text,
  lease_until timestamptz,
  not_before timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  unique (deployment_id, number)
);
create index revisions_to_do on revisions (not_before)
  where status in ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'INTERRUPTED', 'UNKNOWN');
create unique index revisions_deploying on revisions (deployment_id) where status = 'DEPLOYING';

-- Every transition, for people and for tests.
create table revision_events (
  id bigint generated always as identity primary key,
  revision_id uuid not null references revisions on delete cascade,
  status text not null,
  attempt integer not null,
  message text,
  at timestamptz not null default clock_timestamp()
);
create index revision_events_by_revision on revision_events (revision_id, id);

-- Object paths that upload-url gave out. A path is good for one upload and for revisions of its deployment.
create table uploads (
  object_path text primary key,
  deployment_id uuid not null references deployments on delete cascade,
  expires_at timestamptz not null,
  uploaded_at timestamptz,
  size bigint,
  -- set by the first revision that is made of it
  used_at timestamptz
);
create index uploads_by_deployment on uploads (deployment_id);
create index uploads_by_expiry on uploads (expires_at);

-- A running agent server. `pid` and `started` name the process beyond its pid, so that a new control plane adopts it
-- and never takes another program for it. One that lives a revision and replica: that is what keeps a second from
-- being started.
create table instances (
  id uuid primary key,
  deployment_id uuid not null references deployments on delete cascade,
  revision_id uuid not null references revisions on delete cascade,
  replica integer not null,
  state text not null check (state in ('starting', 'ready', 'draining', 'ended')),
  -- the machine and data directory that it runs on: only a control plane of there can see it
  place text not null,
  port integer not null,
  pid integer,
  started text,
  -- of the log file, how far it was read into deployment_logs
  log_offset bigint not null default 0,
  started_at timestamptz not null default now(),
  ready_at timestamptz,
  ended_at timestamptz,
  end_reason text,
  -- ended by itself, where nobody had asked for it
  crashed boolean not null default false
);
create unique index instances_alive on instances (revision_id, replica) where state in ('starting', 'ready');
create index instances_by_deployment on instances (deployment_id, started_at);
create index instances_going on instances (started_at) where state <> 'ended';

-- What builds and deployments say, a row a line.
create table deployment_logs (
  id bigint generated always as identity primary key,
  deployment_id uuid not null references deployments on delete cascade,
  revision_id uuid not null references revisions on delete cascade,
  kind text not null check (kind in ('build', 'deploy')),
  at timestamptz not null,
  level text not null,
  message text not null
);
create index deployment_logs_by_revision on deployment_logs (revision_id, kind, id);
create index deployment_logs_by_deployment on deployment_logs (deployment_id, kind, id);
create index deployment_logs_by_age on deployment_logs (at);
