-- Deployments in Kubernetes clusters: by this control plane itself, or by a listener.

-- Where the revision runs: null on the control plane's machines, 'own' in its cluster, else the id of a listener.
alter table revisions add column cluster text;

-- Host of an instance that gateways reach from any machine; null where only those of its own machine do.
alter table instances add column address text;
alter table instances add column pod text;
drop index instances_alive;
create unique index instances_alive on instances (revision_id, replica)
  where state in ('starting', 'ready') and pod is null;
-- For the gateways' tables, which list the ready instances of every deployment.
create index instances_ready on instances (deployment_id) where state = 'ready';
drop trigger instances_routes on instances;
create trigger instances_routes after insert or delete or update of state, port, place, address on instances
  for each statement execute function announce_routes();

alter table listeners add column last_seen_at timestamptz;

-- What a cluster is to run for a deployment, and what it last reported. The leader writes the first part, reports the
-- second. The body, which contains the environment, is a secret of the purpose cluster-target.
create table cluster_targets (
  deployment_id uuid not null references deployments on delete cascade,
  cluster text not null,
  -- Fencing token of the cluster's objects: rises with each change, and with each report of a higher one.
  generation bigint not null,
  -- Null: the deployment's objects are to be removed.
  revision_id uuid,
  fingerprint text not null,
  -- Last report. `reported_generation` is the generation that it is about.
  reported_generation bigint,
  state text check (state in ('progressing', 'ready', 'failed', 'removed', 'stale')),
  message text,
  pods_ready integer not null default 0,
  pods_total integer not null default 0,
  seen_at timestamptz,
  primary key (deployment_id, cluster)
);
create index cluster_targets_by_cluster on cluster_targets (cluster);
