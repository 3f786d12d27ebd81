-- What is encrypted at rest, and who changed what.

-- The keys that records are wrapped with, by name; the keys themselves are never in the database. `check_value`
-- tells whether a key given under this name is the same key.
create table secret_keys (
  key_id text primary key,
  check_value bytea not null,
  is_current boolean not null default false,
  created_at timestamptz not null default now()
);
-- what every writer seals with; rotation moves it
create unique index secret_keys_current on secret_keys (is_current) where is_current;

create table secrets (
  -- what it is of, and whose: both are authenticated with the ciphertext, which is worth nothing elsewhere
  purpose text not null,
  id text not null,
  workspace_id uuid,
  -- a key that records still need cannot be taken out
  key_id text not null references secret_keys,
  wrapped_key bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (purpose, id)
);
create index secrets_by_key on secrets (key_id);
create index secrets_by_workspace on secrets (workspace_id);

create table audit_log (
  -- increases with time
  id uuid primary key,
  -- milliseconds, as cursors have them
  at timestamptz(3) not null,
  -- null where nobody was recognised
  organization_id uuid,
  workspace_id uuid,
  actor_kind text not null check (actor_kind in ('local', 'api_key', 'service_key', 'session', 'system', 'unknown')),
  actor_id text not null,
  actor_name text not null,
  user_id text,
  ip text not null,
  -- `POST /api-key`, and what the contract calls it: create_api_key
  operation text not null,
  operation_name text not null,
  target jsonb not null,
  status integer not null,
  -- how many such attempts this line stands for: refusals are gathered
  occurrences integer not null,
  request_id text,
  -- which writer, its how-manieth line, and a keyed hash over both and the line
  writer_id uuid not null,
  writer_seq bigint not null,
  seal_key_id text,
  seal bytea,
  unique (writer_id, writer_seq)
);
create index audit_log_by_organization on audit_log (organization_id, at desc, id desc);
create index audit_log_by_workspace on audit_log (workspace_id, at desc, id desc);
create index audit_log_by_time on audit_log (at, id);

-- Lines are added and, when they are old enough, removed by the sweep, which says up to when it removes.
create function refuse_audit_change() returns trigger language plpgsql as $$
declare
  sweeping text := current_setting('heddle.audit_sweep_before', true);
begin
  if tg_op = 'DELETE' and sweeping <> '' then
    if old.at < least(sweeping::timestamptz, now() - interval '1 day') then return old; end if;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_log_append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();
create trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function refuse_audit_change();
