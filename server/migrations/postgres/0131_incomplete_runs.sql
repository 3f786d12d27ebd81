-- Age in hours from which runs of the project that have no end are incomplete; null is the default, a day.
alter table projects add column incomplete_after_hours integer check (incomplete_after_hours > 0);
create index projects_incomplete_after on projects (tenant_id) where incomplete_after_hours is not null;
