-- Returns whether metadata satisfies the conditions of a project's own rules, [{key, op, operand}]. `$contains`
-- requires an array with all elements of the operand.
create or replace function access_permits(_metadata jsonb, _conditions jsonb) returns boolean language sql immutable as $$
  select not exists (
    select 1 from jsonb_to_recordset(_conditions) as c(key text, op text, operand jsonb)
    where not coalesce(case c.op
      when '$eq' then _metadata -> c.key = c.operand
      when '$contains' then jsonb_typeof(_metadata -> c.key) = 'array' and _metadata -> c.key @> c.operand
    end, false)
  )
$$;
