-- Graphs that the server can run. Null: it does not say (a Heddle from before this).
alter table servers add column graphs text[];
