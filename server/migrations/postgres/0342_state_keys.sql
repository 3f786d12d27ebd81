-- Data keys of stored state, each encrypted ("wrapped") by a key of the settings or by the project's own handlers.
create table state_keys (
  -- 16 random bytes in base64url; part of every value that the key encrypts
  key_id text primary key,
  -- 'aes:' and the id of a key of the settings, or 'custom'
  wrapped_by text not null,
  wrapped bytea not null,
  created_at timestamptz not null default now()
);
