-- Long lists of threads' values, an item a row, so that the end of a run writes only what is new. threads.values has the
-- other keys. Functions: functions/values.sql.
create table thread_value_items (
  -- not a foreign key, which would look the thread up for each item: writers hold the thread's lock, and a trigger
  -- deletes the items with it
  thread_id uuid not null,
  channel text not null,
  position integer not null,
  -- in the form that jsonb prints
  item json not null,
  primary key (thread_id, channel, position)
);

-- Length of each list by channel; null: values is complete.
alter table threads add column value_lists jsonb;
-- The checkpoint whose state values, value_lists and the items show; null: unknown.
alter table threads add column values_of text;

-- bodies are in functions/values.sql
create function drop_value_items() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger drop_value_items after delete on threads for each row
when (old.value_lists is not null) execute function drop_value_items();

-- A server of an earlier version writes values as a whole, beside servers of this one: no lists remain. Statements of
-- this version set value_lists to null whenever they set values.
create function replace_value_lists() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger replace_value_lists before update of values on threads for each row
when (new.value_lists is not null) execute function replace_value_lists();
