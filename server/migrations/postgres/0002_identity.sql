-- Who may do what: organisations, their workspaces ("tenants" on the wire), people, roles and keys.

create table organizations (
  id uuid primary key,
  display_name text not null,
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now()
);

create table workspaces (
  id uuid primary key,
  organization_id uuid not null references organizations,
  display_name text not null,
  tenant_handle text unique,
  plan text not null default 'enterprise' check (plan in ('developer', 'plus', 'enterprise')),
  -- the one that the first start made; servers that are not told their workspace serve this one
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  -- a deleted workspace keeps its row, because what was recorded in it names it
  deleted_at timestamptz,
  check (not is_default or deleted_at is null)
);
create unique index workspaces_default on workspaces (is_default) where is_default;
create index workspaces_by_organization on workspaces (organization_id, created_at, id);

-- The permissions of built-in roles are in identity/roles/built-in.ts, where new permissions join them; their
-- rows are here so that everything that names a role refers to a row.
create table roles (
  id uuid primary key,
  -- null: built in
  organization_id uuid references organizations on delete cascade,
  name text not null,
  display_name text not null,
  description text not null default '',
  access_scope text not null check (access_scope in ('organization', 'workspace')),
  permissions text[] not null default '{}',
  created_at timestamptz not null default now()
);
create unique index roles_by_name on roles (organization_id, lower(display_name)) where organization_id is not null;
insert into roles (id, name, display_name, description, access_scope) values
  ('00000000-0000-4000-8000-000000000001', 'ORGANIZATION_ADMIN', 'Organization Admin', 'May do everything in every workspace', 'organization'),
  ('00000000-0000-4000-8000-000000000002', 'ORGANIZATION_USER', 'Organization User', 'Sees the organisation; may make keys of their own', 'organization'),
  ('00000000-0000-4000-8000-000000000003', 'ORGANIZATION_VIEWER', 'Organization Viewer', 'Sees the organisation', 'organization'),
  ('00000000-0000-4000-8000-000000000011', 'WORKSPACE_ADMIN', 'Admin', 'May do everything in the workspace', 'workspace'),
  ('00000000-0000-4000-8000-000000000012', 'WORKSPACE_USER', 'Editor', 'May do everything but manage the workspace', 'workspace'),
  ('00000000-0000-4000-8000-000000000013', 'WORKSPACE_VIEWER', 'Viewer', 'May look at everything', 'workspace');

create table users (
  id uuid primary key,
  -- lower case
  email text not null unique check (email = lower(email)),
  full_name text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  disabled_at timestamptz
);

create table organization_members (
  id uuid primary key,
  organization_id uuid not null references organizations,
  user_id uuid not null references users on delete cascade,
  role_id uuid not null references roles,
  created_at timestamptz not null default now(),
  unique (organization_id, user_id)
);
create index organization_members_by_user on organization_members (user_id);

create table workspace_members (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  user_id uuid not null references users on delete cascade,
  role_id uuid not null references roles,
  read_only boolean not null default false,
  created_at timestamptz not null default now(),
  unique (workspace_id, user_id)
);
create index workspace_members_by_user on workspace_members (user_id);

-- People who are expected and have no account yet; the account takes over what is promised here.
create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations,
  email text not null check (email = lower(email)),
  full_name text,
  organization_role_id uuid not null references roles,
  workspace_ids uuid[] not null default '{}',
  workspace_role_id uuid references roles,
  read_only boolean not null default false,
  created_at timestamptz not null default now(),
  unique (organization_id, email)
);

create table api_keys (
  id uuid primary key,
  organization_id uuid not null references organizations,
  kind text not null check (kind in ('service', 'personal')),
  -- whose it is, for personal ones
  user_id uuid references users on delete cascade,
  -- SHA-256 of the whole key. A key holds 256 random bits, so guessing is hopeless at any speed of hashing, and a
  -- slow or salted hash would only cost time on each request.
  key_hash bytea not null unique,
  -- its beginning and end, to tell keys apart in a list
  short_key text not null,
  description text not null,
  read_only boolean not null default false,
  -- a service key has these roles; a personal key with a workspace role may do what both it and its person may
  role_id uuid references roles,
  organization_role_id uuid references roles,
  -- every workspace of the organisation (service), every one of the person's (personal); else api_key_workspaces
  all_workspaces boolean not null default false,
  default_workspace_id uuid references workspaces,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  -- some seconds behind
  last_used_at timestamptz,
  -- the row stays, because the audit log names it
  revoked_at timestamptz,
  check ((kind = 'personal') = (user_id is not null))
);
create index api_keys_by_organization on api_keys (organization_id, created_at desc, id);
create index api_keys_by_user on api_keys (user_id) where user_id is not null;

create table api_key_workspaces (
  key_id uuid not null references api_keys on delete cascade,
  workspace_id uuid not null references workspaces,
  primary key (key_id, workspace_id)
);
create index api_key_workspaces_by_workspace on api_key_workspaces (workspace_id);

-- Servers keep verified keys in memory. Whatever changes what somebody may do counts this up and tells them,
-- whoever makes the change. The triggers are deferred, so that the row is locked at the commit only.
create table identity_version (
  only_row boolean primary key default true check (only_row),
  version bigint not null default 1
);
insert into identity_version default values;

create function identity_changed() returns trigger language plpgsql as $$
begin
  update identity_version set version = version + 1;
  perform pg_notify('heddle_identity', '');
  return null;
end $$;

create constraint trigger identity_changed after insert or delete or update of
  key_hash, read_only, role_id, organization_role_id, all_workspaces, default_workspace_id, expires_at, revoked_at, description
  on api_keys deferrable initially deferred for each row execute function identity_changed();
create constraint trigger identity_changed after insert or update or delete
  on api_key_workspaces deferrable initially deferred for each row execute function identity_changed();
create constraint trigger identity_changed after insert or update or delete
  on workspaces deferrable initially deferred for each row execute function identity_changed();
create constraint trigger identity_changed after update or delete
  on roles deferrable initially deferred for each row execute function identity_changed();
create constraint trigger identity_changed after delete or update of email, disabled_at
  on users deferrable initially deferred for each row execute function identity_changed();
create constraint trigger identity_changed after insert or update or delete
  on organization_members deferrable initially deferred for each row execute function identity_changed();
create constraint trigger identity_changed after insert or update or delete
  on workspace_members deferrable initially deferred for each row execute function identity_changed();
