-- The values of threads. Long lists are stored item by item (thread_value_items), because a conversation only grows by a
-- few items a run; threads.values has the other keys, value_lists the lengths. Writers hold the thread's lock.
--
-- Readers pass a thread's columns instead of its row: forming a row reads values out of line. Columns and items must be
-- read in one snapshot. A statement that updates a thread and returns its values would read older items.

-- Returns a thread's values; null when it has none.
create or replace function thread_values(_thread_id uuid, _values jsonb, _lists jsonb) returns json language sql stable as $$
  select case when _lists is null then to_json(_values) else join_values(_thread_id, _values, _lists) end
$$;

-- Joins a thread's values and its lists. Keys are in the order of jsonb: by length, then by bytes.
create or replace function join_values(_thread_id uuid, _values jsonb, _lists jsonb) returns json language sql stable as $$
  select json_object_agg(e.key, e.value) from (
    select u.key, u.value from (
      select v.key, to_json(v.value) as value from jsonb_each(_values) v
      union all
      select l.key, value_list(_thread_id, l.key) from jsonb_object_keys(_lists) l (key)
    ) u order by octet_length(u.key), u.key collate "C"
  ) e
$$;

-- Returns a stored list. json_agg copies texts of type json without parsing them.
create or replace function value_list(_thread_id uuid, _channel text) returns json language sql stable as $$
  select coalesce(json_agg(i.item), '[]') from (
    select item from thread_value_items where thread_id = _thread_id and channel = _channel order by position) i
$$;

-- Returns whether a thread's values contain an object, as `@>` does. An item is compared as the only element of a
-- list: `@>` treats a scalar differently at the top level.
create or replace function values_contain(_thread_id uuid, _values jsonb, _lists jsonb, _filter jsonb) returns boolean
language sql stable as $$
  select case when _lists is null then _values @> _filter else lists_contain(_thread_id, _values, _lists, _filter) end
$$;

create or replace function lists_contain(_thread_id uuid, _values jsonb, _lists jsonb, _filter jsonb) returns boolean
language sql stable as $$
  select case when not _values @> (_filter - array(select jsonb_object_keys(_lists))) then false else not exists (
    select from jsonb_each(_filter) f
    where _lists ? f.key and (jsonb_typeof(f.value) <> 'array' or exists (
      select from jsonb_array_elements(case jsonb_typeof(f.value) when 'array' then f.value else '[]' end) w
      where not exists (
        select from thread_value_items i
        where i.thread_id = _thread_id and i.channel = f.key
          and jsonb_build_array(i.item::jsonb) @> jsonb_build_array(w.value))))) end
$$;

-- Returns the part of a thread's values at a path, as `#>` does. Of a stored list it reads one item.
create or replace function value_at(_thread_id uuid, _values jsonb, _lists jsonb, _path text[]) returns jsonb
language sql stable as $$
  select case when _lists is null then _values #> _path else list_value_at(_thread_id, _values, _lists, _path) end
$$;

create or replace function list_value_at(_thread_id uuid, _values jsonb, _lists jsonb, _path text[]) returns jsonb
language sql stable as $$
  select case
    when cardinality(_path) = 0 then join_values(_thread_id, _values, _lists)::jsonb
    when not _lists ? _path[1] then _values #> _path
    when cardinality(_path) = 1 then value_list(_thread_id, _path[1])::jsonb
    when _path[2] ~ '^\s*[+-]?\d{1,9}$' then (
      select i.item::jsonb #> _path[3:] from thread_value_items i
      where i.thread_id = _thread_id and i.channel = _path[1]
        and i.position = _path[2]::integer + case when _path[2]::integer < 0 then (_lists ->> _path[1])::integer else 0 end)
  end
$$;

-- Returns whether a state cannot be stored: it keeps items of a list (`keep`) whose stored values belong to another
-- checkpoint than `base`, or are fewer.
create or replace function is_stale_state(_lists jsonb, _of text, _state jsonb) returns boolean language sql immutable as $$
  select coalesce(bool_or(k.keep > 0 and (_of is distinct from _state ->> 'base' or coalesce((_lists ->> k.key)::integer, 0) < k.keep)), false)
  from (select l.key, (_state #>> array['lists', l.key, 'keep'])::integer as keep
        from jsonb_object_keys(_state -> 'lists') l (key)) k
$$;

-- Stores the lists of a state, {channel: {"keep": n, "items": []}}: the first n stored items stay, all others are replaced by
-- the given ones. _had: the stored lengths until now. The caller holds the thread's lock and has set values.
-- Items that are equal to the stored ones are not written.
create or replace function put_value_lists(_thread_id uuid, _had jsonb, _lists jsonb) returns void language plpgsql as $$
declare
  l record;
  _gone text[];
  _length integer;
  _lengths jsonb := '{}';
begin
  -- separately, because a deletion that joins the channels reads all items of the thread
  _gone := array(select h.key from jsonb_object_keys(_had) h (key) where not coalesce(_lists ? h.key, false));
  if cardinality(_gone) > 0 then
    delete from thread_value_items where thread_id = _thread_id and channel = any(_gone);
  end if;
  for l in select e.key, (e.value ->> 'keep')::integer as keep, e.value -> 'items' as items from jsonb_each(_lists) e loop
    _length := coalesce((_had ->> l.key)::integer, 0);
    _lengths := _lengths || jsonb_build_object(l.key, l.keep + jsonb_array_length(l.items));
    if _length > l.keep then
      delete from thread_value_items
      where thread_id = _thread_id and channel = l.key and position >= (_lengths ->> l.key)::integer;
      insert into thread_value_items as s (thread_id, channel, position, item)
      select _thread_id, l.key, g.position, g.item
      from (select l.keep + (e.n - 1)::integer as position, to_json(e.value) as item
            from jsonb_array_elements(l.items) with ordinality e (value, n)) g
      left join thread_value_items i on i.thread_id = _thread_id and i.channel = l.key and i.position = g.position
      where i.item is null or i.item::text <> g.item::text
      on conflict (thread_id, channel, position) do update set item = excluded.item;
    else
      insert into thread_value_items (thread_id, channel, position, item)
      select _thread_id, l.key, l.keep + (e.n - 1)::integer, to_json(e.value)
      from jsonb_array_elements(l.items) with ordinality e (value, n);
    end if;
  end loop;
  if _lengths <> '{}' then
    update threads set value_lists = _lengths where thread_id = _thread_id;
  end if;
end $$;

-- Moves the long lists of a state that was read as a whole to `lists`: those of 64 items or more, or of more than 16 KiB
-- (as graph-host/src/runs/state-text.ts does). A state of less than 16 KiB stays as it is.
create or replace function split_state(_state jsonb) returns jsonb language plpgsql immutable as $$
declare
  _lists jsonb;
begin
  if _state ? 'lists' or jsonb_typeof(_state -> 'values') is distinct from 'object'
     or pg_column_size(_state -> 'values') <= 16384 then
    return _state;
  end if;
  select jsonb_object_agg(e.key, jsonb_build_object('keep', 0, 'items', e.value)) into _lists
  from jsonb_each(_state -> 'values') e
  where jsonb_typeof(e.value) = 'array' and octet_length(e.key) <= 800
    and (jsonb_array_length(e.value) >= 64 or octet_length(e.value::text) > 16384);
  if _lists is null then return _state; end if;
  return _state || jsonb_build_object(
    'values', (_state -> 'values') - array(select jsonb_object_keys(_lists)), 'lists', _lists);
end $$;

-- Sets a thread's values to those of a state. The caller holds its lock.
create or replace function put_values(_thread_id uuid, _state jsonb) returns void language plpgsql as $$
declare
  _had jsonb;
begin
  _state := split_state(_state);
  select value_lists into _had from threads where thread_id = _thread_id;
  update threads set values = _state -> 'values', value_lists = null, values_of = _state ->> 'of' where thread_id = _thread_id;
  if _had is not null or _state ? 'lists' then perform put_value_lists(_thread_id, _had, _state -> 'lists'); end if;
end $$;

create or replace function drop_value_items() returns trigger language plpgsql as $$
begin
  delete from thread_value_items where thread_id = old.thread_id;
  return null;
end $$;

create or replace function replace_value_lists() returns trigger language plpgsql as $$
begin
  delete from thread_value_items where thread_id = new.thread_id;
  new.value_lists := null;
  new.values_of := null;
  return new;
end $$;
