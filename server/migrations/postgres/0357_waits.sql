-- Waits of threads (functions/waits.sql): interrupts that a timer or a signal answers.
create table thread_waits (
  thread_id uuid not null references threads on delete cascade,
  interrupt_id text not null,
  signal text,
  due_at timestamptz,
  -- when fire_wait may have something to do
  ready_at timestamptz not null,
  -- fingerprint of the interrupt for which a run was created
  fired text,
  primary key (thread_id, interrupt_id)
);
create index thread_waits_ready on thread_waits (ready_at);

create table thread_signals (
  thread_id uuid not null references threads on delete cascade,
  name text not null,
  key text not null,
  payload jsonb,
  seq bigint generated always as identity,
  created_at timestamptz not null default now(),
  -- run that it resumes
  run_id uuid,
  primary key (thread_id, name, key)
);

create function note_waits() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger waits_of_settled_thread after update of interrupts, running_run_id on threads for each row
  when (new.running_run_id is null
        and (new.interrupts::text like '%"heddle_wait"%' or old.interrupts::text like '%"heddle_wait"%'))
  execute function note_waits();
