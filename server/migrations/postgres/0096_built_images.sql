-- Deployments of source code in Kubernetes: the image that was built of the revision and pushed, by digest.
alter table revisions add column built_image text;

-- CPU time and memory of pods, as the cluster's metrics API last reported them; null without that API.
alter table instances add column memory_bytes bigint;
alter table instances add column cpu_percent double precision;
alter table instances add column measured_at timestamptz;
-- Why a cluster reports no CPU time and memory; null while it does.
alter table cluster_targets add column usage_problem text;
