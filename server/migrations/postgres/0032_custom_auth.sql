-- Callers that the project's own `authenticate` recognised.
alter table audit_log drop constraint audit_log_actor_kind_check;
alter table audit_log add constraint audit_log_actor_kind_check
  check (actor_kind in ('local', 'api_key', 'service_key', 'session', 'system', 'custom', 'unknown'));
