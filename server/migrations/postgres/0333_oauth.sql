-- OAuth of MCP clients: an access token is a personal key that is valid for one resource and a short time.
alter table api_keys add column audience text;

create table oauth_grants (
  key_id uuid primary key references api_keys on delete cascade,
  client_id text not null,
  redirect_uri text not null,
  -- set until the authorization code is exchanged; from then on the secret is a refresh token
  code_challenge text,
  secret_hash bytea not null unique,
  -- the secret before, whose second use reveals that it was copied
  used_hash bytea unique,
  used_at timestamptz,
  expires_at timestamptz not null
);
