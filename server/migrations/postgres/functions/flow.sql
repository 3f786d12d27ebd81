-- Flow control of runs: concurrency, rates, priority and fairness by key (docs/flow-control.md).
--
-- A run of a graph with rules gets its keys and limits when it is created, in runs.flow. Runs with the same keys form a
-- lane, in which the oldest is first, a scheduled one by the time it became due. A claim takes runs from the lanes in the
-- order of (rank, virtual time, head), an index; each rank, a class of priority, has a virtual time of its own. A lane whose head is beyond a limit is blocked on that key and leaves the index until the key is freed, so a
-- claim costs the same however many runs wait.
--
-- Claims are serialized by the row of run_queue_clock. All other writers only insert events and delete their own slots;
-- they wait for no claim, and a claim waits for none of them: it skips locked threads.

-- The value of a key such as "metadata.customer" in a run's document, with its name; null where the run has none.
create or replace function queue_key(_key text, _document jsonb) returns text language sql immutable as $$
  select case when length(v) > 200 then _key || '=#' || md5(v) else _key || '=' || v end
  from (select _document #>> string_to_array(_key, '.') as v) k
$$;

-- A run's keys and limits from the rules of its graph. "config.heddle.queue" of the run or its assistant names its class
-- and its time to expiry.
create or replace function run_flow(
  _rules jsonb, _merged jsonb, _metadata jsonb, _graph text, _assistant uuid
) returns jsonb language plpgsql stable as $$
declare
  _own jsonb := _merged #> '{config,heddle,queue}';
  _document jsonb := jsonb_build_object(
    'all', '', 'graph', _graph, 'assistant', _assistant, 'metadata', _metadata, 'context', _merged -> 'context',
    'config', _merged -> 'config',
    'auth', jsonb_build_object('identity', _merged #> '{config,configurable,langgraph_auth_user_id}'));
  _classes jsonb := coalesce(_rules -> 'priority', '[]');
  _rank integer;
  _flow jsonb;
begin
  select (n - 1)::integer into _rank from jsonb_array_elements(_classes) with ordinality c(class, n)
  where class ->> 'name' = _own ->> 'priority'
     or _own ->> 'priority' is null and class ? 'match'
        and not exists (select 1 from jsonb_each_text(class -> 'match') m
                        where (_document #>> string_to_array(m.key, '.')) is distinct from m.value)
     or class ->> 'name' = 'default'
  order by class ->> 'name' = _own ->> 'priority' desc nulls last, class ? 'match' desc, n limit 1;
  _flow := jsonb_build_object(
    'rank', coalesce(_rank, greatest(jsonb_array_length(_classes) - 1, 0)),
    'ageing', coalesce((_rules ->> 'ageing')::double precision, 60),
    'fair', case when _rules ->> 'fair' is not null then coalesce(queue_key(_rules ->> 'fair', _document), '') end,
    'slots', (select jsonb_agg(jsonb_build_array('concurrency ' || k, l) order by k)
              from (select queue_key(c ->> 'key', _document) as k, min((c ->> 'limit')::integer) as l
                    from jsonb_array_elements(_rules -> 'concurrency') c group by 1) s where k is not null),
    'rates', (select jsonb_agg(jsonb_build_array(
                'throttle ' || k || ' ' || (c ->> 'limit') || '/' || (c ->> 'period') || '/' || (c ->> 'burst'),
                (c ->> 'period')::float8 / (c ->> 'limit')::float8,
                (c ->> 'period')::float8 / (c ->> 'limit')::float8 * ((c ->> 'burst')::float8 - 1)) order by k)
              from jsonb_array_elements(_rules -> 'throttle') c, queue_key(c ->> 'key', _document) k where k is not null));
  _flow := jsonb_strip_nulls(_flow);
  _flow := _flow || jsonb_build_object('lane', md5(_graph || _flow));
  return _flow || jsonb_strip_nulls(jsonb_build_object(
    'waiting', (select jsonb_agg(jsonb_build_array('waiting ' || k, l))
                from (select queue_key(c ->> 'key', _document) as k, min((c ->> 'limit')::integer) as l
                      from jsonb_array_elements(_rules -> 'waiting') c group by 1) s where k is not null),
    'expires_after', coalesce(nullif(_own -> 'expires_after', 'null'), _rules -> 'expires_after')));
end $$;

-- The first of a run's keys of which as many runs wait as it permits: {"key", "limit"}, or null. _replaced: runs of which
-- it takes the place, which do not count. Costs at most the limit.
create or replace function full_waiting_key(_flow jsonb, _replaced uuid[]) returns jsonb language sql stable as $$
  select jsonb_build_object('key', substr(w ->> 0, 9), 'limit', w -> 1)
  from jsonb_array_elements(_flow -> 'waiting') w
  where (select count(*) from (select 1 from run_slots s where s.key = w ->> 0 and s.run_id <> all (_replaced)
                              limit (w ->> 1)::integer) n) >= (w ->> 1)::integer
  limit 1
$$;

-- Serializes the creations of runs with a waiting key until their transactions end, so that the count that the caller
-- takes next is exact. False: the caller's transaction has other keys already, and to wait for this one could deadlock.
-- Nothing that holds a key waits for a thread, so that only the order of the keys matters.
create or replace function hold_waiting_keys(_flow jsonb) returns boolean language plpgsql as $$
declare
  _key bigint;
  _last bigint := nullif(current_setting('heddle.waiting_key', true), '')::bigint;
begin
  for _key in select hashtextextended(w ->> 0, 360) from jsonb_array_elements(_flow -> 'waiting') w order by 1 loop
    if _last is null or _key > _last then
      perform pg_advisory_xact_lock(_key);
      perform set_config('heddle.waiting_key', _key::text, true);
    elsif not pg_try_advisory_xact_lock(_key) then
      return false;
    end if;
  end loop;
  return true;
end $$;

-- Ends the debounced runs of a thread that have not begun, whose place a newer one takes. Returns the time of the first of
-- them, and the seconds for which the newer one waits. The caller holds the thread's lock.
create or replace function debounce_run(_thread_id uuid, _now timestamptz, _rule jsonb)
returns table (replaced uuid[], since double precision, after double precision) language plpgsql as $$
begin
  with old as (
    update runs r set status = 'interrupted', updated_at = now(), ended_at = now(), cancel_reason = 'a newer run took its place (debounce)'
    where r.thread_id = _thread_id and r.status = 'pending' and r.attempt = 0 and r.flow ? 'debounced_since'
    returning r.run_id, (r.flow ->> 'debounced_since')::float8 as first
  )
  select coalesce(array_agg(run_id), '{}'), coalesce(min(first), extract(epoch from _now)) into replaced, since from old;
  after := greatest(0, least((_rule ->> 'seconds')::float8, since + (_rule ->> 'longest')::float8 - extract(epoch from _now)));
  return next;
end $$;

-- Notes what the next claim has to know of a run that was created, began, ended, was returned or was deleted. It gives up
-- the run's slots in the transaction that ends it, so that they are released exactly once.
create or replace function note_flow_change() returns trigger language plpgsql as $$
declare
  _freed text[];
begin
  if tg_op = 'INSERT' then
    if new.status = 'pending' then
      insert into run_queue_events (thread_id, due_at)
      values (new.thread_id, case when new.available_at > new.created_at then new.available_at else '-infinity' end);
      insert into run_slots (key, run_id)
      select w ->> 0, new.run_id from jsonb_array_elements(new.flow -> 'waiting') w;
      if new.flow ? 'expires_after' then
        insert into run_queue_events (thread_id, expires, due_at)
        values (new.thread_id, new.run_id, new.available_at + make_interval(secs => (new.flow ->> 'expires_after')::float8));
      end if;
    end if;
    return null;
  end if;
  if old.flow is null then
    -- of another kind than the runs behind it
    if exists (select 1 from runs r where r.thread_id = old.thread_id and r.status = 'pending' and r.flow is not null) then
      insert into run_queue_events (thread_id) values (old.thread_id);
    end if;
    return null;
  end if;
  if old.status not in ('pending', 'running') then return null; end if;
  if old.flow ? 'slots' or old.flow ? 'waiting' then
    with gone as (delete from run_slots s where s.run_id = old.run_id and s.key like case old.status when 'pending' then 'waiting %' else 'concurrency %' end
                  returning key)
    select array_agg(key) into _freed from gone where old.status = 'running';
  end if;
  if tg_op = 'UPDATE' and new.status = 'running' then return null; end if;
  insert into run_queue_events (thread_id, freed) values (old.thread_id, _freed);
  if tg_op = 'UPDATE' and new.status = 'pending' and new.available_at > now() then
    insert into run_queue_events (thread_id, due_at) values (old.thread_id, new.available_at);
  end if;
  -- runs of other threads may wait for the slot
  if _freed is not null and exists (select 1 from run_lanes l where l.state <> 'empty') then
    perform pg_notify('heddle_queue', '');
  end if;
  return null;
end $$;

-- The class in which a run counts after ageing. _since: when it became due, or was created.
create or replace function aged_rank(_flow jsonb, _since timestamptz) returns integer language sql stable as $$
  select case when (_flow ->> 'rank')::integer = 0 or (_flow ->> 'ageing')::float8 = 0 then (_flow ->> 'rank')::integer
    else greatest(0, (_flow ->> 'rank')::float8
                     - greatest(0, floor(extract(epoch from now() - _since) / (_flow ->> 'ageing')::float8)))::integer end
$$;

-- The time at which a run of a rank counts as one class higher; null: never.
create or replace function promoted_at(_flow jsonb, _rank integer, _since timestamptz) returns timestamptz language sql stable as $$
  select case when _rank > 0 and (_flow ->> 'ageing')::float8 > 0
    then _since + make_interval(secs => (_flow ->> 'ageing')::float8 * ((_flow ->> 'rank')::integer - _rank + 1)) end
$$;

-- The run of a thread that may begin, if the thread is free: the oldest one that is due. A retry blocks those behind it
-- during its pause.
create or replace function next_of_thread(_thread_id uuid) returns table (run_id uuid, seq bigint, since timestamptz, flow jsonb)
language sql stable as $$
  select h.run_id, h.seq, coalesce((h.flow ->> 'due')::timestamptz, h.created_at), h.flow
  from threads t cross join lateral (
    select r.* from runs r
    where r.thread_id = t.thread_id and r.status = 'pending' and (r.available_at <= greatest(now(), r.created_at) or r.attempt > 0)
    order by r.seq limit 1
  ) h
  where t.thread_id = _thread_id and t.running_run_id is null
    and (h.available_at <= greatest(now(), h.created_at) or h.available_at > now() + interval '5 s')
$$;

-- Writes lanes from their oldest ready runs. A lane that gets its first run begins at its class's virtual time, so that
-- it has neither credit for the time without runs nor debt from before; one that comes from another class a turn later,
-- so that it gains nothing by going back and forth.
create or replace function place_lanes(_lanes text[], _vtimes double precision[]) returns void language plpgsql as $$
begin
  insert into run_lanes as l (lane, graph_id, flow, fair, state, rank, promote_at, vtime, head_since, head_seq)
  select h.lane, coalesce(a.graph_id, ''), h.flow - array['waiting', 'expires_after', 'debounced_since', 'due'],
         p.fair, 'ready', p.rank, promoted_at(h.flow, p.rank, h.since),
         case when p.fair is null then 0 else greatest(_vtimes[p.rank + 1], f.vtime) end, h.since, h.seq
  from (
    select n.lane, r.flow, y.since, r.seq, r.assistant_id
    from unnest(_lanes) n(lane)
    cross join lateral (select y.run_id, y.since from run_ready y where y.lane = n.lane order by y.since, y.seq limit 1) y
    join runs r on r.run_id = y.run_id
  ) h
  left join assistants a on a.assistant_id = h.assistant_id
  -- runs without the key share by lane
  cross join lateral (select aged_rank(h.flow, h.since) as rank,
                             case when h.flow ? 'fair' then coalesce(nullif(h.flow ->> 'fair', ''), h.lane) end as fair) p
  left join lateral (select max(o.vtime) as vtime from run_lanes o where o.fair = p.fair and o.rank = p.rank) f on true
  on conflict (lane) do update set
    state = case l.state when 'blocked' then 'blocked' else 'ready' end,
    rank = excluded.rank, promote_at = excluded.promote_at, head_since = excluded.head_since, head_seq = excluded.head_seq,
    vtime = case when l.fair is null then 0
                 when l.rank <> excluded.rank then _vtimes[excluded.rank + 1] + 1
                 when l.state = 'empty' then excluded.vtime else l.vtime end;
  update run_lanes l set state = 'empty', blocked_on = null, promote_at = null
  where l.lane = any (_lanes) and l.state <> 'empty' and not exists (select 1 from run_ready y where y.lane = l.lane);
end $$;

-- Ends runs that did not begin in time, if nothing else is changing their threads.
create or replace function expire_runs(_expired uuid[]) returns void language plpgsql as $$
declare
  e record;
begin
  for e in
    select r.run_id, r.thread_id, r.flow from runs r
    where r.run_id = any (_expired) and r.status = 'pending' and r.attempt = 0 order by r.seq
  loop
    perform 1 from threads t where t.thread_id = e.thread_id for update skip locked;
    if not found then
      insert into run_queue_events (thread_id, expires, due_at) values (e.thread_id, e.run_id, now() + interval '1 s');
    else
      perform cancel_run(e.run_id, e.thread_id, 'interrupt',
                         format('The run did not begin within %s s (expires_after).', e.flow ->> 'expires_after'));
    end if;
  end loop;
end $$;

-- Takes in what has happened to the queue, in sets. Returns the freed keys. The caller holds the clock's row.
create or replace function take_queue_events(_vtimes double precision[]) returns text[] language plpgsql as $$
declare
  _threads uuid[]; _freed text[]; _expired uuid[]; _lanes text[]; _count integer;
begin
  with gone as (
    -- an array, which is read once: a join would read the index, with its dead entries, for each event
    delete from run_queue_events where id = any (array(
      select e.id from run_queue_events e where e.due_at <= now() order by e.due_at, e.id limit 500))
    returning thread_id, freed, expires
  )
  select count(*), array_agg(distinct thread_id), array_agg(expires) filter (where expires is not null),
         (select array_agg(distinct f) from gone g cross join unnest(g.freed) f)
  into _count, _threads, _expired, _freed from gone;
  if _expired is not null then perform expire_runs(_expired); end if;
  if _threads is not null then
    with gone as (delete from run_ready y where y.thread_id = any (_threads) returning y.lane)
    select array_agg(distinct lane) into _lanes from gone;
    with come as (
      insert into run_ready (thread_id, run_id, lane, since, seq)
      select x.thread_id, n.run_id, n.flow ->> 'lane', n.since, n.seq
      from unnest(_threads) x(thread_id) cross join lateral next_of_thread(x.thread_id) n
      where n.flow is not null
      returning lane
    )
    select array_agg(distinct l) into _lanes from (select unnest(_lanes) union select lane from come) u(l);
    if _lanes is not null then perform place_lanes(_lanes, _vtimes); end if;
    -- lanes without runs, or in a lower class, in which a held key could wait behind the classes above
    with idle as (
      update run_lanes l set passed = 0
      where l.passed > 0 and l.lane = any (_lanes) and (l.state = 'empty' or l.rank > 0) returning l.lane
    ), gone as (delete from run_slots s using idle i where s.run_id = i.lane::uuid returning s.key)
    select _freed || array_agg(key) into _freed from gone;
  end if;
  if _freed is not null then
    update run_rates set wake_at = null where key = any (_freed) and wake_at is not null;
  end if;
  -- without credit for its time in the lower class
  update run_lanes l
  set rank = l.rank - p.classes, vtime = case when l.fair is null then 0 else _vtimes[l.rank - p.classes + 1] + 1 end,
      promote_at = case when l.rank > p.classes
                        then l.promote_at + make_interval(secs => (l.flow ->> 'ageing')::float8 * p.classes) end
  from (
    -- several where no claim came for longer than a class takes
    select o.lane, least(o.rank, 1 + floor(extract(epoch from now() - o.promote_at) / (o.flow ->> 'ageing')::float8))::integer as classes
    from run_lanes o where o.promote_at <= now() order by o.promote_at limit 200
  ) p
  where l.lane = p.lane;
  delete from run_lanes where lane in (
    select e.lane from unnest(_vtimes) with ordinality c(vtime, n) cross join lateral (
      select o.lane from run_lanes o where o.state = 'empty' and o.rank = c.n - 1 and o.vtime <= c.vtime limit 50) e limit 50);
  delete from run_rates where key in (select r.key from run_rates r where r.tat < now() - interval '1 h' order by r.tat limit 50);
  if _count = 500 then perform pg_notify('heddle_queue', ''); end if;
  return coalesce(_freed, '{}');
end $$;

-- The key that keeps a lane's next run from starting, or null. A rate's key gets an event at the time when it permits
-- another run.
create or replace function blocking_key(_flow jsonb, _now timestamptz) returns text language plpgsql as $$
declare
  s jsonb;
  _free timestamptz;
begin
  for s in select jsonb_array_elements(_flow -> 'slots') loop
    if (select count(*) from (select 1 from run_slots n where n.key = s ->> 0 limit (s ->> 1)::integer) n) >= (s ->> 1)::integer then
      return s ->> 0;
    end if;
  end loop;
  for s in select jsonb_array_elements(_flow -> 'rates') loop
    select r.tat - make_interval(secs => (s ->> 2)::float8) into _free from run_rates r where r.key = s ->> 0;
    -- later than a limiter can be: the database's clock was set back
    if _free > _now and _free <= _now + make_interval(secs => (s ->> 1)::float8) then
      update run_rates set wake_at = _free where key = s ->> 0 and wake_at is null;
      if found then
        insert into run_queue_events (thread_id, freed, due_at)
        values ('00000000-0000-0000-0000-000000000000', array[s ->> 0], _free);
      end if;
      return s ->> 0;
    end if;
  end loop;
  return null;
end $$;

-- Takes for a lane of the highest class, which has been passed over, all keys of concurrency up to the first one that is
-- full, and returns that one, or the rate that permits no start, or null if the lane may start. The slots that it holds
-- have the lane as their run. Keys are taken and held in one order, so that lanes which wait for each other form no circle.
create or replace function reserve_keys(_lane text, _flow jsonb, _now timestamptz) returns text language plpgsql as $$
declare
  s jsonb;
  _key text;
  _freed text[];
begin
  for s in select e from jsonb_array_elements(_flow -> 'slots') e order by (e ->> 0) collate "C" loop
    _key := s ->> 0;
    if (select count(*) from (select 1 from run_slots n where n.key = _key and n.run_id <> _lane::uuid limit (s ->> 1)::integer) n)
       >= (s ->> 1)::integer then
      -- a run with a higher limit of the key has begun since
      with gone as (delete from run_slots n where n.run_id = _lane::uuid and n.key collate "C" >= _key returning key)
      select array_agg(key) into _freed from gone;
      if _freed is not null then
        insert into run_queue_events (thread_id, freed) values ('00000000-0000-0000-0000-000000000000', _freed);
      end if;
      return _key;
    end if;
    insert into run_slots (key, run_id) values (_key, _lane::uuid) on conflict do nothing;
  end loop;
  return blocking_key(_flow - 'slots', _now);
end $$;

-- Whether a lane may hold keys while it waits for another one: not while it waits for several rates, which no lane can
-- hold, so that it might never start.
create or replace function may_reserve(_flow jsonb) returns boolean language sql immutable as $$
  select _flow ? 'slots' and coalesce(jsonb_array_length(_flow -> 'rates'), 0) <= 1
         and jsonb_array_length(_flow -> 'slots') + coalesce(jsonb_array_length(_flow -> 'rates'), 0) > 1
$$;

-- Chooses up to _limit runs with flow for a server and takes their slots. The caller starts them in the same transaction.
create or replace function choose_from_lanes(_server uuid, _limit integer) returns uuid[] language plpgsql as $$
declare
  _vtimes double precision[];
  _rank integer;
  _now timestamptz;
  _open text[];
  _full text[] := '{}';
  _skipped text[] := '{}';
  _chosen uuid[] := '{}';
  _graphs text[];
  _key text;
  _tries integer := 0;
  l record; r record; h record;
begin
  select c.vtimes into _vtimes from run_queue_clock c for update;
  _now := clock_timestamp();
  _open := take_queue_events(_vtimes);
  select m.graphs into _graphs from servers m where m.server_id = _server;
  if not found then
    _limit := 0;
  end if;
  while cardinality(_chosen) < _limit and _tries < 300 loop
    _tries := _tries + 1;
    -- the first lane that is ready, or that a freed key may have unblocked
    select c.* into l from (
      (select n.lane, n.flow, n.fair, n.rank, n.vtime, n.head_since, n.head_seq, n.blocked_on, n.passed from run_lanes n
       where n.state = 'ready' and n.lane <> all (_skipped)
         and (_graphs is null or n.graph_id = any (_graphs)
              or not exists (select 1 from servers v where v.server_id <> _server and n.graph_id = any (v.graphs)))
       order by n.rank, n.vtime, n.head_since, n.head_seq limit 1)
      union all
      (select b.* from unnest(_open) k(key) cross join lateral (
         select n.lane, n.flow, n.fair, n.rank, n.vtime, n.head_since, n.head_seq, n.blocked_on, n.passed from run_lanes n
         where n.state = 'blocked' and n.blocked_on = k.key and n.lane <> all (_skipped)
           and (_graphs is null or n.graph_id = any (_graphs)
                or not exists (select 1 from servers v where v.server_id <> _server and n.graph_id = any (v.graphs)))
         order by n.rank, n.vtime, n.head_since, n.head_seq limit 1) b)
    ) c order by c.rank, c.vtime, c.head_since, c.head_seq limit 1;
    exit when not found;
    _key := null;
    if l.passed > 1 then
      _key := reserve_keys(l.lane, l.flow, _now);
    elsif cardinality(_full) > 0 then
      select k ->> 0 into _key
      from jsonb_array_elements(coalesce(l.flow -> 'slots', '[]') || coalesce(l.flow -> 'rates', '[]')) k
      where k ->> 0 = any (_full) limit 1;
    end if;
    if _key is null and l.passed < 2 then _key := blocking_key(l.flow, _now); end if;
    if _key is not null then
      _full := _full || _key;
      _open := array_remove(_open, _key);
      update run_lanes
      set state = 'blocked', blocked_on = _key,
          passed = case when l.rank = 0 and l.blocked_on is not null and may_reserve(l.flow) then l.passed + 1 else l.passed end
      where lane = l.lane and blocked_on is distinct from _key;
      continue;
    end if;
    select k.run_id, k.thread_id into r
    from (select y.run_id from run_ready y where y.lane = l.lane order by y.since, y.seq limit 8) y
    cross join lateral (
      select x.run_id, x.thread_id from runs x join threads t on t.thread_id = x.thread_id
      where x.run_id = y.run_id and x.status = 'pending' and t.running_run_id is null
        and not exists (select 1 from runs e where e.thread_id = x.thread_id and e.seq < x.seq and e.status = 'pending'
                        and (e.available_at <= greatest(now(), e.created_at) or e.attempt > 0))
        and (x.available_at <= greatest(now(), x.created_at) or x.attempt > 0 and x.available_at > now() + interval '5 s')
      for update of x, t skip locked
    ) k
    limit 1;
    if not found then
      -- their threads are locked, or have changed: the next claims look again
      insert into run_queue_events (thread_id, due_at)
      select y.thread_id, now() + interval '50 ms' from run_ready y where y.lane = l.lane order by y.since, y.seq limit 8;
      if l.passed > 1 then
        -- it holds the key that it waited for, which nothing else frees
        insert into run_queue_events (thread_id, freed, due_at)
        values ('00000000-0000-0000-0000-000000000000', array[l.blocked_on], now() + interval '50 ms');
      end if;
      _skipped := _skipped || l.lane;
      continue;
    end if;
    _chosen := _chosen || r.run_id;
    if l.passed > 1 then delete from run_slots where run_id = l.lane::uuid; end if;
    insert into run_slots (key, run_id)
    select s ->> 0, r.run_id from jsonb_array_elements(l.flow -> 'slots') s;
    insert into run_rates (key, tat)
    select s ->> 0, greatest(g.tat, _now) + make_interval(secs => (s ->> 1)::float8)
    from jsonb_array_elements(l.flow -> 'rates') s
    left join run_rates g on g.key = s ->> 0 and g.tat <= _now + make_interval(secs => (s ->> 2)::float8)
    on conflict (key) do update set tat = excluded.tat;
    delete from run_ready y where y.thread_id = r.thread_id;
    if l.fair is not null then
      -- without credit for its time beyond a limit or without a server
      l.vtime := greatest(l.vtime, _vtimes[l.rank + 1]);
      _vtimes[l.rank + 1] := l.vtime;
      -- the longest waiting lane of the value whose turn this one takes, for it has no room, keeps its place
      update run_lanes set vtime = l.vtime + 1
      where fair = l.fair and rank = l.rank and lane <> l.lane and lane is distinct from (
        select b.lane from run_lanes b
        where b.fair = l.fair and b.rank = l.rank and b.state = 'blocked' and b.lane <> l.lane
          and (b.head_since, b.head_seq) < (l.head_since, l.head_seq)
        order by b.head_since, b.head_seq limit 1);
      l.vtime := l.vtime + 1;
    end if;
    -- the lane's next run, as place_lanes writes it
    select y.since, y.seq into h from run_ready y where y.lane = l.lane order by y.since, y.seq limit 1;
    _rank := case when h.seq is null then l.rank else aged_rank(l.flow, h.since) end;
    update run_lanes
    set state = case when h.seq is null then 'empty' else 'ready' end, blocked_on = null, passed = 0, rank = _rank,
        vtime = case when fair is null or _rank = l.rank then l.vtime else _vtimes[_rank + 1] + 1 end,
        promote_at = promoted_at(l.flow, _rank, h.since),
        head_since = coalesce(h.since, head_since), head_seq = coalesce(h.seq, head_seq)
    where lane = l.lane;
  end loop;
  -- keys that may permit more than this claim has taken
  insert into run_queue_events (thread_id, freed)
  select '00000000-0000-0000-0000-000000000000', array[k] from unnest(_open) k
  where exists (select 1 from run_lanes n where n.state = 'blocked' and n.blocked_on = k);
  if _tries = 300 then perform pg_notify('heddle_queue', ''); end if;
  if cardinality(_chosen) > 0 then update run_queue_clock set vtimes = _vtimes; end if;
  return _chosen;
end $$;
