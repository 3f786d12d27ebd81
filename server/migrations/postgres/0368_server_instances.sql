-- The instance of a deployment that the control plane started the server as; null for other servers. With it, the control
-- plane retires the servers of an earlier revision (control/runtime/deployment-database.ts).
alter table servers add column instance_id uuid;
