-- A revision that nobody can see is about to serve all the same: a newer one waits for it.
drop index revisions_deploying;
create unique index revisions_deploying on revisions (deployment_id) where status in ('DEPLOYING', 'UNKNOWN');
