-- A listener's own credential: a key without permissions, by which the listener is recognized. Null: none yet, or revoked.
alter table listeners add column key_id uuid references api_keys on delete set null;
