-- A pod is identified by its cluster and deployment as well as its uid, which its reporter chooses: a report can neither
-- change nor occupy the row of another cluster's or deployment's pod.
alter table instances add column pod_uid uuid;
update instances set pod_uid = id where pod is not null;
create unique index instances_of_pods on instances (place, pod_uid, deployment_id);
