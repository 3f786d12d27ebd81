-- Lists are stored as changes (type "list"): the version that a change is based on, the version of the whole list at the
-- start of its chain, and the number of changes since. Null for a value that is stored whole, as the official saver
-- writes it.
alter table checkpoint_blobs
  add column base text,
  add column chain text,
  add column depth integer;
