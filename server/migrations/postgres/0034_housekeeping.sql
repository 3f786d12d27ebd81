-- What goes by itself after a while, what requests that come twice go by, and what the store finds by meaning.

alter table threads
  add column ttl_strategy text check (ttl_strategy in ('delete', 'keep_latest')),
  -- since the last activity
  add column ttl_minutes double precision check (ttl_minutes > 0),
  -- null: never, or until something happens on the thread
  add column expires_at timestamptz,
  add constraint threads_ttl_whole check ((ttl_strategy is null) = (ttl_minutes is null));
create index threads_expiring on threads (expires_at) where expires_at is not null;

-- The time to live counts from the last activity, and whatever that is sets updated_at.
create function set_thread_expiry() returns trigger language plpgsql as $$
begin
  new.expires_at := new.updated_at + make_interval(secs => new.ttl_minutes * 60);
  return new;
end $$;
create trigger thread_expiry_on_insert before insert on threads
  for each row when (new.ttl_minutes is not null) execute function set_thread_expiry();
create trigger thread_expiry_on_update before update of updated_at, ttl_minutes on threads
  for each row when (new.ttl_minutes is not null) execute function set_thread_expiry();

-- One row a kind of sweep. Whoever moves due_at on does the work; the others let it.
create table sweeps (
  sweep text primary key,
  due_at timestamptz not null default now()
);

-- The time to live of threads that are made without one, as langgraph.json says. One row at most.
create table thread_ttl_default (
  one boolean primary key default true check (one),
  strategy text not null check (strategy in ('delete', 'keep_latest')),
  minutes double precision not null check (minutes > 0),
  -- threads made before this have been seen to, or were there before anybody asked for it
  watermark timestamptz not null default now()
);

-- Requests that create runs and name themselves (Idempotency-Key). Written ahead of the run, and marked by the
-- run's own insertion, so that neither can be without the other.
create table idempotency_keys (
  -- whose key it is
  scope text not null,
  key text not null,
  -- of a batch, which of its runs
  part integer not null,
  -- digest of operation and body
  fingerprint text not null,
  run_id uuid not null,
  thread_id uuid not null,
  -- the run as it was accepted, without kwargs; null: not accepted yet
  run jsonb,
  created_at timestamptz not null default now(),
  primary key (scope, key, part)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Marks the request as accepted with its run. Raises unique_violation when the key means another run by now.
create function mark_idempotency_key() returns trigger language plpgsql as $$
declare
  _request jsonb := new.kwargs -> '__idempotency';
begin
  new.kwargs := new.kwargs - '__idempotency';
  insert into idempotency_keys as k (scope, key, part, fingerprint, run_id, thread_id, run)
  values (_request ->> 'scope', _request ->> 'key', (_request ->> 'part')::integer, _request ->> 'fingerprint',
          new.run_id, new.thread_id, to_jsonb(new) - 'kwargs')
  on conflict (scope, key, part) do update set run = excluded.run where k.run_id = excluded.run_id;
  if not found then
    raise unique_violation using message = 'the idempotency key was taken by another request',
      constraint = 'idempotency_keys_pkey';
  end if;
  return new;
end $$;
create trigger run_idempotency before insert on runs
  for each row when (new.kwargs ? '__idempotency') execute function mark_idempotency_key();

alter table store_items
  add column ttl_minutes double precision check (ttl_minutes > 0),
  add column expires_at timestamptz,
  -- what it is found by: each put makes its vectors anew, under a new id
  add column vectors_id uuid;
create index store_items_expiring on store_items (expires_at) where expires_at is not null;

-- Unit vectors of the store's texts. An array, because pgvector's type is not there in every Postgres; where it
-- is, the array is cast to it.
create table store_vectors (
  vectors_id uuid not null,
  n integer not null,
  -- what made it; vectors of different models are not compared
  model text not null,
  embedding real[] not null,
  primary key (vectors_id, n)
);

create function delete_store_vectors() returns trigger language plpgsql as $$
begin
  delete from store_vectors where vectors_id = old.vectors_id;
  return null;
end $$;
create trigger store_item_deleted after delete on store_items
  for each row when (old.vectors_id is not null) execute function delete_store_vectors();
create trigger store_item_replaced after update of vectors_id on store_items
  for each row when (old.vectors_id is not null and old.vectors_id is distinct from new.vectors_id)
  execute function delete_store_vectors();
