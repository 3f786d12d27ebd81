-- Which interrupts a run answers or discards, see functions/questions.sql. Null for most runs.
alter table runs add column questions jsonb;
