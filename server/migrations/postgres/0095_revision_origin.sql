-- What a revision changed in the environment of the one before it, by names; null for revisions before this migration.
-- Values are only in the encrypted environment of each revision.
alter table revisions add column variables text[];
alter table revisions add column variable_changes jsonb;
