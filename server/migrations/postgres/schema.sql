-- The schema that the migrations of this folder amount to. Written by `npm run schema`; not run by anything.

create table assistant_versions (
  assistant_id uuid not null,
  version integer not null,
  graph_id text not null,
  name text not null,
  description text,
  config jsonb,
  context jsonb,
  metadata jsonb not null,
  created_at timestamp with time zone not null default now(),
  constraint assistant_versions_assistant_id_fkey FOREIGN KEY (assistant_id) REFERENCES assistants(assistant_id) ON DELETE CASCADE,
  constraint assistant_versions_pkey PRIMARY KEY (assistant_id, version)
);

create table assistants (
  assistant_id uuid not null,
  graph_id text not null,
  name text not null,
  description text,
  config jsonb,
  context jsonb,
  metadata jsonb not null default '{}'::jsonb,
  version integer not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint assistants_pkey PRIMARY KEY (assistant_id)
);

create table checkpoint_blobs (
  thread_id text not null,
  checkpoint_ns text not null default ''::text,
  channel text not null,
  version text not null,
  type text not null,
  blob bytea,
  constraint checkpoint_blobs_pkey PRIMARY KEY (thread_id, checkpoint_ns, channel, version)
);

create table checkpoint_migrations (
  v integer not null,
  constraint checkpoint_migrations_pkey PRIMARY KEY (v)
);

create table checkpoint_writes (
  thread_id text not null,
  checkpoint_ns text not null default ''::text,
  checkpoint_id text not null,
  task_id text not null,
  idx integer not null,
  channel text not null,
  type text,
  blob bytea not null,
  constraint checkpoint_writes_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

create table checkpoints (
  thread_id text not null,
  checkpoint_ns text not null default ''::text,
  checkpoint_id text not null,
  parent_checkpoint_id text,
  type text,
  checkpoint jsonb not null,
  metadata jsonb not null default '{}'::jsonb,
  constraint checkpoints_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);

create table heddle_functions (
  hash text not null,
  applied_at timestamp with time zone not null default now(),
  constraint heddle_functions_pkey PRIMARY KEY (hash)
);

create table heddle_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint heddle_migrations_pkey PRIMARY KEY (version)
);

create table project_deletions (
  project_id uuid not null,
  tenant_id uuid not null,
  deleted_at timestamp with time zone not null default now(),
  constraint project_deletions_pkey PRIMARY KEY (project_id)
);

create table projects (
  project_id uuid not null,
  tenant_id uuid not null,
  name text not null,
  description text,
  extra jsonb,
  start_time timestamp with time zone not null default now(),
  end_time timestamp with time zone,
  default_dataset_id uuid,
  reference_dataset_id uuid,
  test_run_number integer,
  experiment jsonb,
  trace_tier text,
  retention_days integer,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  constraint projects_retention_days_check CHECK ((retention_days > 0)),
  constraint projects_trace_tier_check CHECK ((trace_tier = ANY (ARRAY['longlived'::text, 'shortlived'::text]))),
  constraint projects_pkey PRIMARY KEY (project_id),
  constraint projects_tenant_id_name_key UNIQUE (tenant_id, name)
);

create table runs (
  run_id uuid not null,
  seq bigint generated always as identity not null,
  thread_id uuid not null,
  assistant_id uuid not null,
  status text not null default 'pending'::text,
  metadata jsonb not null default '{}'::jsonb,
  kwargs jsonb not null default '{}'::jsonb,
  multitask_strategy text not null default 'enqueue'::text,
  temporary boolean not null default false,
  available_at timestamp with time zone not null default now(),
  attempt integer not null default 0,
  failures integer not null default 0,
  progress text,
  server_id uuid,
  cancel_action text,
  cancel_reason text,
  error jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint runs_cancel_action_check CHECK ((cancel_action = ANY (ARRAY['interrupt'::text, 'rollback'::text, 'timeout'::text]))),
  constraint runs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'success'::text, 'error'::text, 'timeout'::text, 'interrupted'::text]))),
  constraint runs_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(thread_id) ON DELETE CASCADE,
  constraint runs_pkey PRIMARY KEY (run_id)
);

create table servers (
  server_id uuid not null,
  host_name text not null,
  process text not null,
  internal_url text,
  started_at timestamp with time zone not null default now(),
  heartbeat_at timestamp with time zone not null default now(),
  constraint servers_pkey PRIMARY KEY (server_id)
);

create table store_items (
  namespace text[] not null,
  key text not null,
  value jsonb not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint store_items_pkey PRIMARY KEY (namespace, key)
);

create table threads (
  thread_id uuid not null,
  metadata jsonb not null default '{}'::jsonb,
  config jsonb not null default '{}'::jsonb,
  status text not null default 'idle'::text,
  settled_status text not null default 'idle'::text,
  "values" jsonb,
  interrupts jsonb not null default '{}'::jsonb,
  error jsonb,
  running_run_id uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  state_updated_at timestamp with time zone not null default now(),
  constraint threads_settled_status_check CHECK ((settled_status = ANY (ARRAY['idle'::text, 'interrupted'::text, 'error'::text]))),
  constraint threads_status_check CHECK ((status = ANY (ARRAY['idle'::text, 'busy'::text, 'interrupted'::text, 'error'::text]))),
  constraint threads_pkey PRIMARY KEY (thread_id)
);

create table trace_shares (
  share_token uuid not null,
  tenant_id uuid not null,
  project_id uuid not null,
  trace_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint trace_shares_pkey PRIMARY KEY (share_token),
  constraint trace_shares_tenant_id_trace_id_key UNIQUE (tenant_id, trace_id)
);

CREATE INDEX assistants_by_creation ON public.assistants USING btree (created_at DESC, assistant_id);
CREATE INDEX assistants_by_graph ON public.assistants USING btree (graph_id);
CREATE INDEX assistants_by_metadata ON public.assistants USING gin (metadata jsonb_path_ops);
CREATE INDEX projects_by_dataset ON public.projects USING btree (reference_dataset_id) WHERE (reference_dataset_id IS NOT NULL);
CREATE INDEX projects_by_metadata ON public.projects USING gin (((extra -> 'metadata'::text)) jsonb_path_ops);
CREATE INDEX projects_by_start ON public.projects USING btree (tenant_id, start_time DESC, project_id);
CREATE INDEX runs_by_assistant ON public.runs USING btree (assistant_id);
CREATE INDEX runs_by_thread ON public.runs USING btree (thread_id, seq DESC);
CREATE INDEX runs_inflight ON public.runs USING btree (thread_id, seq) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));
CREATE UNIQUE INDEX runs_one_running ON public.runs USING btree (thread_id) WHERE (status = 'running'::text);
CREATE INDEX runs_queue ON public.runs USING btree (seq) WHERE (status = 'pending'::text);
CREATE INDEX store_items_by_prefix ON public.store_items USING btree ((namespace[1]), (namespace[2]), updated_at DESC);
CREATE INDEX store_items_by_update ON public.store_items USING btree (updated_at DESC);
CREATE INDEX threads_by_creation ON public.threads USING btree (created_at DESC, thread_id);
CREATE INDEX threads_by_metadata ON public.threads USING gin (metadata jsonb_path_ops);
CREATE INDEX threads_by_status ON public.threads USING btree (status, created_at DESC);
CREATE INDEX threads_by_update ON public.threads USING btree (updated_at DESC, thread_id);
CREATE INDEX trace_shares_by_project ON public.trace_shares USING btree (project_id);

-- function assistant_wire(a assistants) returns json
-- function cancel_run(_run_id uuid, _thread_id uuid, _action text, _reason text) returns TABLE(outcome text, server_id uuid)
-- function claim_runs(_server uuid, _limit integer) returns TABLE(run_id uuid, thread_id uuid, assistant_id uuid, graph_id text, attempt integer, failures integer, kwargs text, fresh_thread boolean, cancel_action text)
-- function copy_thread(_source uuid, _target uuid) returns json
-- function create_run(_run_id uuid, _thread_id uuid, _assistant_id uuid, _kwargs jsonb, _metadata jsonb, _strategy text, _create_thread boolean, _after double precision, _temporary boolean, _server uuid, _claim boolean, _describe boolean, _wait boolean) returns TABLE(outcome text, run text, graph_id text, claimed boolean, kwargs text, fresh_thread boolean, cancelled uuid[])
-- function delete_assistant(_assistant_id uuid) returns boolean
-- function delete_run_checkpoints(_thread_id uuid, _run_id uuid) returns void
-- function delete_thread(_thread_id uuid) returns void
-- function delete_thread_data(_thread_id uuid) returns void
-- function finish_run(_run_id uuid, _thread_id uuid, _attempt integer, _outcome text, _error jsonb, _state jsonb, _notify boolean) returns TABLE(outcome text, waiting boolean)
-- function merge_run_config(_kwargs jsonb, _assistant_config jsonb, _assistant_context jsonb, _thread_config jsonb, _run_metadata jsonb, _own jsonb) returns jsonb
-- function patch_assistant(_assistant_id uuid, _patch jsonb) returns json
-- function prune_thread(_thread_id uuid) returns boolean
-- function release_run(_run_id uuid, _attempt integer, _blame boolean, _max_failures integer, _reason text, _notify boolean) returns TABLE(outcome text, thread_id uuid)
-- function run_wire(r runs) returns json
-- function settle_thread(_thread_id uuid) returns void
-- function stop_inflight(_thread_id uuid, _strategy text) returns uuid[]
-- function store_matches(_value jsonb, _conditions jsonb) returns boolean
-- function thread_wire(t threads) returns json
