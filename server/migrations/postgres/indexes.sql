-- Indexes of large tables, added after the tables. They are built after the migrations, while servers write
-- (base/db/build-indexes.ts). Each statement is "create index concurrently if not exists NAME on ..." and ends its line
-- with a semicolon.
create index concurrently if not exists runs_of_a2a on runs (assistant_id, seq) where metadata ->> 'source' = 'a2a';
