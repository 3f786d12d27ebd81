-- Who made a revision, by the name that the audit log has, and the earlier revision that it deploys again.
alter table revisions add column created_by text, add column redeploy_of uuid;
