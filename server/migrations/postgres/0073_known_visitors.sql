-- Networks and browsers that somebody has signed in from with a password. While an account is attacked from many
-- places, attempts from these are not slowed. Only hashes of account and network, or account and device cookie.
create table known_visitors (
  bucket bytea primary key,
  user_id uuid not null references users on delete cascade,
  expires_at timestamptz not null
);
create index known_visitors_by_end on known_visitors (expires_at);
create index known_visitors_by_user on known_visitors (user_id);
