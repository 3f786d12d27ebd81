-- replaced by interrupt_ids, which reads arrays too
drop function if exists interrupt_id(text, bytea);
