-- How the tokens were counted and where the cost comes from, as a JSON object (trace/prices/usage.ts).
alter table runs add column if not exists cost_basis Nullable(String);
-- The usage is also that of a model call directly within or around this one (trace/ingest/repeated-usage.ts).
alter table runs add column if not exists repeats_usage Nullable(Bool);
