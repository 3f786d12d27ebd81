-- A thread whose maker wants it to stay, whatever the project's default is: its time to live is endless.
create or replace function set_thread_expiry() returns trigger language plpgsql as $$
begin
  new.expires_at := case
    when new.ttl_minutes < 'Infinity' then new.updated_at + make_interval(secs => new.ttl_minutes * 60)
  end;
  return new;
end $$;
