-- What people and evaluators say of runs and projects. This is the truth; ClickHouse has a copy of it for filters
-- and statistics over runs (feedback/feedback-mirror.ts).

create table feedback (
  tenant_id uuid not null,
  -- chosen by the client; unique in its workspace only, so that nobody can find out or take another one's
  feedback_id uuid not null,
  key text not null,
  -- null: feedback on the whole project. Otherwise the run may not have arrived yet
  run_id uuid,
  -- of the run: what the client said, or null until the run is known (attach-feedback.ts)
  session_id uuid,
  trace_id uuid,
  start_time timestamptz,
  is_root boolean not null default false,
  score double precision,
  value jsonb,
  comment text,
  correction jsonb,
  extra jsonb,
  source_type text not null check (source_type in ('api', 'app', 'model', 'auto_eval')),
  source_metadata jsonb,
  user_id uuid,
  comparative_experiment_id uuid,
  feedback_group_id uuid,
  -- the pre-signed token it came by, and for GET the digest of its parameters
  token_id uuid,
  token_parameters bytea,
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now(),
  -- when to look for the run again; null when it was found, or there is none to find
  attach_at timestamptz,
  attach_tries integer not null default 0,
  primary key (tenant_id, feedback_id),
  check (run_id is not null or session_id is not null)
);
create index feedback_by_run on feedback (tenant_id, run_id) where run_id is not null;
create index feedback_by_session on feedback (tenant_id, session_id, key) where session_id is not null;
create index feedback_by_trace on feedback (tenant_id, trace_id) where trace_id is not null;
create index feedback_by_creation on feedback (tenant_id, created_at desc, feedback_id desc);
create index feedback_unattached on feedback (attach_at) where attach_at is not null;
-- a GET that repeats the same parameters changes its feedback instead of adding one
create unique index feedback_by_token_parameters on feedback (token_id, token_parameters)
  where token_parameters is not null;

-- What the copy in ClickHouse lacks. A trigger writes it, so that no statement can forget to.
create sequence feedback_changes_seq as bigint;
create table feedback_changes (
  tenant_id uuid not null,
  feedback_id uuid not null,
  run_id uuid,
  seq bigint not null default nextval('feedback_changes_seq'),
  primary key (tenant_id, feedback_id)
);
create index feedback_changes_by_seq on feedback_changes (seq);

create function note_feedback_change() returns trigger language plpgsql as $$
declare
  changed feedback := coalesce(new, old);
begin
  insert into feedback_changes (tenant_id, feedback_id, run_id)
  values (changed.tenant_id, changed.feedback_id, changed.run_id)
  on conflict (tenant_id, feedback_id) do update set seq = nextval('feedback_changes_seq');
  return null;
end $$;
-- not for when to look for the run again, which concerns nobody else
create trigger feedback_changed
  after insert or delete or update of key, session_id, trace_id, score, value, comment, extra, source_type, modified_at
  on feedback for each row execute function note_feedback_change();

create table feedback_tokens (
  -- random (UUIDv4): who knows it may give feedback
  token_id uuid primary key,
  tenant_id uuid not null,
  run_id uuid not null,
  feedback_key text not null,
  feedback_config jsonb,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index feedback_tokens_by_run on feedback_tokens (tenant_id, run_id, created_at, feedback_key, token_id);
create index feedback_tokens_by_expiry on feedback_tokens (expires_at);

-- How the feedback of a key is to be read.
create table feedback_configs (
  tenant_id uuid not null,
  feedback_key text not null,
  feedback_config jsonb not null,
  is_lower_score_better boolean,
  modified_at timestamptz not null default now(),
  primary key (tenant_id, feedback_key)
);
