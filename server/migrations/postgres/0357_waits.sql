-- Waits of threads (functions/waits.sql): interrupts that a timer or a signal answers.
create table thread_waits (
  thread_id uuid not null,
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
  thread_id uuid not null,
  name text not null,
  key text not null,
  payload jsonb,
  seq bigint generated always as identity,
  created_at timestamptz not null default now(),
  -- run that it resumes
  run_id uuid,
  primary key (thread_id, name, key)
);

alter table threads add column has_signals boolean not null default false;

-- Foreign keys would look up both tables for each thread that is deleted.
create function note_waits() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger waits_of_settled_thread after update of interrupts on threads for each row
  when (new.interrupts::text like '%"heddle_wait"%' or old.interrupts::text like '%"heddle_wait"%')
  execute function note_waits();
create function drop_waits() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger waits_of_deleted_thread after delete on threads for each row
  when (old.has_signals or old.interrupts::text like '%"heddle_wait"%')
  execute function drop_waits();
