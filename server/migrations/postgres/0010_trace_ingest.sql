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

-- List prices at the time of writing, a million tokens: prompt, completion, prompt tokens read from a cache. They
-- are a start; a workspace's own prices go before them.
insert into model_prices (id, name, match_pattern, provider, prompt_cost, completion_cost, prompt_cost_details)
select md5('heddle price ' || name)::uuid, name, pattern, provider, prompt / 1000000, completion / 1000000,
  case when cached is not null then jsonb_build_object('cache_read', trim_scale(cached / 1000000)::text) end
from (values
  ('gpt-4o', '^gpt-4o(-2024-(08-06|11-20))?$', '^(azure|openai)', 2.5, 10, 1.25),
  ('gpt-4o-mini', '^gpt-4o-mini(-2024-07-18)?$', '^(azure|openai)', 0.15, 0.6, 0.075),
  ('gpt-4.1', '^gpt-4\.1(-2025-04-14)?$', '^(azure|openai)', 2, 8, 0.5),
  ('gpt-4.1-mini', '^gpt-4\.1-mini(-2025-04-14)?$', '^(azure|openai)', 0.4, 1.6, 0.1),
  ('gpt-4.1-nano', '^gpt-4\.1-nano(-2025-04-14)?$', '^(azure|openai)', 0.1, 0.4, 0.025),
  ('o3', '^o3(-2025-04-16)?$', '^(azure|openai)', 2, 8, 0.5),
  ('o4-mini', '^o4-mini(-2025-04-16)?$', '^(azure|openai)', 1.1, 4.4, 0.275),
  ('claude-3-5-haiku', '^claude-3-5-haiku', '^anthropic', 0.8, 4, 0.08),
  ('claude-3-5-sonnet', '^claude-3-5-sonnet', '^anthropic', 3, 15, 0.3),
  ('claude-3-7-sonnet', '^claude-3-7-sonnet', '^anthropic', 3, 15, 0.3),
  ('claude-sonnet-4', '^claude-sonnet-4', '^anthropic', 3, 15, 0.3),
  ('claude-opus-4', '^claude-opus-4-(1-)?2025', '^anthropic', 15, 75, 1.5),
  ('text-embedding-3-small', '^text-embedding-3-small$', '^(azure|openai)', 0.02, 0, null),
  ('text-embedding-3-large', '^text-embedding-3-large$', '^(azure|openai)', 0.13, 0, null)
) as list (name, pattern, provider, prompt, completion, cached);
