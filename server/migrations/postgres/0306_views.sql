-- Named filters, columns, sort orders and time ranges of lists of runs.
create table saved_views (
  tenant_id uuid not null,
  view_id uuid not null,
  -- null: of all projects of the workspace
  session_id uuid,
  display_name text not null,
  description text,
  type text not null check (type in ('runs', 'threads', 'single_run')),
  filter_string text,
  trace_filter_string text,
  tree_filter_string text,
  start_time timestamptz,
  end_time timestamptz,
  duration text,
  -- which runs the list shows, its search text, order and columns
  list jsonb not null default '{}',
  -- the person who saved it: id of a user or a key; empty on a server without keys
  owner_id text not null,
  is_shared boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, view_id),
  foreign key (tenant_id, session_id) references projects (tenant_id, project_id) on delete cascade
);
create index saved_views_by_project on saved_views (tenant_id, session_id, created_at);

-- The view with which a project opens, for one person.
create table default_views (
  tenant_id uuid not null,
  person_id text not null,
  session_id uuid not null,
  view_id uuid not null,
  primary key (tenant_id, person_id, session_id),
  foreign key (tenant_id, view_id) references saved_views on delete cascade,
  foreign key (tenant_id, session_id) references projects (tenant_id, project_id) on delete cascade
);
create index default_views_by_view on default_views (tenant_id, view_id);
create index default_views_by_project on default_views (tenant_id, session_id);
