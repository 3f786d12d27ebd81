-- Processes that forward requests to instances. A row is written every few seconds and deleted at an orderly stop.
create table gateways (
  id uuid primary key,
  -- Machine whose instances it reaches.
  host text not null,
  -- Identity of the process.
  process jsonb not null,
  -- Time of the snapshot that its route table shows.
  loaded_at timestamptz not null,
  seen_at timestamptz not null default now(),
  -- Requests in progress, by id of their instance.
  in_flight jsonb not null default '{}'
);

-- Gateways reload their tables on this channel; they poll too, because notifications can be lost.
create function announce_routes() returns trigger language plpgsql as $$
begin
  perform pg_notify('heddle_routes', '');
  return null;
end $$;
create trigger instances_routes after insert or delete or update of state, port, place on instances
  for each statement execute function announce_routes();
create trigger deployments_routes after insert or delete or update of slug, status, active_revision_id on deployments
  for each statement execute function announce_routes();

-- The control plane that builds, starts and stops; the others answer the API. Its term is a fencing token.
create table control_leader (
  only_row boolean primary key default true check (only_row),
  -- Identifies this database to the control planes that share a data directory.
  installation uuid not null default gen_random_uuid(),
  term bigint not null default 0,
  -- Process identity and start of the leader; null after it has released the lease.
  holder jsonb,
  lease_until timestamptz not null default '-infinity'
);
insert into control_leader default values;
