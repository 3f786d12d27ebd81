-- Fields of resource_spec that never had an effect are refused now. Clients that send the whole object back, with a
-- change, would otherwise be refused because of what is stored.
update deployments d
set source_config = jsonb_set(d.source_config, '{resource_spec}', coalesce((
  select jsonb_object_agg(field.key, field.value) from jsonb_each(d.source_config->'resource_spec') field
  where field.key !~ '^(queue|redis|db|orchestrator|executor)_'), '{}'))
where jsonb_typeof(d.source_config->'resource_spec') = 'object'
  and d.source_config->>'resource_spec' ~ '"(queue|redis|db|orchestrator|executor)_';
