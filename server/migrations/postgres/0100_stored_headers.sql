-- locks: rows
-- Requests of a project's Python code carry a header by which its own server admits them. It was stored with the runs
-- that they created, like other `x-*` headers. The key in it is void when that server ends; here its copies go too, with
-- other headers of Heddle's own, and the user objects of custom authentication in checkpoints' metadata.
--
-- Threads before runs, as everywhere. Servers of the earlier version are still running: nothing else is locked.

create function pg_temp.cleared(_configurable jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(key, value) filter (where key not like 'x-heddle-%'), '{}') from jsonb_each(_configurable)
$$;

-- Removes the headers from `configurable` of the object at _path, where they are.
create function pg_temp.without_headers(_value jsonb, _path text[]) returns jsonb language sql immutable as $$
  select jsonb_set(_value, _path, pg_temp.cleared(_value #> _path))
$$;

create function pg_temp.has_headers(_value jsonb, _path text[]) returns boolean language sql immutable as $$
  select jsonb_typeof(_value #> _path) = 'object' and (_value #> _path)::text like '%"x-heddle-%'
$$;

update threads set config = pg_temp.without_headers(config, '{configurable}')
where pg_temp.has_headers(config, '{configurable}');
update runs set kwargs = pg_temp.without_headers(kwargs, '{config,configurable}')
where pg_temp.has_headers(kwargs, '{config,configurable}');
update crons set payload = pg_temp.without_headers(payload, '{config,configurable}')
where pg_temp.has_headers(payload, '{config,configurable}');
update idempotency_keys set run = pg_temp.without_headers(run, '{kwargs,config,configurable}')
where pg_temp.has_headers(run, '{kwargs,config,configurable}');
update webhook_deliveries set run_kwargs = pg_temp.without_headers(run_kwargs, '{config,configurable}')
where pg_temp.has_headers(run_kwargs, '{config,configurable}');
-- a client may have copied them from a thread
update assistants set config = pg_temp.without_headers(config, '{configurable}')
where pg_temp.has_headers(config, '{configurable}');
update assistant_versions set config = pg_temp.without_headers(config, '{configurable}')
where pg_temp.has_headers(config, '{configurable}');
update checkpoints set metadata = pg_temp.cleared(metadata) - 'langgraph_auth_user'
where metadata ?| array['langgraph_auth_user', 'x-heddle-own-code', 'x-heddle-csrf'];

-- Texts, some of them with JSON inside JSON; marks of frames count their characters.
create function pg_temp.masked(_text text) returns text language sql immutable as $$
  select regexp_replace(_text, '(x-heddle-own-code\\*" ?: ?\\*")[A-Za-z0-9_-]{43}', '\1' || repeat('*', 43), 'g')
$$;

update run_stream_segments set frames = pg_temp.masked(frames) where frames like '%x-heddle-own-code%';
update protocol_events set bodies = pg_temp.masked(bodies) where bodies like '%x-heddle-own-code%';
update webhook_deliveries set payload = pg_temp.masked(payload) where payload like '%x-heddle-own-code%';
update waiting_pieces set piece = pg_temp.masked(piece) where piece like '%x-heddle-own-code%';
update dataset_examples set inputs = pg_temp.masked(inputs::text)::json where inputs::text like '%x-heddle-own-code%';
update dataset_examples set outputs = pg_temp.masked(outputs::text)::json where outputs::text like '%x-heddle-own-code%';
update dataset_examples set metadata = pg_temp.masked(metadata::text)::jsonb
where metadata::text like '%x-heddle-own-code%';
