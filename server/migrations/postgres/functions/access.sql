-- Whether metadata bears what a project's own rules ask for, conditions [{key, op, operand}] (contract
-- agent-server §16.5). `$contains` wants an array that holds all of the operand's.
create or replace function access_permits(_metadata jsonb, _conditions jsonb) returns boolean language sql immutable as $$
  select not exists (
    select 1 from jsonb_to_recordset(_conditions) as c(key text, op text, operand jsonb)
    where not coalesce(case c.op
      when '$eq' then _metadata -> c.key = c.operand
      when '$contains' then jsonb_typeof(_metadata -> c.key) = 'array' and _metadata -> c.key @> c.operand
    end, false)
  )
$$;
