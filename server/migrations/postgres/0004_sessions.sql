-- How people sign in, and that they are signed in.

create table user_passwords (
  user_id uuid primary key references users on delete cascade,
  -- argon2id in the PHC string format, which names its parameters
  password_hash text not null,
  changed_at timestamptz not null default now()
);

-- Who somebody is for an OpenID provider. The subject is the provider's name for a person; an e-mail address may
-- pass from one person to another.
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index user_identities_by_user on user_identities (user_id);

create table sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- SHA-256 of the token, which holds 256 random bits: see api_keys
  token_hash bytea not null unique,
  created_at timestamptz not null default now(),
  -- up to a minute behind
  last_used_at timestamptz not null default now(),
  -- ends when it is not used for so long
  idle_seconds integer not null check (idle_seconds > 0),
  -- ends then in any case
  expires_at timestamptz not null,
  method text not null check (method in ('password', 'oidc')),
  ip text not null,
  user_agent text not null
);
create index sessions_by_user on sessions (user_id, created_at desc);
create index sessions_by_expiry on sessions (expires_at);

-- Servers keep known sessions in memory for some seconds; one that has ended is forgotten at once (0002_identity).
create constraint trigger identity_changed after delete
  on sessions deferrable initially deferred for each row execute function identity_changed();

-- Attempts to sign in, counted by account and by address in fixed windows. Only hashes of both: somebody's typing
-- error is none of ours to keep.
create table sign_in_attempts (
  bucket bytea primary key,
  attempts integer not null,
  window_ends timestamptz not null
);
create index sign_in_attempts_by_end on sign_in_attempts (window_ends);
