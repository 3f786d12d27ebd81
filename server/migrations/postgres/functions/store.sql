-- Returns whether an item's value satisfies all conditions [{key, op, operand}]. Only values of one type are ordered.
create or replace function store_matches(_value jsonb, _conditions jsonb) returns boolean language sql immutable as $$
  select not exists (
    select 1
    from jsonb_to_recordset(_conditions) as c(key text, op text, operand jsonb),
         lateral (select _value -> c.key as v, coalesce(c.operand, 'null') as w) x
    where not coalesce(case c.op
      when '$eq' then v = w
      when '$ne' then v is distinct from w
      -- not by `@>`, for which an object is in a list that has a larger one
      when '$in' then exists (select from jsonb_array_elements(w) e where e = v)
      when '$nin' then not exists (select from jsonb_array_elements(w) e where e = v)
      else jsonb_typeof(v) = jsonb_typeof(w) and case c.op
        when '$gt' then v > w
        when '$gte' then v >= w
        when '$lt' then v < w
        when '$lte' then v <= w end
    end, false)
  )
$$;
