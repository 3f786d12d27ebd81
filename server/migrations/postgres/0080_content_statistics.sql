-- Contents of traces, and what people write about them, stay out of the planner's statistics: ANALYZE copies sampled
-- values to pg_statistic, where an erasure does not reach them. No plan depends on these columns.
alter table feedback
  alter column value set statistics 0,
  alter column comment set statistics 0,
  alter column correction set statistics 0,
  alter column extra set statistics 0,
  alter column source_metadata set statistics 0;
alter table waiting_pieces alter column piece set statistics 0;
alter table dataset_examples
  alter column name set statistics 0,
  alter column inputs set statistics 0,
  alter column outputs set statistics 0,
  alter column metadata set statistics 0,
  alter column attachments set statistics 0;

-- Postgres 18 can forget values that were sampled before; older versions keep them until the table is dropped.
do $$
declare
  sampled record;
begin
  if to_regprocedure('pg_clear_attribute_stats(text, text, text, boolean)') is null then
    return;
  end if;
  for sampled in
    select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.oid in ('feedback'::regclass, 'waiting_pieces'::regclass, 'dataset_examples'::regclass)
      and a.attstattarget = 0
  loop
    execute 'select pg_clear_attribute_stats($1, $2, $3, false)' using current_schema()::text, sampled.relname::text, sampled.attname::text;
  end loop;
end $$;
