-- Set for the run that stands in for its trace's root until that arrives (trace/ingest/trace-heads.ts).
alter table runs add column if not exists provisional_root Nullable(Bool);
