-- Lists are stored as changes (type "list"): the version that a change is based on, the version of the whole list at the
-- start of its chain, and the number of changes since. Null for a value that is stored whole, as the official saver
-- writes it.
alter table checkpoint_blobs
  add column base text,
  add column chain text,
  add column depth integer;

-- How far the sweep that stores lists of earlier versions as changes has come, in order of thread.
create table list_rewrites (
  only_row boolean primary key default true check (only_row),
  after text not null default '',
  done boolean not null default false
);
insert into list_rewrites default values;

-- Whether the server's graph hosts read lists that are stored as changes. While one does not, all store lists whole.
alter table servers add column reads_changes boolean not null default false;
