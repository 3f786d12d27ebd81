-- Pieces of runs that can't be stored where they belong yet, because what they need hasn't come: an update the
-- create of its run (it tells neither project nor start), a child the parent that its place in the trace follows
-- from. trace/ingest/waiting-pieces.ts takes them up when it has come.
create table waiting_pieces (
  seq bigint generated always as identity primary key,
  tenant_id uuid not null,
  run_id uuid not null,
  -- the run that must come first
  needs uuid not null,
  kind text not null check (kind in ('update', 'place')),
  -- a RunPiece as JSON text, which is not looked into here
  piece text not null,
  received_at timestamptz not null default now()
);
create index waiting_pieces_needs on waiting_pieces (tenant_id, needs);
create index waiting_pieces_places on waiting_pieces (tenant_id, run_id) where kind = 'place';

-- What models cost, in US dollars a token. Rows without a workspace come with Heddle and hold for all; a
-- workspace's own rows go before them.
create table model_prices (
  id uuid primary key,
  tenant_id uuid,
  name text not null,
  -- from when on; null is always
  start_time timestamptz,
  -- regular expressions (RE2) for the model's name and, where given, the provider's
  match_pattern text not null,
  match_path text[] not null default '{model,model_name,model_id,model_path,endpoint_name}',
  provider text,
  prompt_cost numeric(38, 18) not null,
  completion_cost numeric(38, 18) not null,
  -- {"cache_read": "0.0000003"}: a price for tokens that the details count separately
  prompt_cost_details jsonb,
  completion_cost_details jsonb,
  created_at timestamptz not null default now()
);
create index model_prices_tenant on model_prices (tenant_id);

-- Secrets of the trace platform that its replicas share: the key that signs links to attachments.
create table trace_secrets (
  name text primary key,
  secret bytea not null
);
