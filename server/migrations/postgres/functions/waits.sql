-- Interrupts that the server answers: `interrupt({"heddle_wait": {"until": time, "signal": name}})` waits for a time, for
-- a signal, or for whichever comes first. A thread's settled interrupts are the source; thread_waits is derived from
-- them by a trigger of `threads`. Locks are taken thread first, as in runs.sql.

-- Returns null for a text that is no time.
create or replace function wait_time(_text text) returns timestamptz language plpgsql stable as $$
begin
  return _text::timestamptz;
exception when others then
  return null;
end $$;

-- Derives the waits of a thread when a run or a state update has changed its interrupts.
create or replace function note_waits() returns trigger language plpgsql as $$
begin
  with wanted as (
    select distinct on (id) i ->> 'id' as id, left(i #>> '{value,heddle_wait,signal}', 100) as signal,
           wait_time(i #>> '{value,heddle_wait,until}') as due
    from jsonb_path_query(new.interrupts, '$.*[*] ? (exists(@.value.heddle_wait) && exists(@.id))') i
  ), gone as (
    delete from thread_waits w where w.thread_id = new.thread_id and w.interrupt_id not in (select id from wanted)
  )
  insert into thread_waits (thread_id, interrupt_id, signal, due_at, ready_at)
  select new.thread_id, id, signal, due,
         case when exists (select 1 from thread_signals s
                           where s.thread_id = new.thread_id and s.name = signal and s.run_id is null)
              then now() else coalesce(due, 'infinity') end
  from wanted where signal is not null or due is not null
  on conflict (thread_id, interrupt_id) do update
  set signal = excluded.signal, due_at = excluded.due_at, ready_at = excluded.ready_at;
  return null;
end $$;

create or replace function drop_waits() returns trigger language plpgsql as $$
begin
  delete from thread_waits where thread_id = old.thread_id;
  delete from thread_signals where thread_id = old.thread_id;
  return null;
end $$;

-- Stores a signal, once per key. outcome: no_thread | exists | full (of signals that no run has taken) | created.
create or replace function add_signal(_thread_id uuid, _name text, _key text, _payload jsonb, _limit integer)
returns text language plpgsql as $$
begin
  perform 1 from threads t where t.thread_id = _thread_id for update;
  if not found then return 'no_thread'; end if;
  update threads t set has_signals = true where t.thread_id = _thread_id and not t.has_signals;
  perform 1 from thread_signals s where s.thread_id = _thread_id and s.name = _name and s.key = _key;
  if found then return 'exists'; end if;
  delete from thread_signals s
  where s.thread_id = _thread_id and s.run_id is not null and s.created_at < now() - interval '24 hours';
  if (select count(*) from thread_signals s where s.thread_id = _thread_id and s.run_id is null) >= _limit then
    return 'full';
  end if;
  insert into thread_signals (thread_id, name, key, payload) values (_thread_id, _name, _key, _payload);
  update thread_waits w set ready_at = now() where w.thread_id = _thread_id and w.signal = _name;
  return 'created';
end $$;

-- Creates the run that ends a wait, in the transaction that takes its signal. The run continues as the thread's last one:
-- the same assistant, configuration and webhook, in the name of its user.
-- outcome: locked | taken (by another server) | busy | answered (the interrupt is not pending) | early (neither the
-- signal nor the time has come, or the run that had ended this wait was cancelled) | that of accept_run.
create or replace function fire_wait(_thread_id uuid, _interrupt_id text, _run_id uuid) returns text language plpgsql as $$
declare
  w record; l record;
  _metadata jsonb; _status text; _interrupt text; _seq bigint; _answer jsonb; _outcome text; _assistant uuid;
  _kwargs jsonb := '{"config": {}, "stream_mode": ["values"], "subgraphs": false, "resumable": false, "durability": "sync"}';
begin
  select t.metadata, t.status into _metadata, _status from threads t where t.thread_id = _thread_id for update skip locked;
  if not found then return 'locked'; end if;
  select s.signal, s.due_at, s.ready_at, s.fired into w from thread_waits s
  where s.thread_id = _thread_id and s.interrupt_id = _interrupt_id for update;
  if not found or w.ready_at > now() then return 'taken'; end if;
  if _status in ('busy', 'error') then
    -- the end of a run makes it ready again, the cancellation of a pending one does not
    update thread_waits s set ready_at = case _status when 'busy' then now() + interval '30 s' else 'infinity' end
    where s.thread_id = _thread_id and s.interrupt_id = _interrupt_id;
    return 'busy';
  end if;
  _interrupt := pending_interrupts(_thread_id, null) ->> _interrupt_id;
  if _interrupt is null then
    delete from thread_waits s where s.thread_id = _thread_id and s.interrupt_id = _interrupt_id;
    return 'answered';
  end if;
  select s.seq, jsonb_build_object('signal', s.name, 'payload', s.payload) into _seq, _answer
  from thread_signals s where s.thread_id = _thread_id and s.name = w.signal and s.run_id is null order by s.seq limit 1;
  if _answer is null and w.due_at <= now() and w.fired is distinct from _interrupt then
    _answer := jsonb_build_object('timer', w.due_at);
  end if;
  update thread_waits s
  set ready_at = case when _answer is null and w.due_at > now() then w.due_at else 'infinity' end,
      fired = case when _answer is null then s.fired else _interrupt end
  where s.thread_id = _thread_id and s.interrupt_id = _interrupt_id;
  if _answer is null then return 'early'; end if;

  select r.assistant_id, r.kwargs into l from runs r where r.thread_id = _thread_id order by r.seq desc limit 1;
  if found then
    _assistant := l.assistant_id;
    _kwargs := l.kwargs - array['input', 'command', 'strict_resume', 'trace', 'feedback_keys', 'feedback_urls',
                                'keep_interrupted', '__idempotency'];
    _kwargs := jsonb_set(_kwargs, '{config,configurable}', coalesce(_kwargs #> '{config,configurable}', '{}')
      - array['checkpoint_id', 'checkpoint_ns', 'checkpoint_map', '__pregel_resuming']);
  else
    _assistant := (_metadata ->> 'assistant_id')::uuid;
  end if;
  _kwargs := _kwargs || jsonb_build_object('input', null, 'temporary', false, 'command',
                                           jsonb_build_object('resume', jsonb_build_object(_interrupt_id, _answer)));
  select a.outcome into _outcome from accept_run(
    _run_id, _thread_id, _assistant, _kwargs,
    jsonb_build_object('heddle_resumed_by', coalesce(_answer ->> 'signal', 'timer')), 'enqueue', false, 0, false,
    null, false, false, true) a;
  if _outcome = 'created' then
    update thread_signals s set run_id = _run_id where s.seq = _seq and s.thread_id = _thread_id;
    perform pg_notify('heddle_queue', '');
  end if;
  return _outcome;
end $$;
