-- The schema that the migrations of this folder amount to. Written by `npm run schema`; not run by anything.

create table alert_deliveries (
  delivery_id uuid not null,
  tenant_id uuid not null,
  rule_id uuid not null,
  incident_id uuid not null,
  event text not null,
  action_id uuid not null,
  target text not null,
  url text not null,
  receiver text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  tries integer not null default 0,
  queued_at timestamp with time zone not null default now(),
  available_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint alert_deliveries_event_check CHECK ((event = ANY (ARRAY['firing'::text, 'resolved'::text]))),
  constraint alert_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint alert_deliveries_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES alert_incidents(incident_id) ON DELETE CASCADE,
  constraint alert_deliveries_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(rule_id) ON DELETE CASCADE,
  constraint alert_deliveries_pkey PRIMARY KEY (delivery_id)
);

create table alert_delivery_attempts (
  delivery_id uuid not null,
  attempt integer not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  constraint alert_delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES alert_deliveries(delivery_id) ON DELETE CASCADE,
  constraint alert_delivery_attempts_pkey PRIMARY KEY (delivery_id, attempt)
);

create table alert_groups (
  rule_id uuid not null,
  group_name text not null,
  status text not null,
  breaches integer not null,
  began_at timestamp with time zone not null,
  incident_id uuid,
  constraint alert_groups_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'firing'::text]))),
  constraint alert_groups_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES alert_incidents(incident_id) ON DELETE CASCADE,
  constraint alert_groups_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(rule_id) ON DELETE CASCADE,
  constraint alert_groups_pkey PRIMARY KEY (rule_id, group_name)
);

create table alert_incidents (
  incident_id uuid not null,
  tenant_id uuid not null,
  rule_id uuid not null,
  group_name text not null,
  status text not null,
  severity text not null,
  began_at timestamp with time zone not null,
  fired_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  value double precision,
  worst double precision,
  last_value double precision,
  threshold double precision,
  reason text,
  told_at timestamp with time zone,
  period text,
  level text,
  constraint alert_incidents_reason_check CHECK ((reason = ANY (ARRAY['recovered'::text, 'no_data'::text, 'changed'::text, 'disabled'::text, 'period_ended'::text]))),
  constraint alert_incidents_status_check CHECK ((status = ANY (ARRAY['firing'::text, 'resolved'::text]))),
  constraint alert_incidents_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(rule_id) ON DELETE CASCADE,
  constraint alert_incidents_pkey PRIMARY KEY (incident_id)
);

create table alert_receivers (
  receiver text not null,
  failures integer not null,
  paused_until timestamp with time zone,
  last_error text,
  updated_at timestamp with time zone not null default now(),
  constraint alert_receivers_pkey PRIMARY KEY (receiver)
);

create table alert_rules (
  rule_id uuid not null,
  tenant_id uuid not null,
  project_id uuid,
  name text not null,
  definition jsonb not null,
  severity text not null,
  is_enabled boolean not null,
  disabled_reason text,
  silenced_until timestamp with time zone,
  maintenance jsonb not null default '[]'::jsonb,
  actions jsonb not null,
  interval_seconds integer not null,
  generation integer not null default 1,
  evaluated_at timestamp with time zone,
  available_at timestamp with time zone not null default now(),
  lease_id uuid,
  error text,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  budget jsonb,
  measured_at timestamp with time zone,
  constraint alert_rules_interval_seconds_check CHECK ((interval_seconds > 0)),
  constraint alert_rules_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'error'::text, 'critical'::text]))),
  constraint alert_rules_pkey PRIMARY KEY (rule_id)
);

create table annotation_queue_reviewers (
  tenant_id uuid not null,
  queue_id uuid not null,
  identity_id uuid not null,
  constraint annotation_queue_reviewers_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES workspace_members(id) ON DELETE CASCADE,
  constraint annotation_queue_reviewers_tenant_id_queue_id_fkey FOREIGN KEY (tenant_id, queue_id) REFERENCES annotation_queues(tenant_id, queue_id) ON DELETE CASCADE,
  constraint annotation_queue_reviewers_pkey PRIMARY KEY (tenant_id, queue_id, identity_id)
);

create table annotation_queue_reviews (
  tenant_id uuid not null,
  queue_run_id uuid not null,
  identity_id uuid not null,
  status text,
  reserved_at timestamp with time zone,
  reserved_until timestamp with time zone,
  completed_at timestamp with time zone,
  override_added_at timestamp with time zone,
  constraint annotation_queue_reviews_status_check CHECK ((status = ANY (ARRAY['viewed'::text, 'completed'::text]))),
  constraint annotation_queue_reviews_tenant_id_queue_run_id_fkey FOREIGN KEY (tenant_id, queue_run_id) REFERENCES annotation_queue_runs(tenant_id, queue_run_id) ON DELETE CASCADE,
  constraint annotation_queue_reviews_pkey PRIMARY KEY (tenant_id, queue_run_id, identity_id)
);

create table annotation_queue_runs (
  tenant_id uuid not null,
  queue_run_id uuid not null,
  queue_id uuid not null,
  run_id uuid not null,
  project_id uuid not null,
  trace_id uuid not null,
  start_time timestamp with time zone not null,
  source_proposed_example_id uuid,
  added_at timestamp with time zone not null,
  last_reviewed_time timestamp with time zone,
  archived_at timestamp with time zone,
  item_type text not null default 'RUN'::text,
  thread_id text,
  other_run_id uuid,
  other_project_id uuid,
  other_trace_id uuid,
  other_start_time timestamp with time zone,
  constraint annotation_queue_runs_check CHECK (((item_type = 'THREAD'::text) = (thread_id IS NOT NULL))),
  constraint annotation_queue_runs_check1 CHECK (((item_type = 'PAIR'::text) = (other_run_id IS NOT NULL))),
  constraint annotation_queue_runs_item_type_check CHECK ((item_type = ANY (ARRAY['RUN'::text, 'THREAD'::text, 'PAIR'::text]))),
  constraint annotation_queue_runs_tenant_id_queue_id_fkey FOREIGN KEY (tenant_id, queue_id) REFERENCES annotation_queues(tenant_id, queue_id) ON DELETE CASCADE,
  constraint annotation_queue_runs_pkey PRIMARY KEY (tenant_id, queue_run_id)
);

create table annotation_queues (
  tenant_id uuid not null,
  queue_id uuid not null,
  name text not null,
  description text,
  rubric_instructions text,
  rubric_items jsonb,
  metadata jsonb,
  default_dataset uuid,
  num_reviewers_per_item integer,
  enable_reservations boolean not null,
  reservation_minutes integer not null,
  reviewer_access_mode text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  queue_type text not null default 'single'::text,
  comparative_experiment_id uuid,
  constraint annotation_queues_num_reviewers_per_item_check CHECK ((num_reviewers_per_item > 0)),
  constraint annotation_queues_queue_type_check CHECK ((queue_type = ANY (ARRAY['single'::text, 'pairwise'::text]))),
  constraint annotation_queues_reservation_minutes_check CHECK ((reservation_minutes > 0)),
  constraint annotation_queues_reviewer_access_mode_check CHECK ((reviewer_access_mode = ANY (ARRAY['any'::text, 'assigned'::text]))),
  constraint annotation_queues_tenant_id_default_dataset_fkey FOREIGN KEY (tenant_id, default_dataset) REFERENCES datasets(tenant_id, dataset_id) ON DELETE SET NULL (default_dataset),
  constraint annotation_queues_pkey PRIMARY KEY (tenant_id, queue_id)
);

create table announced_changes (
  id uuid not null,
  touched_at timestamp with time zone not null default now(),
  draft jsonb not null,
  constraint announced_changes_pkey PRIMARY KEY (id)
);

create table api_key_workspaces (
  key_id uuid not null,
  workspace_id uuid not null,
  constraint api_key_workspaces_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
  constraint api_key_workspaces_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint api_key_workspaces_pkey PRIMARY KEY (key_id, workspace_id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED
);

create table api_keys (
  id uuid not null,
  organization_id uuid not null,
  kind text not null,
  user_id uuid,
  key_hash bytea not null,
  short_key text not null,
  description text not null,
  read_only boolean not null default false,
  role_id uuid,
  organization_role_id uuid,
  all_workspaces boolean not null default false,
  default_workspace_id uuid,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  audience text,
  constraint api_keys_check CHECK (((kind = 'personal'::text) = (user_id IS NOT NULL))),
  constraint api_keys_kind_check CHECK ((kind = ANY (ARRAY['service'::text, 'personal'::text]))),
  constraint api_keys_default_workspace_id_fkey FOREIGN KEY (default_workspace_id) REFERENCES workspaces(id),
  constraint api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint api_keys_organization_role_id_fkey FOREIGN KEY (organization_role_id) REFERENCES roles(id),
  constraint api_keys_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id),
  constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint api_keys_key_hash_key UNIQUE (key_hash)
);

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

create table audit_log (
  id uuid not null,
  at timestamp(3) with time zone not null,
  organization_id uuid,
  workspace_id uuid,
  actor_kind text not null,
  actor_id text not null,
  actor_name text not null,
  user_id text,
  ip text not null,
  operation text not null,
  operation_name text not null,
  target jsonb not null,
  status integer not null,
  occurrences integer not null,
  request_id text,
  writer_id uuid not null,
  writer_seq bigint not null,
  seal_key_id text,
  seal bytea,
  constraint audit_log_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['local'::text, 'api_key'::text, 'service_key'::text, 'session'::text, 'system'::text, 'custom'::text, 'unknown'::text]))),
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_writer_id_writer_seq_key UNIQUE (writer_id, writer_seq)
);

create table blob_place (
  only_row boolean not null default true,
  kind text not null,
  id text not null,
  shown text not null,
  in_use boolean not null,
  recorded_at timestamp with time zone not null default now(),
  constraint blob_place_kind_check CHECK ((kind = ANY (ARRAY['directory'::text, 'bucket'::text]))),
  constraint blob_place_only_row_check CHECK (only_row),
  constraint blob_place_pkey PRIMARY KEY (only_row)
);

create table blob_place_users (
  process_id uuid not null,
  seen_at timestamp with time zone not null default now(),
  constraint blob_place_users_pkey PRIMARY KEY (process_id)
);

create table budget_days (
  rule_id uuid not null,
  day date not null,
  group_name text not null,
  spent double precision not null,
  read_at timestamp with time zone not null,
  constraint budget_days_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(rule_id) ON DELETE CASCADE,
  constraint budget_days_pkey PRIMARY KEY (rule_id, day, group_name)
);

create table bulk_export_files (
  run_id uuid not null,
  n integer not null,
  key text,
  row_count bigint not null,
  deleted_count bigint not null,
  byte_count bigint not null,
  sha256 text,
  min_start_time timestamp with time zone not null,
  max_start_time timestamp with time zone not null,
  last_start_time text not null,
  last_id uuid not null,
  constraint bulk_export_files_run_id_fkey FOREIGN KEY (run_id) REFERENCES bulk_export_runs(id) ON DELETE CASCADE,
  constraint bulk_export_files_pkey PRIMARY KEY (run_id, n)
);

create table bulk_export_runs (
  id uuid not null,
  bulk_export_id uuid not null,
  start_time timestamp with time zone not null,
  end_time timestamp with time zone not null,
  status text not null default 'CREATED'::text,
  retry_number integer not null default 0,
  errors jsonb,
  row_count bigint,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint bulk_export_runs_status_check CHECK ((status = ANY (ARRAY['CREATED'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text, 'TIMEDOUT'::text]))),
  constraint bulk_export_runs_bulk_export_id_fkey FOREIGN KEY (bulk_export_id) REFERENCES bulk_exports(id) ON DELETE CASCADE,
  constraint bulk_export_runs_pkey PRIMARY KEY (id),
  constraint bulk_export_runs_bulk_export_id_start_time_key UNIQUE (bulk_export_id, start_time)
);

create table bulk_export_uploads (
  run_id uuid not null,
  key text not null,
  upload_id text not null,
  constraint bulk_export_uploads_run_id_fkey FOREIGN KEY (run_id) REFERENCES bulk_export_runs(id) ON DELETE CASCADE,
  constraint bulk_export_uploads_pkey PRIMARY KEY (run_id, key, upload_id)
);

create table bulk_exports (
  id uuid not null,
  tenant_id uuid not null,
  destination_id uuid not null,
  session_id uuid not null,
  start_time timestamp with time zone not null,
  end_time timestamp with time zone,
  interval_hours integer,
  filter text,
  format_version text not null,
  compression text not null,
  export_fields text[],
  status text not null,
  source_bulk_export_id uuid,
  window_n integer,
  next_window integer not null default 0,
  attempt integer not null default 0,
  lease_until timestamp with time zone,
  not_before timestamp with time zone not null default now(),
  failures integer not null default 0,
  error text,
  snapshot_id uuid,
  snapshot_at timestamp with time zone,
  row_count bigint,
  sealed_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  cleaned_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint bulk_exports_check CHECK (((interval_hours IS NULL) = (end_time IS NOT NULL))),
  constraint bulk_exports_compression_check CHECK ((compression = ANY (ARRAY['none'::text, 'gzip'::text, 'snappy'::text, 'zstandard'::text]))),
  constraint bulk_exports_format_version_check CHECK ((format_version = ANY (ARRAY['v1'::text, 'v2_beta'::text]))),
  constraint bulk_exports_interval_hours_check CHECK (((interval_hours >= 1) AND (interval_hours <= 168))),
  constraint bulk_exports_status_check CHECK ((status = ANY (ARRAY['CREATED'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text, 'TIMEDOUT'::text]))),
  constraint bulk_exports_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES export_destinations(id),
  constraint bulk_exports_source_bulk_export_id_fkey FOREIGN KEY (source_bulk_export_id) REFERENCES bulk_exports(id),
  constraint bulk_exports_pkey PRIMARY KEY (id),
  constraint bulk_exports_source_bulk_export_id_window_n_key UNIQUE (source_bulk_export_id, window_n)
);

create table chart_sections (
  tenant_id uuid not null,
  section_id uuid not null,
  title text not null,
  description text,
  index integer not null,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  constraint chart_sections_pkey PRIMARY KEY (tenant_id, section_id)
);

create table charts (
  tenant_id uuid not null,
  chart_id uuid not null,
  section_id uuid not null,
  title text not null,
  description text,
  index integer not null,
  chart_type text not null,
  series jsonb not null,
  common_filters jsonb,
  metadata jsonb,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  constraint charts_chart_type_check CHECK ((chart_type = ANY (ARRAY['line'::text, 'bar'::text]))),
  constraint charts_tenant_id_section_id_fkey FOREIGN KEY (tenant_id, section_id) REFERENCES chart_sections(tenant_id, section_id) ON DELETE CASCADE,
  constraint charts_pkey PRIMARY KEY (tenant_id, chart_id)
);

create table checkpoint_blobs (
  thread_id text not null,
  checkpoint_ns text not null default ''::text,
  channel text not null,
  version text not null,
  type text not null,
  blob bytea,
  base text,
  chain text,
  depth integer,
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
  task_path text not null default ''::text,
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

create table cluster_targets (
  deployment_id uuid not null,
  cluster text not null,
  generation bigint not null,
  revision_id uuid,
  fingerprint text not null,
  reported_generation bigint,
  state text,
  message text,
  pods_ready integer not null default 0,
  pods_total integer not null default 0,
  seen_at timestamp with time zone,
  usage_problem text,
  constraint cluster_targets_state_check CHECK ((state = ANY (ARRAY['progressing'::text, 'ready'::text, 'failed'::text, 'removed'::text, 'stale'::text]))),
  constraint cluster_targets_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE,
  constraint cluster_targets_pkey PRIMARY KEY (deployment_id, cluster)
);

create table comparative_experiments (
  tenant_id uuid not null,
  comparative_experiment_id uuid not null,
  reference_dataset_id uuid not null,
  name text,
  description text,
  experiment_ids uuid[] not null,
  extra jsonb,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  constraint comparative_experiments_tenant_id_reference_dataset_id_fkey FOREIGN KEY (tenant_id, reference_dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint comparative_experiments_pkey PRIMARY KEY (tenant_id, comparative_experiment_id)
);

create table control_leader (
  only_row boolean not null default true,
  installation uuid not null default gen_random_uuid(),
  term bigint not null default 0,
  holder jsonb,
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint control_leader_only_row_check CHECK (only_row),
  constraint control_leader_pkey PRIMARY KEY (only_row)
);

create table corrected_judgements (
  tenant_id uuid not null,
  feedback_id uuid not null,
  changed_at timestamp with time zone not null default clock_timestamp(),
  attempts integer not null default 0,
  available_at timestamp with time zone not null default now(),
  constraint corrected_judgements_pkey PRIMARY KEY (tenant_id, feedback_id)
);

create table crons (
  cron_id uuid not null,
  assistant_id uuid not null,
  thread_id uuid,
  schedule text not null,
  timezone text,
  end_time timestamp with time zone,
  enabled boolean not null default true,
  on_run_completed text not null default 'delete'::text,
  payload jsonb not null default '{}'::jsonb,
  metadata jsonb not null default '{}'::jsonb,
  user_id text,
  next_run_date timestamp with time zone,
  last_run_id uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint crons_on_run_completed_check CHECK ((on_run_completed = ANY (ARRAY['delete'::text, 'keep'::text]))),
  constraint crons_assistant_id_fkey FOREIGN KEY (assistant_id) REFERENCES assistants(assistant_id) ON DELETE CASCADE,
  constraint crons_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(thread_id) ON DELETE CASCADE,
  constraint crons_pkey PRIMARY KEY (cron_id)
);

create table database_owner (
  only_row boolean not null default true,
  workspace_id uuid not null,
  claimed_at timestamp with time zone not null default now(),
  constraint database_owner_only_row_check CHECK (only_row),
  constraint database_owner_pkey PRIMARY KEY (only_row)
);

create table dataset_examples (
  tenant_id uuid not null,
  example_id uuid not null,
  dataset_id uuid not null,
  modified_at timestamp with time zone not null,
  replaced_at timestamp with time zone,
  name text not null,
  created_at timestamp with time zone not null,
  inputs json not null,
  outputs json,
  metadata jsonb not null,
  source_run_id uuid,
  attachments jsonb,
  inputs_digest bytea,
  constraint dataset_examples_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint dataset_examples_pkey PRIMARY KEY (tenant_id, example_id, modified_at)
);

create table dataset_shares (
  tenant_id uuid not null,
  dataset_id uuid not null,
  share_token uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint dataset_shares_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint dataset_shares_pkey PRIMARY KEY (tenant_id, dataset_id),
  constraint dataset_shares_share_token_key UNIQUE (share_token)
);

create table dataset_tags (
  tenant_id uuid not null,
  dataset_id uuid not null,
  tag text not null,
  as_of timestamp with time zone not null,
  constraint dataset_tags_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint dataset_tags_pkey PRIMARY KEY (tenant_id, dataset_id, tag)
);

create table dataset_versions (
  tenant_id uuid not null,
  dataset_id uuid not null,
  as_of timestamp with time zone not null,
  constraint dataset_versions_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint dataset_versions_pkey PRIMARY KEY (tenant_id, dataset_id, as_of)
);

create table datasets (
  tenant_id uuid not null,
  dataset_id uuid not null,
  name text not null,
  description text,
  data_type text not null,
  inputs_schema_definition jsonb,
  outputs_schema_definition jsonb,
  metadata jsonb,
  baseline_experiment_id uuid,
  created_at timestamp with time zone not null,
  modified_at timestamp with time zone not null,
  transformations jsonb,
  run_mapping jsonb,
  constraint datasets_data_type_check CHECK ((data_type = ANY (ARRAY['kv'::text, 'llm'::text, 'chat'::text]))),
  constraint datasets_pkey PRIMARY KEY (tenant_id, dataset_id),
  constraint datasets_tenant_id_name_key UNIQUE (tenant_id, name)
);

create table default_views (
  tenant_id uuid not null,
  person_id text not null,
  session_id uuid not null,
  view_id uuid not null,
  constraint default_views_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES projects(tenant_id, project_id) ON DELETE CASCADE,
  constraint default_views_tenant_id_view_id_fkey FOREIGN KEY (tenant_id, view_id) REFERENCES saved_views(tenant_id, view_id) ON DELETE CASCADE,
  constraint default_views_pkey PRIMARY KEY (tenant_id, person_id, session_id)
);

create table deployment_logs (
  id bigint generated always as identity not null,
  deployment_id uuid not null,
  revision_id uuid not null,
  kind text not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null,
  constraint deployment_logs_kind_check CHECK ((kind = ANY (ARRAY['build'::text, 'deploy'::text]))),
  constraint deployment_logs_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE,
  constraint deployment_logs_revision_id_fkey FOREIGN KEY (revision_id) REFERENCES revisions(id) ON DELETE CASCADE,
  constraint deployment_logs_pkey PRIMARY KEY (id)
);

create table deployments (
  id uuid not null,
  tenant_id uuid not null,
  name text not null,
  slug text not null,
  display_name text,
  source text not null,
  source_config jsonb not null,
  secret_references jsonb,
  status text not null,
  latest_revision_id uuid,
  active_revision_id uuid,
  delete_tracing_project boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  git_ref text,
  git_config_path text,
  force_delete boolean not null default false,
  scale integer,
  constraint deployments_source_check CHECK ((source = ANY (ARRAY['github'::text, 'external_docker'::text, 'internal_docker'::text, 'internal_source'::text, 'internal_template'::text]))),
  constraint deployments_status_check CHECK ((status = ANY (ARRAY['AWAITING_DATABASE'::text, 'READY'::text, 'UNUSED'::text, 'AWAITING_DELETE'::text, 'UNKNOWN'::text]))),
  constraint deployments_pkey PRIMARY KEY (id),
  constraint deployments_slug_key UNIQUE (slug),
  constraint deployments_tenant_id_name_key UNIQUE (tenant_id, name)
);

create table erasures (
  erasure_id uuid not null,
  tenant_id uuid not null,
  scope text not null,
  project_ids uuid[],
  trace_ids uuid[],
  traces integer,
  dataset_copies boolean not null,
  at_once boolean not null,
  status text not null default 'pending'::text,
  requested_by text not null,
  requested_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  rewritten_at timestamp with time zone,
  done_at timestamp with time zone,
  error text,
  begun_at timestamp with time zone,
  projects_deleted integer not null default 0,
  constraint erasures_scope_check CHECK ((scope = ANY (ARRAY['traces'::text, 'project'::text, 'workspace'::text]))),
  constraint erasures_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'deleted'::text, 'done'::text]))),
  constraint erasures_pkey PRIMARY KEY (erasure_id)
);

create table evaluator_spending (
  tenant_id uuid not null,
  evaluator_id uuid not null,
  version integer not null,
  day date not null,
  judgements bigint not null default 0,
  errors bigint not null default 0,
  spent_usd numeric(24,12) not null default 0,
  constraint evaluator_spending_tenant_id_evaluator_id_fkey FOREIGN KEY (tenant_id, evaluator_id) REFERENCES evaluators(tenant_id, evaluator_id) ON DELETE CASCADE,
  constraint evaluator_spending_pkey PRIMARY KEY (tenant_id, evaluator_id, version, day)
);

create table evaluator_versions (
  tenant_id uuid not null,
  evaluator_id uuid not null,
  version integer not null,
  definition jsonb not null,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  constraint evaluator_versions_version_check CHECK ((version > 0)),
  constraint evaluator_versions_tenant_id_evaluator_id_fkey FOREIGN KEY (tenant_id, evaluator_id) REFERENCES evaluators(tenant_id, evaluator_id) ON DELETE CASCADE,
  constraint evaluator_versions_pkey PRIMARY KEY (tenant_id, evaluator_id, version)
);

create table evaluators (
  tenant_id uuid not null,
  evaluator_id uuid not null,
  name text not null,
  description text,
  type text not null,
  newest_version integer not null,
  feedback_keys text[] not null default '{}'::text[],
  library_id text,
  annotation_queue_id uuid,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint evaluators_newest_version_check CHECK ((newest_version > 0)),
  constraint evaluators_type_check CHECK ((type = ANY (ARRAY['llm'::text, 'code'::text]))),
  constraint evaluators_pkey PRIMARY KEY (tenant_id, evaluator_id)
);

create table example_generation_sources (
  tenant_id uuid not null,
  request_id uuid not null,
  source_example_id uuid not null,
  constraint example_generation_sources_tenant_id_request_id_fkey FOREIGN KEY (tenant_id, request_id) REFERENCES example_generations(tenant_id, request_id) ON DELETE CASCADE,
  constraint example_generation_sources_pkey PRIMARY KEY (tenant_id, request_id, source_example_id)
);

create table example_generations (
  tenant_id uuid not null,
  request_id uuid not null,
  dataset_id uuid not null,
  digest bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint example_generations_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint example_generations_pkey PRIMARY KEY (tenant_id, request_id)
);

create table example_proposals (
  tenant_id uuid not null,
  proposal_id uuid not null,
  dataset_id uuid not null,
  request_id uuid not null,
  source_example_id uuid not null,
  inputs json not null,
  outputs json,
  metadata jsonb not null,
  inputs_digest bytea not null,
  status text not null,
  example_id uuid,
  run_id uuid,
  created_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  decided_by uuid,
  constraint example_proposals_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'rejected'::text]))),
  constraint example_proposals_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint example_proposals_tenant_id_request_id_fkey FOREIGN KEY (tenant_id, request_id) REFERENCES example_generations(tenant_id, request_id) ON DELETE CASCADE,
  constraint example_proposals_pkey PRIMARY KEY (tenant_id, proposal_id)
);

create table experiment_evaluations (
  tenant_id uuid not null,
  evaluation_id uuid not null,
  project_id uuid not null,
  evaluator_id uuid not null,
  version integer not null,
  rule_id uuid,
  status text not null,
  total bigint,
  done bigint not null default 0,
  errors bigint not null default 0,
  cost_usd numeric(24,12) not null default 0,
  cursor_start_time timestamp with time zone,
  cursor_run_id uuid,
  error text,
  available_at timestamp with time zone not null default now(),
  leased_until timestamp with time zone,
  lease_id uuid,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint experiment_evaluations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'failed'::text]))),
  constraint experiment_evaluations_tenant_id_evaluator_id_fkey FOREIGN KEY (tenant_id, evaluator_id) REFERENCES evaluators(tenant_id, evaluator_id) ON DELETE CASCADE,
  constraint experiment_evaluations_pkey PRIMARY KEY (tenant_id, evaluation_id)
);

create table experiment_jobs (
  tenant_id uuid not null,
  project_id uuid not null,
  dataset_id uuid not null,
  dataset_as_of timestamp with time zone not null,
  target jsonb not null,
  evaluators jsonb not null,
  options jsonb not null,
  metadata jsonb not null,
  repetitions integer not null,
  total integer not null,
  status text not null,
  reason text,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  leased_until timestamp with time zone,
  attempt integer not null default 0,
  sums jsonb,
  constraint experiment_jobs_repetitions_check CHECK ((repetitions > 0)),
  constraint experiment_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'stopped'::text, 'cancelled'::text]))),
  constraint experiment_jobs_total_check CHECK ((total > 0)),
  constraint experiment_jobs_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, project_id) ON DELETE CASCADE,
  constraint experiment_jobs_pkey PRIMARY KEY (tenant_id, project_id)
);

create table experiment_rows (
  tenant_id uuid not null,
  project_id uuid not null,
  row_index integer not null,
  example_id uuid not null,
  repetition integer not null,
  status text not null,
  round integer not null default 0,
  claims integer not null default 0,
  run_id uuid,
  result json,
  error text,
  judge_errors jsonb,
  scores jsonb,
  latency_ms integer,
  total_tokens bigint,
  cost_usd numeric,
  judge_cost_usd numeric,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint experiment_rows_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'ran'::text, 'done'::text, 'failed'::text, 'unjudged'::text]))),
  constraint experiment_rows_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES experiment_jobs(tenant_id, project_id) ON DELETE CASCADE,
  constraint experiment_rows_pkey PRIMARY KEY (tenant_id, project_id, row_index)
);

create table experiment_view_overrides (
  tenant_id uuid not null,
  override_id uuid not null,
  dataset_id uuid not null,
  column_overrides jsonb not null,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  constraint experiment_view_overrides_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES datasets(tenant_id, dataset_id) ON DELETE CASCADE,
  constraint experiment_view_overrides_pkey PRIMARY KEY (tenant_id, override_id)
);

create table export_destination_tests (
  id uuid not null,
  tenant_id uuid not null,
  config jsonb not null,
  created_at timestamp with time zone not null default now(),
  claimed_at timestamp with time zone,
  finished_at timestamp with time zone,
  failure text,
  constraint export_destination_tests_pkey PRIMARY KEY (id)
);

create table export_destinations (
  id uuid not null,
  tenant_id uuid not null,
  display_name text not null,
  config jsonb not null,
  credentials_keys text[] not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint export_destinations_pkey PRIMARY KEY (id)
);

create table feedback (
  tenant_id uuid not null,
  feedback_id uuid not null,
  key text not null,
  run_id uuid,
  session_id uuid,
  trace_id uuid,
  start_time timestamp with time zone,
  is_root boolean not null default false,
  score double precision,
  value jsonb,
  comment text,
  correction jsonb,
  extra jsonb,
  source_type text not null,
  source_metadata jsonb,
  user_id uuid,
  comparative_experiment_id uuid,
  feedback_group_id uuid,
  token_id uuid,
  token_parameters bytea,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  attach_at timestamp with time zone,
  attach_tries integer not null default 0,
  extends_retention boolean not null default true,
  constraint feedback_check CHECK (((run_id IS NOT NULL) OR (session_id IS NOT NULL))),
  constraint feedback_source_type_check CHECK ((source_type = ANY (ARRAY['api'::text, 'app'::text, 'model'::text, 'auto_eval'::text]))),
  constraint feedback_pkey PRIMARY KEY (tenant_id, feedback_id)
);

create table feedback_changes (
  tenant_id uuid not null,
  feedback_id uuid not null,
  run_id uuid,
  seq bigint not null default nextval('feedback_changes_seq'::regclass),
  constraint feedback_changes_pkey PRIMARY KEY (tenant_id, feedback_id)
);

create table feedback_configs (
  tenant_id uuid not null,
  feedback_key text not null,
  feedback_config jsonb not null,
  is_lower_score_better boolean,
  modified_at timestamp with time zone not null default now(),
  config_id uuid not null default gen_random_uuid(),
  constraint feedback_configs_pkey PRIMARY KEY (tenant_id, feedback_key)
);

create table feedback_tokens (
  token_id uuid not null,
  tenant_id uuid not null,
  run_id uuid not null,
  feedback_key text not null,
  feedback_config jsonb,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint feedback_tokens_pkey PRIMARY KEY (token_id)
);

create table gateways (
  id uuid not null,
  host text not null,
  process jsonb not null,
  loaded_at timestamp with time zone not null,
  seen_at timestamp with time zone not null default now(),
  in_flight jsonb not null default '{}'::jsonb,
  constraint gateways_pkey PRIMARY KEY (id)
);

create table git_watches (
  deployment_id uuid not null,
  seen_sha text,
  seen_number bigint not null default 0,
  next_look_at timestamp with time zone not null default now(),
  looked_at timestamp with time zone,
  failures integer not null default 0,
  problem text,
  constraint git_watches_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE,
  constraint git_watches_pkey PRIMARY KEY (deployment_id)
);

create table heddle_functions (
  hash text not null,
  applied_at timestamp with time zone not null default now(),
  version integer not null default 0,
  constraint heddle_functions_pkey PRIMARY KEY (hash)
);

create table heddle_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint heddle_migrations_pkey PRIMARY KEY (version)
);

create table idempotency_keys (
  scope text not null,
  key text not null,
  part integer not null,
  fingerprint text not null,
  run_id uuid not null,
  thread_id uuid not null,
  run jsonb,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (scope, key, part)
);

create table identity_version (
  only_row boolean not null default true,
  version bigint not null default 1,
  constraint identity_version_only_row_check CHECK (only_row),
  constraint identity_version_pkey PRIMARY KEY (only_row)
);

create table insight_clusters (
  tenant_id uuid not null,
  job_id uuid not null,
  cluster_id uuid not null,
  parent_id uuid,
  level integer not null,
  place integer not null,
  is_leaf boolean not null,
  name text not null,
  description text not null default ''::text,
  named_by text not null default 'terms'::text,
  num_runs integer not null,
  centroid bytea not null,
  stats jsonb not null default '{}'::jsonb,
  constraint insight_clusters_named_by_check CHECK ((named_by = ANY (ARRAY['terms'::text, 'model'::text]))),
  constraint insight_clusters_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES insight_jobs(tenant_id, job_id) ON DELETE CASCADE,
  constraint insight_clusters_pkey PRIMARY KEY (tenant_id, job_id, cluster_id)
);

create table insight_configs (
  tenant_id uuid not null,
  config_id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  config jsonb not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint insight_configs_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, project_id) ON DELETE CASCADE,
  constraint insight_configs_pkey PRIMARY KEY (tenant_id, config_id)
);

create table insight_jobs (
  tenant_id uuid not null,
  job_id uuid not null,
  project_id uuid not null,
  config_id uuid,
  name text not null,
  options jsonb not null,
  series text not null,
  state text not null,
  stage text not null,
  reason text,
  error text,
  budget_usd numeric,
  spent_usd numeric not null default 0,
  calls integer not null default 0,
  tokens bigint not null default 0,
  population bigint,
  population_failed bigint,
  sampled integer,
  embedding_model text,
  dimensions integer,
  report jsonb,
  requested_by text not null,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  attempt integer not null default 0,
  failures integer not null default 0,
  leased_until timestamp with time zone,
  not_before timestamp with time zone not null default now(),
  constraint insight_jobs_stage_check CHECK ((stage = ANY (ARRAY['sample'::text, 'embed'::text, 'cluster'::text, 'name'::text, 'measure'::text, 'done'::text]))),
  constraint insight_jobs_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'success'::text, 'stopped'::text, 'cancelled'::text, 'error'::text]))),
  constraint insight_jobs_tenant_id_config_id_fkey FOREIGN KEY (tenant_id, config_id) REFERENCES insight_configs(tenant_id, config_id) ON DELETE SET NULL (config_id),
  constraint insight_jobs_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, project_id) ON DELETE CASCADE,
  constraint insight_jobs_pkey PRIMARY KEY (tenant_id, job_id)
);

create table insight_runs (
  tenant_id uuid not null,
  job_id uuid not null,
  run_id uuid not null,
  trace_id uuid not null,
  project_id uuid not null,
  start_time timestamp with time zone not null,
  thread_id text,
  place integer not null,
  failed boolean not null,
  weight double precision not null,
  summary text,
  embedding bytea,
  cluster_id uuid,
  similarity real,
  constraint insight_runs_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES insight_jobs(tenant_id, job_id) ON DELETE CASCADE,
  constraint insight_runs_pkey PRIMARY KEY (tenant_id, job_id, run_id)
);

create table instances (
  id uuid not null,
  deployment_id uuid not null,
  revision_id uuid not null,
  replica integer not null,
  state text not null,
  place text not null,
  port integer not null,
  pid integer,
  started text,
  log_offset bigint not null default 0,
  started_at timestamp with time zone not null default now(),
  ready_at timestamp with time zone,
  ended_at timestamp with time zone,
  end_reason text,
  crashed boolean not null default false,
  address text,
  pod text,
  memory_bytes bigint,
  cpu_percent double precision,
  measured_at timestamp with time zone,
  pod_uid uuid,
  constraint instances_state_check CHECK ((state = ANY (ARRAY['starting'::text, 'ready'::text, 'draining'::text, 'ended'::text]))),
  constraint instances_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE,
  constraint instances_revision_id_fkey FOREIGN KEY (revision_id) REFERENCES revisions(id) ON DELETE CASCADE,
  constraint instances_pkey PRIMARY KEY (id)
);

create table integrations (
  id uuid not null,
  tenant_id uuid not null,
  installation_id bigint generated always as identity not null,
  name text not null,
  kind text not null,
  url text not null,
  api_url text,
  username text not null,
  has_token boolean not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint integrations_kind_check CHECK ((kind = ANY (ARRAY['github'::text, 'gitlab'::text, 'gitea'::text, 'other'::text]))),
  constraint integrations_pkey PRIMARY KEY (id),
  constraint integrations_tenant_id_name_key UNIQUE (tenant_id, name)
);

create table invitations (
  id uuid not null,
  organization_id uuid not null,
  email text not null,
  full_name text,
  organization_role_id uuid not null,
  workspace_ids uuid[] not null default '{}'::uuid[],
  workspace_role_id uuid,
  read_only boolean not null default false,
  created_at timestamp with time zone not null default now(),
  constraint invitations_email_check CHECK ((email = lower(email))),
  constraint invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint invitations_organization_role_id_fkey FOREIGN KEY (organization_role_id) REFERENCES roles(id),
  constraint invitations_workspace_role_id_fkey FOREIGN KEY (workspace_role_id) REFERENCES roles(id),
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_organization_id_email_key UNIQUE (organization_id, email)
);

create table known_visitors (
  bucket bytea not null,
  user_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint known_visitors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint known_visitors_pkey PRIMARY KEY (bucket)
);

create table legal_holds (
  hold_id uuid not null,
  tenant_id uuid not null,
  project_id uuid,
  reason text not null,
  created_by text not null,
  created_at timestamp with time zone not null default now(),
  released_by text,
  released_at timestamp with time zone,
  constraint legal_holds_pkey PRIMARY KEY (hold_id)
);

create table list_rewrites (
  only_row boolean not null default true,
  after text not null default ''::text,
  done boolean not null default false,
  constraint list_rewrites_only_row_check CHECK (only_row),
  constraint list_rewrites_pkey PRIMARY KEY (only_row)
);

create table listeners (
  id uuid not null,
  tenant_id uuid not null,
  version text,
  compute_type text not null,
  compute_id text not null,
  compute_config jsonb not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  last_seen_at timestamp with time zone,
  key_id uuid,
  constraint listeners_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE SET NULL,
  constraint listeners_pkey PRIMARY KEY (id),
  constraint listeners_tenant_id_compute_id_key UNIQUE (tenant_id, compute_id)
);

create table masking_counts (
  tenant_id uuid not null,
  rule_id uuid not null,
  day date not null,
  runs bigint not null,
  replaced bigint not null,
  constraint masking_counts_tenant_id_rule_id_fkey FOREIGN KEY (tenant_id, rule_id) REFERENCES masking_rules(tenant_id, rule_id) ON DELETE CASCADE,
  constraint masking_counts_pkey PRIMARY KEY (tenant_id, rule_id, day)
);

create table masking_rules (
  tenant_id uuid not null,
  rule_id uuid not null,
  name text not null,
  project_id uuid,
  is_enabled boolean not null,
  fields text[] not null,
  path text not null,
  detectors text[] not null,
  pattern text,
  replacement text,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint masking_rules_pkey PRIMARY KEY (tenant_id, rule_id)
);

create table model_budgets (
  tenant_id uuid not null,
  limit_usd numeric(20,12),
  updated_at timestamp with time zone not null default now(),
  constraint model_budgets_pkey PRIMARY KEY (tenant_id)
);

create table model_connections (
  id uuid not null,
  tenant_id uuid not null,
  name text not null,
  provider text not null,
  settings jsonb not null default '{}'::jsonb,
  secrets jsonb not null default '{}'::jsonb,
  default_model text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  embedding_model text,
  constraint model_connections_pkey PRIMARY KEY (id),
  constraint model_connections_tenant_id_name_key UNIQUE (tenant_id, name)
);

create table model_prices (
  id uuid not null,
  tenant_id uuid,
  name text not null,
  start_time timestamp with time zone,
  match_pattern text not null,
  match_path text[] not null default '{model,model_name,model_id,model_path,endpoint_name}'::text[],
  provider text,
  prompt_cost numeric(38,18) not null,
  completion_cost numeric(38,18) not null,
  prompt_cost_details jsonb,
  completion_cost_details jsonb,
  created_at timestamp with time zone not null default now(),
  constraint model_prices_pkey PRIMARY KEY (id)
);

create table model_reservations (
  id uuid not null,
  tenant_id uuid not null,
  month date not null,
  amount_usd numeric(20,12) not null,
  expires_at timestamp with time zone not null,
  constraint model_reservations_pkey PRIMARY KEY (id)
);

create table model_spending (
  tenant_id uuid not null,
  month date not null,
  spent_usd numeric(24,12) not null default 0,
  calls bigint not null default 0,
  tokens bigint not null default 0,
  constraint model_spending_pkey PRIMARY KEY (tenant_id, month)
);

create table oauth_grants (
  key_id uuid not null,
  client_id text not null,
  redirect_uri text not null,
  code_challenge text,
  secret_hash bytea not null,
  used_hash bytea,
  used_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint oauth_grants_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
  constraint oauth_grants_pkey PRIMARY KEY (key_id),
  constraint oauth_grants_secret_hash_key UNIQUE (secret_hash),
  constraint oauth_grants_used_hash_key UNIQUE (used_hash)
);

create table organization_members (
  id uuid not null,
  organization_id uuid not null,
  user_id uuid not null,
  role_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint organization_members_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint organization_members_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id),
  constraint organization_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint organization_members_pkey PRIMARY KEY (id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint organization_members_organization_id_user_id_key UNIQUE (organization_id, user_id)
);

create table organizations (
  id uuid not null,
  display_name text not null,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  constraint organizations_pkey PRIMARY KEY (id)
);

create table pairwise_jobs (
  tenant_id uuid not null,
  job_id uuid not null,
  comparative_experiment_id uuid not null,
  evaluator_id uuid not null,
  evaluator_version integer,
  status text not null,
  total integer not null default 0,
  judged integer not null default 0,
  failed integer not null default 0,
  error text,
  lease_id uuid,
  leased_until timestamp with time zone,
  attempts integer not null default 0,
  not_before timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint pairwise_jobs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'cancelled'::text, 'failed'::text]))),
  constraint pairwise_jobs_tenant_id_comparative_experiment_id_fkey FOREIGN KEY (tenant_id, comparative_experiment_id) REFERENCES comparative_experiments(tenant_id, comparative_experiment_id) ON DELETE CASCADE,
  constraint pairwise_jobs_pkey PRIMARY KEY (tenant_id, job_id)
);

create table playground_settings (
  id uuid not null,
  tenant_id uuid not null,
  name text,
  description text,
  settings json not null,
  options json,
  settings_type text not null default 'complex'::text,
  availability jsonb not null default '{}'::jsonb,
  created_by uuid,
  updated_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint playground_settings_pkey PRIMARY KEY (id)
);

create table project_deletions (
  tenant_id uuid not null,
  project_id uuid not null,
  deleted_at timestamp with time zone not null default now(),
  constraint project_deletions_pkey PRIMARY KEY (tenant_id, project_id)
);

create table projects (
  tenant_id uuid not null,
  project_id uuid not null,
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
  incomplete_after_hours integer,
  of_evaluators boolean not null default false,
  constraint projects_incomplete_after_hours_check CHECK ((incomplete_after_hours > 0)),
  constraint projects_retention_days_check CHECK ((retention_days > 0)),
  constraint projects_trace_tier_check CHECK ((trace_tier = ANY (ARRAY['longlived'::text, 'shortlived'::text]))),
  constraint projects_pkey PRIMARY KEY (tenant_id, project_id),
  constraint projects_tenant_id_name_key UNIQUE (tenant_id, name)
);

create table prompt_commits (
  commit_id uuid not null,
  repo_id uuid not null,
  tenant_id uuid not null,
  commit_hash text not null,
  "position" integer not null,
  parent_id uuid,
  parent_commit_hash text,
  manifest text not null,
  manifest_sha bytea not null,
  prompt_manifest text,
  description text,
  created_by text,
  full_name text,
  created_at timestamp with time zone not null default now(),
  constraint prompt_commits_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES prompts(repo_id) ON DELETE CASCADE,
  constraint prompt_commits_pkey PRIMARY KEY (commit_id),
  constraint prompt_commits_repo_id_commit_hash_key UNIQUE (repo_id, commit_hash),
  constraint prompt_commits_repo_id_position_key UNIQUE (repo_id, "position")
);

create table prompt_environments (
  tenant_id uuid not null,
  model_id uuid not null,
  environments text[] not null,
  updated_at timestamp with time zone not null default now(),
  constraint prompt_environments_environments_check CHECK (((cardinality(environments) >= 0) AND (cardinality(environments) <= 4))),
  constraint prompt_environments_pkey PRIMARY KEY (tenant_id),
  constraint prompt_environments_model_id_key UNIQUE (model_id)
);

create table prompt_tag_moves (
  move_id uuid not null,
  tenant_id uuid not null,
  repo_id uuid not null,
  tag_name text not null,
  from_commit_id uuid,
  from_commit_hash text,
  to_commit_id uuid,
  to_commit_hash text,
  performed_by text,
  performed_by_name text,
  created_at timestamp with time zone not null default now(),
  constraint prompt_tag_moves_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES prompts(repo_id) ON DELETE CASCADE,
  constraint prompt_tag_moves_pkey PRIMARY KEY (move_id)
);

create table prompt_tags (
  tag_id uuid not null,
  repo_id uuid not null,
  tag_name text not null,
  commit_id uuid not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint prompt_tags_commit_id_fkey FOREIGN KEY (commit_id) REFERENCES prompt_commits(commit_id) ON DELETE CASCADE,
  constraint prompt_tags_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES prompts(repo_id) ON DELETE CASCADE,
  constraint prompt_tags_pkey PRIMARY KEY (repo_id, tag_name),
  constraint prompt_tags_tag_id_key UNIQUE (tag_id)
);

create table prompt_webhook_attempts (
  delivery_id uuid not null,
  attempt integer not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  constraint prompt_webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES prompt_webhook_deliveries(delivery_id) ON DELETE CASCADE,
  constraint prompt_webhook_attempts_pkey PRIMARY KEY (delivery_id, attempt)
);

create table prompt_webhook_deliveries (
  delivery_id uuid not null default gen_random_uuid(),
  tenant_id uuid not null,
  webhook_id uuid not null,
  repo_id uuid not null,
  commit_id uuid not null,
  event text not null,
  tag_name text,
  changed_by text not null,
  url text not null,
  receiver text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  tries integer not null default 0,
  queued_at timestamp with time zone not null default now(),
  available_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint prompt_webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint prompt_webhook_deliveries_commit_id_fkey FOREIGN KEY (commit_id) REFERENCES prompt_commits(commit_id) ON DELETE CASCADE,
  constraint prompt_webhook_deliveries_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES prompts(repo_id) ON DELETE CASCADE,
  constraint prompt_webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES prompt_webhooks(webhook_id) ON DELETE CASCADE,
  constraint prompt_webhook_deliveries_pkey PRIMARY KEY (delivery_id)
);

create table prompt_webhook_receivers (
  receiver text not null,
  failures integer not null,
  paused_until timestamp with time zone,
  last_error text,
  updated_at timestamp with time zone not null default now(),
  constraint prompt_webhook_receivers_pkey PRIMARY KEY (receiver)
);

create table prompt_webhooks (
  webhook_id uuid not null,
  tenant_id uuid not null,
  url text not null,
  receiver text not null,
  include_prompts uuid[],
  exclude_prompts uuid[],
  triggers text[] not null,
  headers text[] not null default '{}'::text[],
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint prompt_webhooks_pkey PRIMARY KEY (webhook_id)
);

create table prompts (
  repo_id uuid not null,
  tenant_id uuid not null,
  repo_handle text not null,
  description text,
  readme text,
  tags text[] not null default '{}'::text[],
  repo_type text not null,
  source text,
  is_public boolean not null,
  is_archived boolean not null default false,
  original_repo_id uuid,
  upstream_repo_id uuid,
  created_by text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  num_commits integer not null default 0,
  last_commit_id uuid,
  constraint prompts_repo_type_check CHECK ((repo_type = ANY (ARRAY['prompt'::text, 'file'::text, 'agent'::text, 'skill'::text]))),
  constraint prompts_source_check CHECK ((source = ANY (ARRAY['internal'::text, 'external'::text]))),
  constraint prompts_original_repo_id_fkey FOREIGN KEY (original_repo_id) REFERENCES prompts(repo_id) ON DELETE SET NULL,
  constraint prompts_upstream_repo_id_fkey FOREIGN KEY (upstream_repo_id) REFERENCES prompts(repo_id) ON DELETE SET NULL,
  constraint prompts_pkey PRIMARY KEY (repo_id),
  constraint prompts_tenant_id_repo_handle_key UNIQUE (tenant_id, repo_handle)
);

create table protocol_threads (
  thread_id uuid not null,
  last_seq bigint not null default 0,
  assistant_id uuid not null,
  constraint protocol_threads_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(thread_id) ON DELETE CASCADE,
  constraint protocol_threads_pkey PRIMARY KEY (thread_id)
);

create table provisional_roots (
  tenant_id uuid not null,
  trace_id uuid not null,
  project_id uuid not null,
  run_id uuid not null,
  start_time text not null,
  parent_run_id uuid,
  thread_id text,
  created_at timestamp with time zone not null default now(),
  checked boolean not null default false,
  constraint provisional_roots_pkey PRIMARY KEY (tenant_id, trace_id, project_id)
);

create table resource_tag_keys (
  tenant_id uuid not null,
  tag_key_id uuid not null,
  key text not null,
  description text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint resource_tag_keys_pkey PRIMARY KEY (tenant_id, tag_key_id),
  constraint resource_tag_keys_tenant_id_key_key UNIQUE (tenant_id, key)
);

create table resource_tag_values (
  tenant_id uuid not null,
  tag_value_id uuid not null,
  tag_key_id uuid not null,
  value text not null,
  description text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint resource_tag_values_tenant_id_tag_key_id_fkey FOREIGN KEY (tenant_id, tag_key_id) REFERENCES resource_tag_keys(tenant_id, tag_key_id) ON DELETE CASCADE,
  constraint resource_tag_values_pkey PRIMARY KEY (tenant_id, tag_value_id),
  constraint resource_tag_values_tenant_id_tag_key_id_value_key UNIQUE (tenant_id, tag_key_id, value)
);

create table resource_taggings (
  tenant_id uuid not null,
  tagging_id uuid not null,
  tag_value_id uuid not null,
  resource_type text not null,
  resource_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint resource_taggings_tenant_id_tag_value_id_fkey FOREIGN KEY (tenant_id, tag_value_id) REFERENCES resource_tag_values(tenant_id, tag_value_id) ON DELETE CASCADE,
  constraint resource_taggings_pkey PRIMARY KEY (tenant_id, tagging_id),
  constraint resource_taggings_tenant_id_resource_id_tag_value_id_key UNIQUE (tenant_id, resource_id, tag_value_id)
);

create table revision_events (
  id bigint generated always as identity not null,
  revision_id uuid not null,
  status text not null,
  attempt integer not null,
  message text,
  at timestamp with time zone not null default clock_timestamp(),
  constraint revision_events_revision_id_fkey FOREIGN KEY (revision_id) REFERENCES revisions(id) ON DELETE CASCADE,
  constraint revision_events_pkey PRIMARY KEY (id)
);

create table revisions (
  id uuid not null,
  deployment_id uuid not null,
  number bigint not null,
  source text not null,
  source_config jsonb not null,
  secret_references jsonb,
  repo_ref text,
  langgraph_config_path text,
  image_uri text,
  source_tarball_path text,
  repo_commit_sha text,
  status text not null,
  status_message text,
  interrupted_by_user boolean not null default false,
  artifact_id uuid,
  attempt integer not null default 0,
  losses integer not null default 0,
  holder text,
  lease_until timestamp with time zone,
  not_before timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  cluster text,
  variables text[],
  variable_changes jsonb,
  built_image text,
  created_by text,
  redeploy_of uuid,
  constraint revisions_status_check CHECK ((status = ANY (ARRAY['CREATING'::text, 'QUEUED'::text, 'AWAITING_BUILD'::text, 'BUILDING'::text, 'AWAITING_DEPLOY'::text, 'DEPLOYING'::text, 'CREATE_FAILED'::text, 'BUILD_FAILED'::text, 'DEPLOY_FAILED'::text, 'DEPLOYED'::text, 'SKIPPED'::text, 'INTERRUPTED'::text, 'UNKNOWN'::text]))),
  constraint revisions_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE,
  constraint revisions_pkey PRIMARY KEY (id),
  constraint revisions_deployment_id_number_key UNIQUE (deployment_id, number)
);

create table roles (
  id uuid not null,
  organization_id uuid,
  name text not null,
  display_name text not null,
  description text not null default ''::text,
  access_scope text not null,
  permissions text[] not null default '{}'::text[],
  created_at timestamp with time zone not null default now(),
  constraint roles_access_scope_check CHECK ((access_scope = ANY (ARRAY['organization'::text, 'workspace'::text]))),
  constraint roles_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
  constraint roles_pkey PRIMARY KEY (id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED
);

create table rule_backfills (
  tenant_id uuid not null,
  rule_id uuid not null,
  backfill_id uuid not null,
  backfill_from timestamp with time zone not null,
  backfill_to timestamp with time zone not null,
  status text not null,
  done bigint not null default 0,
  total bigint,
  cursor_start_time timestamp with time zone,
  cursor_run_id uuid,
  error text,
  leased_until timestamp with time zone,
  lease_id uuid,
  created_at timestamp with time zone not null default now(),
  completed_at timestamp with time zone,
  constraint rule_backfills_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  constraint rule_backfills_tenant_id_rule_id_fkey FOREIGN KEY (tenant_id, rule_id) REFERENCES rules(tenant_id, rule_id) ON DELETE CASCADE,
  constraint rule_backfills_pkey PRIMARY KEY (tenant_id, backfill_id)
);

create table rule_candidates (
  candidate_id bigint generated always as identity not null,
  tenant_id uuid not null,
  project_id uuid not null,
  run_id uuid not null,
  trace_id uuid not null,
  start_time timestamp with time zone not null,
  rule_id uuid,
  recorded_at timestamp with time zone not null default now(),
  rule_ids uuid[],
  written_at timestamp with time zone,
  constraint rule_candidates_pkey PRIMARY KEY (candidate_id)
);

create table rule_deliveries (
  delivery_id uuid not null,
  tenant_id uuid not null,
  rule_id uuid not null,
  match_id uuid not null,
  kind text not null,
  place integer not null,
  url text not null,
  receiver text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  tries integer not null default 0,
  queued_at timestamp with time zone not null default now(),
  available_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint rule_deliveries_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'pagerduty'::text]))),
  constraint rule_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint rule_deliveries_match_id_fkey FOREIGN KEY (match_id) REFERENCES rule_matches(match_id) ON DELETE CASCADE,
  constraint rule_deliveries_tenant_id_rule_id_fkey FOREIGN KEY (tenant_id, rule_id) REFERENCES rules(tenant_id, rule_id) ON DELETE CASCADE,
  constraint rule_deliveries_pkey PRIMARY KEY (delivery_id)
);

create table rule_delivery_attempts (
  delivery_id uuid not null,
  attempt integer not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  constraint rule_delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES rule_deliveries(delivery_id) ON DELETE CASCADE,
  constraint rule_delivery_attempts_pkey PRIMARY KEY (delivery_id, attempt)
);

create table rule_matches (
  tenant_id uuid not null,
  rule_id uuid not null,
  run_id uuid not null,
  match_id uuid not null,
  project_id uuid not null,
  trace_id uuid not null,
  start_time timestamp with time zone not null,
  thread_id text,
  run_name text,
  run_type text,
  end_time timestamp with time zone,
  is_backfill boolean not null,
  status text not null,
  reason text,
  matched_at timestamp with time zone not null default now(),
  leased_until timestamp with time zone,
  lease_id uuid,
  attempts integer not null default 0,
  available_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  outcomes jsonb not null default '{}'::jsonb,
  cost_usd numeric,
  constraint rule_matches_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text, 'skipped'::text]))),
  constraint rule_matches_tenant_id_rule_id_fkey FOREIGN KEY (tenant_id, rule_id) REFERENCES rules(tenant_id, rule_id) ON DELETE CASCADE,
  constraint rule_matches_pkey PRIMARY KEY (tenant_id, rule_id, run_id),
  constraint rule_matches_match_id_key UNIQUE (match_id)
);

create table rule_receivers (
  receiver text not null,
  failures integer not null,
  paused_until timestamp with time zone,
  last_error text,
  updated_at timestamp with time zone not null default now(),
  constraint rule_receivers_pkey PRIMARY KEY (receiver)
);

create table rule_reservations (
  match_id uuid not null,
  tenant_id uuid not null,
  rule_id uuid not null,
  window_start date not null,
  amount_usd numeric,
  lease_id uuid not null,
  constraint rule_reservations_match_id_fkey FOREIGN KEY (match_id) REFERENCES rule_matches(match_id) ON DELETE CASCADE,
  constraint rule_reservations_pkey PRIMARY KEY (match_id)
);

create table rule_spending (
  tenant_id uuid not null,
  rule_id uuid not null,
  window_start date not null,
  spent_usd numeric not null default 0,
  constraint rule_spending_tenant_id_rule_id_fkey FOREIGN KEY (tenant_id, rule_id) REFERENCES rules(tenant_id, rule_id) ON DELETE CASCADE,
  constraint rule_spending_pkey PRIMARY KEY (tenant_id, rule_id, window_start)
);

create table rule_threads (
  tenant_id uuid not null,
  rule_id uuid not null,
  project_id uuid not null,
  thread_id text not null,
  last_run_id uuid not null,
  last_start_time timestamp with time zone not null,
  due_at timestamp with time zone not null,
  trace_id uuid not null,
  run_name text,
  run_type text,
  end_time timestamp with time zone,
  matched boolean not null,
  is_backfill boolean not null,
  touched_at timestamp with time zone not null default now(),
  constraint rule_threads_tenant_id_rule_id_fkey FOREIGN KEY (tenant_id, rule_id) REFERENCES rules(tenant_id, rule_id) ON DELETE CASCADE,
  constraint rule_threads_pkey PRIMARY KEY (tenant_id, rule_id, project_id, thread_id)
);

create table rules (
  tenant_id uuid not null,
  rule_id uuid not null,
  display_name text not null,
  is_enabled boolean not null,
  project_id uuid,
  dataset_id uuid,
  sampling_rate double precision not null,
  filter text,
  trace_filter text,
  tree_filter text,
  group_by text,
  idle_seconds integer not null,
  actions jsonb not null,
  evaluator_id uuid,
  spend_limit_usd numeric,
  active_from timestamp with time zone not null,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  disabled_reason text,
  constraint rules_check CHECK (((project_id IS NULL) OR (dataset_id IS NULL))),
  constraint rules_group_by_check CHECK ((group_by = 'thread_id'::text)),
  constraint rules_idle_seconds_check CHECK ((idle_seconds > 0)),
  constraint rules_sampling_rate_check CHECK (((sampling_rate >= (0)::double precision) AND (sampling_rate <= (1)::double precision))),
  constraint rules_spend_limit_usd_check CHECK ((spend_limit_usd >= (0)::numeric)),
  constraint rules_pkey PRIMARY KEY (tenant_id, rule_id)
);

create table run_hours (
  tenant_id uuid not null,
  project_id uuid not null,
  hour integer not null,
  marked_at timestamp with time zone not null default clock_timestamp(),
  build bigint,
  has_rows boolean not null default false,
  constraint run_hours_pkey PRIMARY KEY (tenant_id, project_id, hour)
);

create table run_hours_listed (
  listed_at timestamp with time zone not null default now()
);

create table run_lanes (
  lane text not null,
  graph_id text not null,
  flow jsonb not null,
  fair text,
  state text not null,
  blocked_on text,
  rank integer not null,
  promote_at timestamp with time zone,
  vtime double precision not null,
  head_seq bigint not null,
  head_since timestamp with time zone not null default now(),
  passed integer not null default 0,
  constraint run_lanes_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'blocked'::text, 'empty'::text]))),
  constraint run_lanes_pkey PRIMARY KEY (lane)
);

create table run_queue_clock (
  id boolean not null default true,
  vtimes double precision[] not null default array_fill((0)::double precision, ARRAY[20]),
  constraint run_queue_clock_id_check CHECK (id),
  constraint run_queue_clock_pkey PRIMARY KEY (id)
);

create table run_queue_events (
  id bigint generated always as identity not null,
  thread_id uuid not null,
  freed text[],
  expires uuid,
  due_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint run_queue_events_pkey PRIMARY KEY (id)
);

create table run_queue_rules (
  graph_id text not null,
  rules jsonb not null,
  declared_at timestamp with time zone not null default now(),
  constraint run_queue_rules_pkey PRIMARY KEY (graph_id)
);

create table run_rates (
  key text not null,
  tat timestamp with time zone not null,
  wake_at timestamp with time zone,
  constraint run_rates_pkey PRIMARY KEY (key)
);

create table run_ready (
  thread_id uuid not null,
  run_id uuid not null,
  lane text not null,
  seq bigint not null,
  since timestamp with time zone not null default now(),
  constraint run_ready_pkey PRIMARY KEY (thread_id)
);

create table run_slots (
  key text not null,
  run_id uuid not null,
  constraint run_slots_pkey PRIMARY KEY (key, run_id)
);

create table run_stream_segments (
  run_id uuid not null,
  first integer not null,
  frames text not null,
  thread_id uuid,
  last_seq bigint,
  events integer,
  interrupts text[],
  constraint run_stream_segments_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES protocol_threads(thread_id) ON DELETE CASCADE,
  constraint run_stream_segments_pkey PRIMARY KEY (run_id, first)
);

create table run_streams (
  run_id uuid not null,
  thread_id uuid not null,
  ordinal bigint,
  attempt integer not null default 0,
  frames integer not null default 0,
  status text,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  marks text,
  protocol_graph text,
  constraint run_streams_pkey PRIMARY KEY (run_id)
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
  webhook text,
  stream_incomplete text,
  questions jsonb,
  flow jsonb,
  constraint runs_cancel_action_check CHECK ((cancel_action = ANY (ARRAY['interrupt'::text, 'rollback'::text, 'timeout'::text]))),
  constraint runs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'success'::text, 'error'::text, 'timeout'::text, 'interrupted'::text]))),
  constraint runs_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(thread_id) ON DELETE CASCADE,
  constraint runs_pkey PRIMARY KEY (run_id)
);

create table saved_views (
  tenant_id uuid not null,
  view_id uuid not null,
  session_id uuid,
  display_name text not null,
  description text,
  type text not null,
  filter_string text,
  trace_filter_string text,
  tree_filter_string text,
  start_time timestamp with time zone,
  end_time timestamp with time zone,
  duration text,
  list jsonb not null default '{}'::jsonb,
  owner_id text not null,
  is_shared boolean not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint saved_views_type_check CHECK ((type = ANY (ARRAY['runs'::text, 'threads'::text, 'single_run'::text]))),
  constraint saved_views_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES projects(tenant_id, project_id) ON DELETE CASCADE,
  constraint saved_views_pkey PRIMARY KEY (tenant_id, view_id)
);

create table secret_keys (
  key_id text not null,
  check_value bytea not null,
  is_current boolean not null default false,
  created_at timestamp with time zone not null default now(),
  constraint secret_keys_pkey PRIMARY KEY (key_id)
);

create table secrets (
  purpose text not null,
  id text not null,
  workspace_id uuid,
  key_id text not null,
  wrapped_key bytea not null,
  ciphertext bytea not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint secrets_key_id_fkey FOREIGN KEY (key_id) REFERENCES secret_keys(key_id),
  constraint secrets_pkey PRIMARY KEY (purpose, id)
);

create table servers (
  server_id uuid not null,
  host_name text not null,
  process text not null,
  internal_url text,
  started_at timestamp with time zone not null default now(),
  heartbeat_at timestamp with time zone not null default now(),
  graphs text[],
  reads_changes boolean not null default false,
  slots integer,
  instance_id uuid,
  constraint servers_pkey PRIMARY KEY (server_id)
);

create table sessions (
  id uuid not null,
  user_id uuid not null,
  token_hash bytea not null,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone not null default now(),
  idle_seconds integer not null,
  expires_at timestamp with time zone not null,
  method text not null,
  ip text not null,
  user_agent text not null,
  constraint sessions_idle_seconds_check CHECK ((idle_seconds > 0)),
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['password'::text, 'oidc'::text]))),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint sessions_token_hash_key UNIQUE (token_hash)
);

create table sign_in_attempts (
  bucket bytea not null,
  attempts integer not null,
  window_ends timestamp with time zone not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (bucket)
);

create table stale_threads (
  thread_id uuid not null,
  since timestamp with time zone not null default now(),
  constraint stale_threads_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(thread_id) ON DELETE CASCADE,
  constraint stale_threads_pkey PRIMARY KEY (thread_id)
);

create table state_keys (
  key_id text not null,
  wrapped_by text not null,
  wrapped bytea not null,
  created_at timestamp with time zone not null default now(),
  replaced_at timestamp with time zone,
  constraint state_keys_pkey PRIMARY KEY (key_id)
);

create table store_items (
  namespace text[] not null,
  key text not null,
  value jsonb not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  ttl_minutes double precision,
  expires_at timestamp with time zone,
  vectors_id uuid,
  constraint store_items_ttl_minutes_check CHECK ((ttl_minutes > (0)::double precision)),
  constraint store_items_pkey PRIMARY KEY (namespace, key)
);

create table store_vectors (
  vectors_id uuid not null,
  n integer not null,
  model text not null,
  embedding real[] not null,
  constraint store_vectors_pkey PRIMARY KEY (vectors_id, n)
);

create table sweeps (
  sweep text not null,
  due_at timestamp with time zone not null default now(),
  constraint sweeps_pkey PRIMARY KEY (sweep)
);

create table thread_signals (
  thread_id uuid not null,
  name text not null,
  key text not null,
  payload jsonb,
  seq bigint generated always as identity not null,
  created_at timestamp with time zone not null default now(),
  run_id uuid,
  constraint thread_signals_pkey PRIMARY KEY (thread_id, name, key)
);

create table thread_ttl_default (
  one boolean not null default true,
  strategy text not null,
  minutes double precision not null,
  watermark timestamp with time zone not null default now(),
  constraint thread_ttl_default_minutes_check CHECK ((minutes > (0)::double precision)),
  constraint thread_ttl_default_one_check CHECK (one),
  constraint thread_ttl_default_strategy_check CHECK ((strategy = ANY (ARRAY['delete'::text, 'keep_latest'::text]))),
  constraint thread_ttl_default_pkey PRIMARY KEY (one)
);

create table thread_value_items (
  thread_id uuid not null,
  channel text not null,
  "position" integer not null,
  item json not null,
  constraint thread_value_items_pkey PRIMARY KEY (thread_id, channel, "position")
);

create table thread_waits (
  thread_id uuid not null,
  interrupt_id text not null,
  signal text,
  due_at timestamp with time zone,
  ready_at timestamp with time zone not null,
  fired text,
  constraint thread_waits_pkey PRIMARY KEY (thread_id, interrupt_id)
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
  ttl_strategy text,
  ttl_minutes double precision,
  expires_at timestamp with time zone,
  value_lists jsonb,
  values_of text,
  has_signals boolean not null default false,
  constraint threads_settled_status_check CHECK ((settled_status = ANY (ARRAY['idle'::text, 'interrupted'::text, 'error'::text]))),
  constraint threads_status_check CHECK ((status = ANY (ARRAY['idle'::text, 'busy'::text, 'interrupted'::text, 'error'::text]))),
  constraint threads_ttl_minutes_check CHECK ((ttl_minutes > (0)::double precision)),
  constraint threads_ttl_strategy_check CHECK ((ttl_strategy = ANY (ARRAY['delete'::text, 'keep_latest'::text]))),
  constraint threads_ttl_whole CHECK (((ttl_strategy IS NULL) = (ttl_minutes IS NULL))),
  constraint threads_pkey PRIMARY KEY (thread_id)
);

create table trace_copies (
  copy_id uuid not null,
  requested_at timestamp with time zone not null default now(),
  seen_at timestamp with time zone not null default now(),
  tables jsonb,
  version integer,
  error text,
  constraint trace_copies_pkey PRIMARY KEY (copy_id)
);

create table trace_secrets (
  name text not null,
  secret bytea not null,
  constraint trace_secrets_pkey PRIMARY KEY (name)
);

create table trace_shares (
  share_token uuid not null,
  tenant_id uuid not null,
  project_id uuid not null,
  trace_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint trace_shares_pkey PRIMARY KEY (share_token),
  constraint trace_shares_tenant_id_trace_id_project_id_key UNIQUE (tenant_id, trace_id, project_id)
);

create table uploads (
  object_path text not null,
  deployment_id uuid not null,
  expires_at timestamp with time zone not null,
  uploaded_at timestamp with time zone,
  size bigint,
  used_at timestamp with time zone,
  constraint uploads_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE,
  constraint uploads_pkey PRIMARY KEY (object_path)
);

create table user_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint user_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_identities_pkey PRIMARY KEY (issuer, subject)
);

create table user_passwords (
  user_id uuid not null,
  password_hash text not null,
  changed_at timestamp with time zone not null default now(),
  constraint user_passwords_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_passwords_pkey PRIMARY KEY (user_id)
);

create table users (
  id uuid not null,
  email text not null,
  full_name text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  disabled_at timestamp with time zone,
  constraint users_email_check CHECK ((email = lower(email))),
  constraint users_pkey PRIMARY KEY (id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint users_email_key UNIQUE (email)
);

create table waiting_pieces (
  seq bigint generated always as identity not null,
  tenant_id uuid not null,
  run_id uuid not null,
  needs uuid not null,
  kind text not null,
  piece text not null,
  received_at timestamp with time zone not null default now(),
  constraint waiting_pieces_kind_check CHECK ((kind = ANY (ARRAY['update'::text, 'place'::text]))),
  constraint waiting_pieces_pkey PRIMARY KEY (seq)
);

create table webhook_attempts (
  delivery_id uuid not null,
  attempt integer not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  constraint webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries(delivery_id) ON DELETE CASCADE,
  constraint webhook_attempts_pkey PRIMARY KEY (delivery_id, attempt)
);

create table webhook_deliveries (
  delivery_id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  thread_id uuid not null,
  run_status text not null,
  url text not null,
  receiver text not null,
  payload text,
  state jsonb,
  state_due boolean not null default false,
  thread_metadata jsonb not null default '{}'::jsonb,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  tries integer not null default 0,
  queued_at timestamp with time zone not null default now(),
  available_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  assistant_id uuid,
  run_created_at timestamp with time zone,
  run_updated_at timestamp with time zone,
  run_started_at timestamp with time zone,
  run_ended_at timestamp with time zone,
  run_metadata jsonb,
  run_kwargs jsonb,
  run_multitask_strategy text,
  run_error jsonb,
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint webhook_deliveries_pkey PRIMARY KEY (delivery_id)
);

create table webhook_receivers (
  receiver text not null,
  failures integer not null,
  paused_until timestamp with time zone,
  updated_at timestamp with time zone not null default now(),
  last_error text,
  constraint webhook_receivers_pkey PRIMARY KEY (receiver)
);

create table workspace_members (
  id uuid not null,
  workspace_id uuid not null,
  user_id uuid not null,
  role_id uuid not null,
  read_only boolean not null default false,
  created_at timestamp with time zone not null default now(),
  constraint workspace_members_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id),
  constraint workspace_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint workspace_members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint workspace_members_pkey PRIMARY KEY (id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint workspace_members_workspace_id_user_id_key UNIQUE (workspace_id, user_id)
);

create table workspace_secrets (
  id uuid not null,
  tenant_id uuid not null,
  key text not null,
  updated_at timestamp with time zone not null default now(),
  constraint workspace_secrets_pkey PRIMARY KEY (id),
  constraint workspace_secrets_tenant_id_key_key UNIQUE (tenant_id, key)
);

create table workspaces (
  id uuid not null,
  organization_id uuid not null,
  display_name text not null,
  tenant_handle text,
  plan text not null default 'enterprise'::text,
  is_default boolean not null default false,
  created_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  constraint workspaces_check CHECK (((NOT is_default) OR (deleted_at IS NULL))),
  constraint workspaces_plan_check CHECK ((plan = ANY (ARRAY['developer'::text, 'plus'::text, 'enterprise'::text]))),
  constraint workspaces_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint identity_changed TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint workspaces_tenant_handle_key UNIQUE (tenant_handle)
);

CREATE INDEX alert_deliveries_by_creation ON public.alert_deliveries USING btree (created_at);
CREATE INDEX alert_deliveries_by_incident ON public.alert_deliveries USING btree (incident_id);
CREATE INDEX alert_deliveries_by_rule ON public.alert_deliveries USING btree (rule_id);
CREATE INDEX alert_deliveries_due ON public.alert_deliveries USING btree (receiver, available_at) WHERE (status = 'pending'::text);
CREATE INDEX alert_incidents_firing ON public.alert_incidents USING btree (rule_id) WHERE (status = 'firing'::text);
CREATE INDEX alert_incidents_of_rule ON public.alert_incidents USING btree (rule_id, fired_at DESC, incident_id DESC);
CREATE INDEX alert_incidents_of_tenant ON public.alert_incidents USING btree (tenant_id, fired_at DESC, incident_id DESC);
CREATE INDEX alert_rules_due ON public.alert_rules USING btree (available_at) WHERE is_enabled;
CREATE INDEX alert_rules_of_tenant ON public.alert_rules USING btree (tenant_id, created_at DESC, rule_id DESC);
CREATE UNIQUE INDEX annotation_queue_pairs_once ON public.annotation_queue_runs USING btree (tenant_id, queue_id, run_id, other_run_id) WHERE (item_type = 'PAIR'::text);
CREATE INDEX annotation_queue_reviewers_by_identity ON public.annotation_queue_reviewers USING btree (identity_id);
CREATE INDEX annotation_queue_runs_by_addition ON public.annotation_queue_runs USING btree (tenant_id, queue_id, added_at, queue_run_id);
CREATE INDEX annotation_queue_runs_by_run ON public.annotation_queue_runs USING btree (tenant_id, run_id);
CREATE UNIQUE INDEX annotation_queue_runs_once ON public.annotation_queue_runs USING btree (tenant_id, queue_id, run_id) WHERE (item_type = 'RUN'::text);
CREATE UNIQUE INDEX annotation_queue_threads_once ON public.annotation_queue_runs USING btree (tenant_id, queue_id, project_id, md5(thread_id)) WHERE (item_type = 'THREAD'::text);
CREATE INDEX annotation_queues_by_creation ON public.annotation_queues USING btree (tenant_id, created_at DESC, queue_id DESC);
CREATE INDEX annotation_queues_by_dataset ON public.annotation_queues USING btree (tenant_id, default_dataset) WHERE (default_dataset IS NOT NULL);
CREATE INDEX announced_changes_by_touch ON public.announced_changes USING btree (touched_at);
CREATE INDEX api_key_workspaces_by_workspace ON public.api_key_workspaces USING btree (workspace_id);
CREATE INDEX api_keys_by_organization ON public.api_keys USING btree (organization_id, created_at DESC, id);
CREATE INDEX api_keys_by_user ON public.api_keys USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX assistants_by_creation ON public.assistants USING btree (created_at DESC, assistant_id);
CREATE INDEX assistants_by_graph ON public.assistants USING btree (graph_id);
CREATE INDEX assistants_by_metadata ON public.assistants USING gin (metadata jsonb_path_ops);
CREATE INDEX audit_log_by_organization ON public.audit_log USING btree (organization_id, at DESC, id DESC);
CREATE INDEX audit_log_by_time ON public.audit_log USING btree (at, id);
CREATE INDEX audit_log_by_workspace ON public.audit_log USING btree (workspace_id, at DESC, id DESC);
CREATE INDEX bulk_exports_by_destination ON public.bulk_exports USING btree (destination_id);
CREATE INDEX bulk_exports_by_tenant ON public.bulk_exports USING btree (tenant_id, created_at DESC, id);
CREATE INDEX bulk_exports_schedules ON public.bulk_exports USING btree (start_time) WHERE ((interval_hours IS NOT NULL) AND (status = 'RUNNING'::text));
CREATE INDEX bulk_exports_to_do ON public.bulk_exports USING btree (not_before) WHERE ((cleaned_at IS NULL) AND (interval_hours IS NULL));
CREATE INDEX chart_sections_by_creation ON public.chart_sections USING btree (tenant_id, created_at DESC, section_id DESC);
CREATE INDEX charts_by_section ON public.charts USING btree (tenant_id, section_id, index, created_at);
CREATE INDEX cluster_targets_by_cluster ON public.cluster_targets USING btree (cluster);
CREATE INDEX comparative_experiments_by_dataset ON public.comparative_experiments USING btree (tenant_id, reference_dataset_id, created_at DESC, comparative_experiment_id);
CREATE INDEX corrected_judgements_by_time ON public.corrected_judgements USING btree (available_at);
CREATE INDEX crons_by_assistant ON public.crons USING btree (assistant_id);
CREATE INDEX crons_by_creation ON public.crons USING btree (created_at DESC, cron_id);
CREATE INDEX crons_by_metadata ON public.crons USING gin (metadata jsonb_path_ops);
CREATE INDEX crons_by_thread ON public.crons USING btree (thread_id) WHERE (thread_id IS NOT NULL);
CREATE INDEX crons_due ON public.crons USING btree (next_run_date) WHERE (enabled AND (next_run_date IS NOT NULL));
CREATE INDEX dataset_examples_by_inputs ON public.dataset_examples USING btree (tenant_id, dataset_id, inputs_digest) WHERE (replaced_at IS NULL);
CREATE INDEX dataset_examples_by_source ON public.dataset_examples USING btree (tenant_id, source_run_id) WHERE (source_run_id IS NOT NULL);
CREATE UNIQUE INDEX dataset_examples_current ON public.dataset_examples USING btree (tenant_id, example_id) WHERE (replaced_at IS NULL);
CREATE INDEX dataset_examples_in_dataset ON public.dataset_examples USING btree (tenant_id, dataset_id, modified_at DESC, example_id) INCLUDE (replaced_at);
CREATE INDEX datasets_by_creation ON public.datasets USING btree (tenant_id, created_at DESC, dataset_id);
CREATE INDEX default_views_by_project ON public.default_views USING btree (tenant_id, session_id);
CREATE INDEX default_views_by_view ON public.default_views USING btree (tenant_id, view_id);
CREATE INDEX deployment_logs_by_age ON public.deployment_logs USING btree (at);
CREATE INDEX deployment_logs_by_deployment ON public.deployment_logs USING btree (deployment_id, kind, id);
CREATE INDEX deployment_logs_by_revision ON public.deployment_logs USING btree (revision_id, kind, id);
CREATE INDEX deployments_by_tenant ON public.deployments USING btree (tenant_id, created_at DESC, id DESC);
CREATE INDEX deployments_going ON public.deployments USING btree (updated_at) WHERE (status = ANY (ARRAY['AWAITING_DATABASE'::text, 'AWAITING_DELETE'::text]));
CREATE INDEX erasures_by_tenant ON public.erasures USING btree (tenant_id, requested_at DESC, erasure_id DESC);
CREATE INDEX erasures_open ON public.erasures USING btree (requested_at) WHERE (status <> 'done'::text);
CREATE INDEX evaluators_by_creation ON public.evaluators USING btree (tenant_id, created_at DESC, evaluator_id DESC);
CREATE INDEX example_generations_by_dataset ON public.example_generations USING btree (tenant_id, dataset_id);
CREATE INDEX example_proposals_by_dataset ON public.example_proposals USING btree (tenant_id, dataset_id, status, created_at, proposal_id);
CREATE INDEX example_proposals_by_inputs ON public.example_proposals USING btree (tenant_id, dataset_id, inputs_digest);
CREATE INDEX example_proposals_by_request ON public.example_proposals USING btree (tenant_id, request_id);
CREATE INDEX experiment_evaluations_by_experiment ON public.experiment_evaluations USING btree (tenant_id, project_id, created_at DESC);
CREATE INDEX experiment_evaluations_open ON public.experiment_evaluations USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));
CREATE INDEX experiment_jobs_by_creation ON public.experiment_jobs USING btree (tenant_id, created_at DESC, project_id DESC);
CREATE INDEX experiment_jobs_by_dataset ON public.experiment_jobs USING btree (tenant_id, dataset_id, created_at DESC);
CREATE INDEX experiment_jobs_open ON public.experiment_jobs USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));
CREATE INDEX experiment_rows_open ON public.experiment_rows USING btree (tenant_id, project_id, row_index) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text, 'ran'::text]));
CREATE UNIQUE INDEX experiment_view_overrides_once ON public.experiment_view_overrides USING btree (tenant_id, dataset_id);
CREATE INDEX export_destination_tests_waiting ON public.export_destination_tests USING btree (created_at) WHERE (claimed_at IS NULL);
CREATE INDEX export_destinations_by_tenant ON public.export_destinations USING btree (tenant_id, created_at DESC, id DESC);
CREATE INDEX feedback_by_comparison ON public.feedback USING btree (tenant_id, comparative_experiment_id) WHERE (comparative_experiment_id IS NOT NULL);
CREATE INDEX feedback_by_creation ON public.feedback USING btree (tenant_id, created_at DESC, feedback_id DESC);
CREATE INDEX feedback_by_evaluator ON public.feedback USING btree (tenant_id, "left"((source_metadata ->> 'evaluator_id'::text), 36), created_at DESC) WHERE ((source_type = 'model'::text) AND ((source_metadata ->> 'evaluator_id'::text) IS NOT NULL));
CREATE INDEX feedback_by_run ON public.feedback USING btree (tenant_id, run_id) WHERE (run_id IS NOT NULL);
CREATE INDEX feedback_by_session ON public.feedback USING btree (tenant_id, session_id, key) WHERE (session_id IS NOT NULL);
CREATE UNIQUE INDEX feedback_by_token_parameters ON public.feedback USING btree (token_id, token_parameters) WHERE (token_parameters IS NOT NULL);
CREATE INDEX feedback_by_trace ON public.feedback USING btree (tenant_id, trace_id) WHERE (trace_id IS NOT NULL);
CREATE INDEX feedback_changes_by_seq ON public.feedback_changes USING btree (seq);
CREATE UNIQUE INDEX feedback_configs_by_id ON public.feedback_configs USING btree (tenant_id, config_id);
CREATE INDEX feedback_tokens_by_expiry ON public.feedback_tokens USING btree (expires_at);
CREATE INDEX feedback_tokens_by_run ON public.feedback_tokens USING btree (tenant_id, run_id, created_at, feedback_key, token_id);
CREATE INDEX feedback_unattached ON public.feedback USING btree (attach_at) WHERE (attach_at IS NOT NULL);
CREATE INDEX git_watches_by_time ON public.git_watches USING btree (next_look_at);
CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX insight_configs_by_project ON public.insight_configs USING btree (tenant_id, project_id, created_at);
CREATE INDEX insight_jobs_by_config ON public.insight_jobs USING btree (tenant_id, config_id) WHERE (config_id IS NOT NULL);
CREATE INDEX insight_jobs_by_project ON public.insight_jobs USING btree (tenant_id, project_id, created_at DESC, job_id DESC);
CREATE INDEX insight_jobs_to_do ON public.insight_jobs USING btree (not_before) WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX insight_runs_by_cluster ON public.insight_runs USING btree (tenant_id, job_id, cluster_id, similarity DESC);
CREATE UNIQUE INDEX insight_runs_by_place ON public.insight_runs USING btree (tenant_id, job_id, place);
CREATE INDEX insight_runs_by_trace ON public.insight_runs USING btree (tenant_id, trace_id);
CREATE UNIQUE INDEX instances_alive ON public.instances USING btree (revision_id, replica) WHERE ((state = ANY (ARRAY['starting'::text, 'ready'::text])) AND (pod IS NULL));
CREATE INDEX instances_by_deployment ON public.instances USING btree (deployment_id, started_at);
CREATE INDEX instances_going ON public.instances USING btree (started_at) WHERE (state <> 'ended'::text);
CREATE UNIQUE INDEX instances_of_pods ON public.instances USING btree (place, pod_uid, deployment_id);
CREATE INDEX instances_ready ON public.instances USING btree (deployment_id) WHERE (state = 'ready'::text);
CREATE INDEX known_visitors_by_end ON public.known_visitors USING btree (expires_at);
CREATE INDEX known_visitors_by_user ON public.known_visitors USING btree (user_id);
CREATE INDEX legal_holds_active ON public.legal_holds USING btree (tenant_id) WHERE (released_at IS NULL);
CREATE INDEX legal_holds_by_tenant ON public.legal_holds USING btree (tenant_id, created_at DESC, hold_id DESC);
CREATE INDEX model_prices_tenant ON public.model_prices USING btree (tenant_id);
CREATE INDEX model_reservations_in_month ON public.model_reservations USING btree (tenant_id, month);
CREATE INDEX organization_members_by_user ON public.organization_members USING btree (user_id);
CREATE INDEX pairwise_jobs_by_comparison ON public.pairwise_jobs USING btree (tenant_id, comparative_experiment_id, created_at DESC);
CREATE INDEX pairwise_jobs_open ON public.pairwise_jobs USING btree (not_before) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX playground_settings_in_workspace ON public.playground_settings USING btree (tenant_id, created_at, id);
CREATE INDEX projects_by_dataset ON public.projects USING btree (tenant_id, reference_dataset_id) WHERE (reference_dataset_id IS NOT NULL);
CREATE INDEX projects_by_metadata ON public.projects USING gin (((extra -> 'metadata'::text)) jsonb_path_ops);
CREATE INDEX projects_by_start ON public.projects USING btree (tenant_id, start_time DESC, project_id);
CREATE INDEX projects_incomplete_after ON public.projects USING btree (tenant_id) WHERE (incomplete_after_hours IS NOT NULL);
CREATE UNIQUE INDEX projects_of_evaluators ON public.projects USING btree (tenant_id) WHERE of_evaluators;
CREATE INDEX prompt_tag_moves_of_tag ON public.prompt_tag_moves USING btree (repo_id, tag_name, created_at DESC, move_id DESC);
CREATE INDEX prompt_tag_moves_of_tenant ON public.prompt_tag_moves USING btree (tenant_id, created_at DESC, move_id DESC);
CREATE INDEX prompt_tags_by_commit ON public.prompt_tags USING btree (commit_id);
CREATE INDEX prompt_webhook_deliveries_by_commit ON public.prompt_webhook_deliveries USING btree (commit_id);
CREATE INDEX prompt_webhook_deliveries_by_creation ON public.prompt_webhook_deliveries USING btree (created_at);
CREATE INDEX prompt_webhook_deliveries_by_prompt ON public.prompt_webhook_deliveries USING btree (repo_id);
CREATE INDEX prompt_webhook_deliveries_by_webhook ON public.prompt_webhook_deliveries USING btree (webhook_id, created_at);
CREATE INDEX prompt_webhook_deliveries_due ON public.prompt_webhook_deliveries USING btree (receiver, available_at) WHERE (status = 'pending'::text);
CREATE INDEX prompt_webhook_deliveries_of_tenant ON public.prompt_webhook_deliveries USING btree (tenant_id, receiver, available_at) WHERE (status = 'pending'::text);
CREATE INDEX prompt_webhooks_of_tenant ON public.prompt_webhooks USING btree (tenant_id, created_at, webhook_id);
CREATE INDEX prompts_by_change ON public.prompts USING btree (tenant_id, updated_at DESC, repo_id);
CREATE INDEX prompts_by_original ON public.prompts USING btree (original_repo_id) WHERE (original_repo_id IS NOT NULL);
CREATE INDEX prompts_by_upstream ON public.prompts USING btree (upstream_repo_id) WHERE (upstream_repo_id IS NOT NULL);
CREATE INDEX prompts_public ON public.prompts USING btree (updated_at DESC, repo_id) WHERE is_public;
CREATE INDEX provisional_roots_projects ON public.provisional_roots USING btree (tenant_id, project_id);
CREATE INDEX provisional_roots_unchecked ON public.provisional_roots USING btree (created_at) WHERE (NOT checked);
CREATE INDEX resource_taggings_by_value ON public.resource_taggings USING btree (tenant_id, tag_value_id);
CREATE INDEX revision_events_by_revision ON public.revision_events USING btree (revision_id, id);
CREATE UNIQUE INDEX revisions_deploying ON public.revisions USING btree (deployment_id) WHERE (status = ANY (ARRAY['DEPLOYING'::text, 'UNKNOWN'::text]));
CREATE INDEX revisions_to_do ON public.revisions USING btree (not_before) WHERE (status = ANY (ARRAY['CREATING'::text, 'QUEUED'::text, 'AWAITING_BUILD'::text, 'BUILDING'::text, 'AWAITING_DEPLOY'::text, 'DEPLOYING'::text, 'INTERRUPTED'::text, 'UNKNOWN'::text]));
CREATE UNIQUE INDEX roles_by_name ON public.roles USING btree (organization_id, lower(display_name)) WHERE (organization_id IS NOT NULL);
CREATE INDEX rule_backfills_by_rule ON public.rule_backfills USING btree (tenant_id, rule_id, created_at DESC);
CREATE INDEX rule_backfills_open ON public.rule_backfills USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));
CREATE INDEX rule_candidates_by_tenant ON public.rule_candidates USING btree (tenant_id, ((rule_id IS NOT NULL)), candidate_id);
CREATE INDEX rule_candidates_of_rule ON public.rule_candidates USING btree (tenant_id, rule_id) WHERE (rule_id IS NOT NULL);
CREATE INDEX rule_deliveries_by_creation ON public.rule_deliveries USING btree (created_at);
CREATE INDEX rule_deliveries_by_match ON public.rule_deliveries USING btree (match_id);
CREATE INDEX rule_deliveries_by_rule ON public.rule_deliveries USING btree (tenant_id, rule_id);
CREATE INDEX rule_deliveries_due ON public.rule_deliveries USING btree (receiver, available_at) WHERE (status = 'pending'::text);
CREATE INDEX rule_matches_back_fill ON public.rule_matches USING btree (tenant_id, rule_id) WHERE ((status = 'pending'::text) AND is_backfill);
CREATE INDEX rule_matches_by_project ON public.rule_matches USING btree (tenant_id, project_id);
CREATE INDEX rule_matches_by_time ON public.rule_matches USING btree (tenant_id, rule_id, matched_at DESC, match_id DESC);
CREATE INDEX rule_matches_by_trace ON public.rule_matches USING btree (tenant_id, trace_id);
CREATE INDEX rule_matches_due ON public.rule_matches USING btree (tenant_id, rule_id, available_at) WHERE (status = 'pending'::text);
CREATE INDEX rule_matches_ended ON public.rule_matches USING btree (matched_at) WHERE (status <> 'pending'::text);
CREATE INDEX rule_matches_pending ON public.rule_matches USING btree (available_at) WHERE (status = 'pending'::text);
CREATE INDEX rule_matches_unsampled ON public.rule_matches USING btree (matched_at) WHERE ((reason = 'not_sampled'::text) AND (status = 'skipped'::text));
CREATE INDEX rule_reservations_by_rule ON public.rule_reservations USING btree (tenant_id, rule_id, window_start);
CREATE INDEX rule_threads_due ON public.rule_threads USING btree (due_at);
CREATE INDEX rule_threads_old ON public.rule_threads USING btree (touched_at);
CREATE INDEX rules_by_creation ON public.rules USING btree (tenant_id, created_at DESC, rule_id DESC);
CREATE INDEX rules_by_dataset ON public.rules USING btree (tenant_id, dataset_id) WHERE (dataset_id IS NOT NULL);
CREATE INDEX rules_by_evaluator ON public.rules USING btree (tenant_id, evaluator_id) WHERE (evaluator_id IS NOT NULL);
CREATE INDEX rules_by_project ON public.rules USING btree (tenant_id, project_id) WHERE (project_id IS NOT NULL);
CREATE INDEX run_hours_open ON public.run_hours USING btree (marked_at) WHERE (build IS NULL);
CREATE INDEX run_lanes_blocked ON public.run_lanes USING btree (blocked_on, rank, vtime, head_since, head_seq) WHERE (state = 'blocked'::text);
CREATE INDEX run_lanes_by_fair ON public.run_lanes USING btree (fair);
CREATE INDEX run_lanes_empty ON public.run_lanes USING btree (rank, vtime) WHERE (state = 'empty'::text);
CREATE INDEX run_lanes_passed ON public.run_lanes USING btree (lane) WHERE (passed > 0);
CREATE INDEX run_lanes_promoted ON public.run_lanes USING btree (promote_at) WHERE (promote_at IS NOT NULL);
CREATE INDEX run_lanes_ready ON public.run_lanes USING btree (rank, vtime, head_since, head_seq) WHERE (state = 'ready'::text);
CREATE INDEX run_queue_events_due ON public.run_queue_events USING btree (due_at, id);
CREATE INDEX run_rates_by_time ON public.run_rates USING btree (tat);
CREATE INDEX run_ready_by_lane ON public.run_ready USING btree (lane, since, seq);
CREATE INDEX run_slots_by_run ON public.run_slots USING btree (run_id);
CREATE INDEX run_stream_interrupts ON public.run_stream_segments USING btree (run_id) WHERE (interrupts IS NOT NULL);
CREATE INDEX run_stream_segments_by_event ON public.run_stream_segments USING btree (thread_id, last_seq) WHERE (thread_id IS NOT NULL);
CREATE INDEX run_streams_by_end ON public.run_streams USING btree (ended_at);
CREATE INDEX run_streams_by_thread ON public.run_streams USING btree (thread_id, ordinal);
CREATE INDEX run_streams_going ON public.run_streams USING btree (created_at) WHERE (ended_at IS NULL);
CREATE INDEX runs_by_assistant ON public.runs USING btree (assistant_id);
CREATE INDEX runs_by_thread ON public.runs USING btree (thread_id, seq DESC);
CREATE INDEX runs_inflight ON public.runs USING btree (thread_id, seq) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));
CREATE INDEX runs_of_a2a ON public.runs USING btree (assistant_id, seq) WHERE ((metadata ->> 'source'::text) = 'a2a'::text);
CREATE UNIQUE INDEX runs_one_running ON public.runs USING btree (thread_id) WHERE (status = 'running'::text);
CREATE INDEX runs_queue ON public.runs USING btree (seq) WHERE (status = 'pending'::text);
CREATE INDEX runs_queue_plain ON public.runs USING btree (seq) WHERE ((status = 'pending'::text) AND (flow IS NULL));
CREATE INDEX saved_views_by_project ON public.saved_views USING btree (tenant_id, session_id, created_at);
CREATE UNIQUE INDEX secret_keys_current ON public.secret_keys USING btree (is_current) WHERE is_current;
CREATE INDEX secrets_by_key ON public.secrets USING btree (key_id);
CREATE INDEX secrets_by_workspace ON public.secrets USING btree (workspace_id);
CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id, created_at DESC);
CREATE INDEX sign_in_attempts_by_end ON public.sign_in_attempts USING btree (window_ends);
CREATE INDEX store_items_by_prefix ON public.store_items USING btree ((namespace[1]), (namespace[2]), updated_at DESC);
CREATE INDEX store_items_by_update ON public.store_items USING btree (updated_at DESC);
CREATE INDEX store_items_expiring ON public.store_items USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX thread_waits_ready ON public.thread_waits USING btree (ready_at);
CREATE INDEX threads_by_creation ON public.threads USING btree (created_at DESC, thread_id);
CREATE INDEX threads_by_metadata ON public.threads USING gin (metadata jsonb_path_ops);
CREATE INDEX threads_by_status ON public.threads USING btree (status, created_at DESC);
CREATE INDEX threads_by_update ON public.threads USING btree (updated_at DESC, thread_id);
CREATE INDEX threads_expiring ON public.threads USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX trace_shares_by_project ON public.trace_shares USING btree (tenant_id, project_id);
CREATE INDEX uploads_by_deployment ON public.uploads USING btree (deployment_id);
CREATE INDEX uploads_by_expiry ON public.uploads USING btree (expires_at);
CREATE INDEX user_identities_by_user ON public.user_identities USING btree (user_id);
CREATE INDEX waiting_pieces_needs ON public.waiting_pieces USING btree (tenant_id, needs);
CREATE INDEX waiting_pieces_places ON public.waiting_pieces USING btree (tenant_id, run_id) WHERE (kind = 'place'::text);
CREATE INDEX webhook_deliveries_by_creation ON public.webhook_deliveries USING btree (created_at, delivery_id);
CREATE INDEX webhook_deliveries_by_run ON public.webhook_deliveries USING btree (run_id) WHERE (delivery_id <> run_id);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (receiver, available_at) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_state_due ON public.webhook_deliveries USING btree (thread_id) WHERE state_due;
CREATE INDEX workspace_members_by_user ON public.workspace_members USING btree (user_id);
CREATE INDEX workspaces_by_organization ON public.workspaces USING btree (organization_id, created_at, id);
CREATE UNIQUE INDEX workspaces_default ON public.workspaces USING btree (is_default) WHERE is_default;
CREATE TRIGGER alert_firing_ended AFTER UPDATE OF status ON public.alert_deliveries FOR EACH ROW WHEN (((new.event = 'firing'::text) AND (old.status = 'pending'::text) AND (new.status <> 'pending'::text))) EXECUTE FUNCTION release_alert_resolution();
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER cluster_targets_changes AFTER UPDATE OF generation, revision_id, state, message ON public.cluster_targets FOR EACH ROW WHEN (((((old.generation IS DISTINCT FROM new.generation) OR (old.revision_id IS DISTINCT FROM new.revision_id)) OR (old.state IS DISTINCT FROM new.state)) OR (old.message IS DISTINCT FROM new.message))) EXECUTE FUNCTION announce_control();
CREATE TRIGGER cluster_targets_rows AFTER INSERT OR DELETE ON public.cluster_targets FOR EACH ROW EXECUTE FUNCTION announce_control();
CREATE TRIGGER delete_unstarted_protocol_run AFTER DELETE ON public.runs FOR EACH ROW WHEN (((old.status = 'pending'::text) AND (old.attempt = 0) AND ((old.kwargs ->> 'protocol'::text) = 'v2'::text))) EXECUTE FUNCTION end_unstarted_protocol_run();
CREATE TRIGGER deployments_changes AFTER UPDATE OF slug, status, active_revision_id, scale ON public.deployments FOR EACH ROW WHEN (((((old.slug IS DISTINCT FROM new.slug) OR (old.status IS DISTINCT FROM new.status)) OR (old.active_revision_id IS DISTINCT FROM new.active_revision_id)) OR (old.scale IS DISTINCT FROM new.scale))) EXECUTE FUNCTION announce_control();
CREATE TRIGGER deployments_rows AFTER INSERT OR DELETE ON public.deployments FOR EACH ROW EXECUTE FUNCTION announce_control();
CREATE TRIGGER disable_rules AFTER DELETE ON public.annotation_queues REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION disable_rules_of_deleted();
CREATE TRIGGER disable_rules AFTER DELETE ON public.datasets REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION disable_rules_of_deleted();
CREATE TRIGGER disable_rules AFTER DELETE ON public.projects REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION disable_rules_of_deleted();
CREATE TRIGGER drop_value_items AFTER DELETE ON public.threads FOR EACH ROW WHEN ((old.value_lists IS NOT NULL)) EXECUTE FUNCTION drop_value_items();
CREATE TRIGGER end_unstarted_protocol_run AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((old.status = 'pending'::text) AND (old.attempt = 0) AND (new.status <> ALL (ARRAY['pending'::text, 'running'::text])) AND ((old.kwargs ->> 'protocol'::text) = 'v2'::text))) EXECUTE FUNCTION end_unstarted_protocol_run();
CREATE TRIGGER feedback_changed AFTER INSERT OR DELETE OR UPDATE OF key, session_id, trace_id, score, value, comment, extra, source_type, modified_at ON public.feedback FOR EACH ROW EXECUTE FUNCTION note_feedback_change();
CREATE TRIGGER flow_of_changed_run AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((old.status <> new.status) AND ((old.flow IS NOT NULL) OR ((old.status = 'pending'::text) AND (new.status <> 'running'::text))))) EXECUTE FUNCTION note_flow_change();
CREATE TRIGGER flow_of_deleted_run AFTER DELETE ON public.runs FOR EACH ROW WHEN (((old.flow IS NOT NULL) OR (old.status = 'pending'::text))) EXECUTE FUNCTION note_flow_change();
CREATE TRIGGER flow_of_new_run AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.flow IS NOT NULL)) EXECUTE FUNCTION note_flow_change();
CREATE TRIGGER forget_threads AFTER UPDATE OF is_enabled ON public.rules FOR EACH ROW WHEN ((old.is_enabled AND (NOT new.is_enabled))) EXECUTE FUNCTION forget_threads_of_disabled();
CREATE CONSTRAINT TRIGGER identity_changed AFTER DELETE ON public.sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE CONSTRAINT TRIGGER identity_changed AFTER DELETE OR UPDATE OF email, disabled_at ON public.users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE CONSTRAINT TRIGGER identity_changed AFTER DELETE OR UPDATE ON public.roles DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE CONSTRAINT TRIGGER identity_changed AFTER INSERT OR DELETE OR UPDATE OF key_hash, read_only, role_id, organization_role_id, all_workspaces, default_workspace_id, expires_at, revoked_at, description ON public.api_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE CONSTRAINT TRIGGER identity_changed AFTER INSERT OR DELETE OR UPDATE ON public.api_key_workspaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE CONSTRAINT TRIGGER identity_changed AFTER INSERT OR DELETE OR UPDATE ON public.organization_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE CONSTRAINT TRIGGER identity_changed AFTER INSERT OR DELETE OR UPDATE ON public.workspace_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE CONSTRAINT TRIGGER identity_changed AFTER INSERT OR DELETE OR UPDATE ON public.workspaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION identity_changed();
CREATE TRIGGER instances_changes AFTER UPDATE OF state, port, place, address ON public.instances FOR EACH ROW WHEN (((((old.state IS DISTINCT FROM new.state) OR (old.port IS DISTINCT FROM new.port)) OR (old.place IS DISTINCT FROM new.place)) OR (old.address IS DISTINCT FROM new.address))) EXECUTE FUNCTION announce_control();
CREATE TRIGGER instances_rows AFTER INSERT OR DELETE ON public.instances FOR EACH ROW EXECUTE FUNCTION announce_control();
CREATE TRIGGER note_protocol_run AFTER INSERT ON public.runs FOR EACH ROW WHEN (((new.kwargs ->> 'protocol'::text) = 'v2'::text)) EXECUTE FUNCTION note_protocol_run();
 SELECT thread_id,
    last_seq,
    run_id,
    ( SELECT string_agg(x.m[1], '
'::text ORDER BY x.n) AS string_agg
           FROM regexp_matches(run_stream_segments.frames, '(?:^|\n)event: protocol:([^\n]*)\n'::text, 'g'::text) WITH ORDINALITY x(m, n)) AS names,
    ( SELECT string_agg(x.m[1], '
'::text ORDER BY x.n) AS string_agg
           FROM regexp_matches(run_stream_segments.frames, '(?:^|\n)event: protocol:[^\n]*\ndata: ([^\n]*)\n'::text, 'g'::text) WITH ORDINALITY x(m, n)) AS bodies
   FROM run_stream_segments
  WHERE ((last_seq IS NOT NULL) AND (frames ~~ '%event: protocol:%'::text));;
 SELECT run_id,
    thread_id,
    protocol_graph AS graph_id,
    attempt,
    created_at,
    ended_at
   FROM run_streams
  WHERE ((protocol_graph IS NOT NULL) AND (ended_at IS NULL));;
CREATE TRIGGER replace_value_lists BEFORE UPDATE OF "values" ON public.threads FOR EACH ROW WHEN ((new.value_lists IS NOT NULL)) EXECUTE FUNCTION replace_value_lists();
CREATE TRIGGER revisions_changes AFTER UPDATE OF status, holder, not_before, interrupted_by_user ON public.revisions FOR EACH ROW WHEN (((((old.status IS DISTINCT FROM new.status) OR (old.holder IS DISTINCT FROM new.holder)) OR (old.not_before IS DISTINCT FROM new.not_before)) OR (old.interrupted_by_user IS DISTINCT FROM new.interrupted_by_user))) EXECUTE FUNCTION announce_control();
CREATE TRIGGER revisions_rows AFTER INSERT ON public.revisions FOR EACH ROW EXECUTE FUNCTION announce_control();
CREATE TRIGGER run_idempotency BEFORE INSERT ON public.runs FOR EACH ROW WHEN ((new.kwargs ? '__idempotency'::text)) EXECUTE FUNCTION mark_idempotency_key();
CREATE TRIGGER store_item_deleted AFTER DELETE ON public.store_items FOR EACH ROW WHEN ((old.vectors_id IS NOT NULL)) EXECUTE FUNCTION delete_store_vectors();
CREATE TRIGGER store_item_replaced AFTER UPDATE OF vectors_id ON public.store_items FOR EACH ROW WHEN (((old.vectors_id IS NOT NULL) AND (old.vectors_id IS DISTINCT FROM new.vectors_id))) EXECUTE FUNCTION delete_store_vectors();
CREATE TRIGGER thread_expiry_on_insert BEFORE INSERT ON public.threads FOR EACH ROW WHEN ((new.ttl_minutes IS NOT NULL)) EXECUTE FUNCTION set_thread_expiry();
CREATE TRIGGER thread_expiry_on_update BEFORE UPDATE OF updated_at, ttl_minutes ON public.threads FOR EACH ROW WHEN ((new.ttl_minutes IS NOT NULL)) EXECUTE FUNCTION set_thread_expiry();
CREATE TRIGGER waits_of_deleted_thread AFTER DELETE ON public.threads FOR EACH ROW WHEN ((old.has_signals OR ((old.interrupts)::text ~~ '%"heddle_wait"%'::text))) EXECUTE FUNCTION drop_waits();
CREATE TRIGGER waits_of_settled_thread AFTER UPDATE OF interrupts ON public.threads FOR EACH ROW WHEN ((((new.interrupts)::text ~~ '%"heddle_wait"%'::text) OR ((old.interrupts)::text ~~ '%"heddle_wait"%'::text))) EXECUTE FUNCTION note_waits();
CREATE TRIGGER webhook_of_ended_run AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((new.webhook IS NOT NULL) AND (old.status = ANY (ARRAY['pending'::text, 'running'::text])) AND (new.status = ANY (ARRAY['success'::text, 'error'::text, 'timeout'::text, 'interrupted'::text])))) EXECUTE FUNCTION enqueue_webhook();
CREATE TRIGGER webhook_of_rolled_back_run AFTER DELETE ON public.runs FOR EACH ROW WHEN (((old.webhook IS NOT NULL) AND (old.status = ANY (ARRAY['pending'::text, 'running'::text])))) EXECUTE FUNCTION enqueue_webhook();

-- function accept_run(_run_id uuid, _thread_id uuid, _assistant_id uuid, _kwargs jsonb, _metadata jsonb, _strategy text, _create_thread boolean, _after double precision, _temporary boolean, _server uuid, _claim boolean, _describe boolean, _wait boolean) returns TABLE(outcome text, run text, graph_id text, claimed boolean, kwargs text, fresh_thread boolean, cancelled uuid[], head text)
-- function access_permits(_metadata jsonb, _conditions jsonb) returns boolean
-- function add_signal(_thread_id uuid, _name text, _key text, _payload jsonb, _limit integer) returns text
-- function aged_rank(_flow jsonb, _since timestamp with time zone) returns integer
-- function announce_control() returns trigger
-- function answerable_interrupts(_thread_id uuid, _kwargs jsonb) returns jsonb
-- function answers_live(_thread_id uuid, _kwargs jsonb) returns boolean
-- function append_protocol_events(_run_id uuid, _thread_id uuid, _attempt integer, _batch integer, _count integer, _names text, _bodies text, _notify boolean) returns bigint
-- function assistant_wire(a assistants) returns json
-- function bind_resume(_thread_id uuid, _kwargs jsonb, _busy boolean, _asked jsonb) returns jsonb
-- function blocking_key(_flow jsonb, _now timestamp with time zone) returns text
-- function cancel_run(_run_id uuid, _thread_id uuid, _action text, _reason text) returns TABLE(outcome text, server_id uuid)
-- function choose_from_lanes(_server uuid, _limit integer) returns uuid[]
-- function claim_runs(_server uuid, _limit integer) returns TABLE(run_id uuid, thread_id uuid, assistant_id uuid, graph_id text, attempt integer, failures integer, kwargs text, fresh_thread boolean, cancel_action text)
-- function claim_share(_server uuid, _limit integer, _left_over double precision) returns integer
-- function close_protocol_run(_run_id uuid, _notify boolean, _incomplete text) returns uuid
-- function copy_thread(_source uuid, _target uuid) returns json
-- function cron_wire(c crons) returns json
-- function debounce_run(_thread_id uuid, _now timestamp with time zone, _rule jsonb) returns TABLE(replaced uuid[], since double precision, after double precision)
-- function delete_assistant(_assistant_id uuid) returns boolean
-- function delete_run_checkpoints(_thread_id uuid, _run_id uuid) returns void
-- function delete_store_vectors() returns trigger
-- function delete_thread(_thread_id uuid) returns void
-- function delete_thread_data(_thread_id uuid) returns void
-- function delete_unused_blobs(_thread text) returns void
-- function disable_rules_of_deleted() returns trigger
-- function discarded_questions(_thread_id uuid, _kwargs jsonb, _settled text) returns jsonb
-- function drop_value_items() returns trigger
-- function drop_waits() returns trigger
-- function end_kept_run(_run_id uuid, _thread_id uuid, _attempt integer, _outcome text, _error jsonb, _state jsonb, _notify boolean, _first integer, _count integer, _frames text, _last text, _events integer DEFAULT 0, _interrupts text[] DEFAULT NULL::text[]) returns TABLE(outcome text, waiting boolean, stored integer, seq bigint)
-- function end_protocol_run(_run_id uuid, _thread_id uuid) returns bigint
-- function end_unstarted_protocol_run() returns trigger
-- function enqueue_webhook() returns trigger
-- function expire_runs(_expired uuid[]) returns void
-- function expire_thread(_thread_id uuid) returns boolean
-- function finish_run(_run_id uuid, _thread_id uuid, _attempt integer, _outcome text, _error jsonb, _state jsonb, _notify boolean) returns TABLE(outcome text, waiting boolean)
-- function fire_cron(_cron_id uuid, _expected timestamp with time zone, _next timestamp with time zone, _start boolean, _skip_waiting boolean, _run_id uuid, _thread_id uuid, _assistant_id uuid, _kwargs jsonb, _metadata jsonb, _strategy text, _temporary boolean) returns text
-- function fire_wait(_thread_id uuid, _interrupt_id text, _run_id uuid) returns text
-- function forget_threads_of_disabled() returns trigger
-- function full_waiting_key(_flow jsonb, _replaced uuid[]) returns jsonb
-- function hold_waiting_keys(_flow jsonb) returns boolean
-- function holds_head(_thread text, _namespaces text[], _newest text[], _own text) returns boolean
-- function identity_changed() returns trigger
-- function in_users_name(_thread_id uuid, _kwargs jsonb, _questions jsonb, _settled text) returns jsonb
-- function interrupt_ids(_type text, _blob bytea) returns text[]
-- function interrupts_text(_ids text[]) returns text
-- function is_stale_state(_lists jsonb, _of text, _state jsonb) returns boolean
-- function join_values(_thread_id uuid, _values jsonb, _lists jsonb) returns json
-- function keep_events(_run_id uuid, _thread_id uuid, _first integer, _frames text, _events integer, _interrupts text[]) returns bigint
-- function keep_frames(_run_id uuid, _thread_id uuid, _attempt integer, _first integer, _count integer, _frames text, _marks text, _status text, _events integer DEFAULT 0, _interrupts text[] DEFAULT NULL::text[]) returns TABLE(outcome text, stored integer, seq bigint)
-- function list_value_at(_thread_id uuid, _values jsonb, _lists jsonb, _path text[]) returns jsonb
-- function lists_contain(_thread_id uuid, _values jsonb, _lists jsonb, _filter jsonb) returns boolean
-- function live_interrupts(_thread_id uuid) returns text[]
-- function mark_idempotency_key() returns trigger
-- function may_reserve(_flow jsonb) returns boolean
-- function meet_questions(_thread_id uuid, _questions jsonb, _kwargs jsonb, _settled text) returns jsonb
-- function merge_run_config(_kwargs jsonb, _assistant_config jsonb, _assistant_context jsonb, _thread_config jsonb, _run_metadata jsonb, _own jsonb) returns jsonb
-- function named_interrupts(_resume jsonb) returns text[]
-- function next_of_thread(_thread_id uuid) returns TABLE(run_id uuid, seq bigint, since timestamp with time zone, flow jsonb)
-- function note_feedback_change() returns trigger
-- function note_flow_change() returns trigger
-- function note_protocol_run() returns trigger
-- function note_waits() returns trigger
-- function only_workspace_of_key(_key uuid, _user uuid) returns uuid
-- function patch_assistant(_assistant_id uuid, _patch jsonb) returns json
-- function pending_interrupts(_thread_id uuid, _checkpoint text) returns jsonb
-- function place_lanes(_lanes text[], _vtimes double precision[]) returns void
-- function promoted_at(_flow jsonb, _rank integer, _since timestamp with time zone) returns timestamp with time zone
-- function prune_thread(_thread_id uuid) returns boolean
-- function put_value_lists(_thread_id uuid, _had jsonb, _lists jsonb) returns void
-- function put_values(_thread_id uuid, _state jsonb) returns void
-- function queue_key(_key text, _document jsonb) returns text
-- function refuse_audit_change() returns trigger
-- function release_alert_resolution() returns trigger
-- function release_run(_run_id uuid, _attempt integer, _blame boolean, _max_failures integer, _reason text, _notify boolean) returns TABLE(outcome text, thread_id uuid)
-- function replace_value_lists() returns trigger
-- function reserve_keys(_lane text, _flow jsonb, _now timestamp with time zone) returns text
-- function resume_refusal(_named text[], _strict boolean, _pending jsonb) returns text
-- function role_rights(_role uuid) returns jsonb
-- function run_flow(_rules jsonb, _merged jsonb, _metadata jsonb, _graph text, _assistant uuid) returns jsonb
-- function run_object(r runs) returns json
-- function run_wire(r runs) returns json
-- function set_thread_expiry() returns trigger
-- function settle_state(_thread_id uuid, _state jsonb) returns void
-- function settle_thread(_thread_id uuid) returns void
-- function settled_interrupts(_thread_id uuid) returns jsonb
-- function shown_kwargs(_kwargs jsonb) returns jsonb
-- function split_state(_state jsonb) returns jsonb
-- function stop_inflight(_thread_id uuid, _strategy text) returns uuid[]
-- function store_matches(_value jsonb, _conditions jsonb) returns boolean
-- function take_queue_events(_vtimes double precision[]) returns text[]
-- function thread_values(_thread_id uuid, _values jsonb, _lists jsonb) returns json
-- function thread_wire(t threads) returns json
-- function user_keys() returns text[]
-- function user_of_checkpoint(_thread_id uuid, _checkpoint text) returns jsonb
-- function value_at(_thread_id uuid, _values jsonb, _lists jsonb, _path text[]) returns jsonb
-- function value_list(_thread_id uuid, _channel text) returns json
-- function values_contain(_thread_id uuid, _values jsonb, _lists jsonb, _filter jsonb) returns boolean
-- function wait_time(_text text) returns timestamp with time zone
-- function waits_since(r runs) returns timestamp with time zone
-- function webhook_message(_delivery_id uuid) returns text
-- function workspaces_of_user(_user uuid) returns SETOF workspaces
-- function write_thread_head(_thread_id uuid, _state jsonb) returns void
