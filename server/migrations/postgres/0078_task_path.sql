-- The official saver for Python reads this column. It orders the sends of checkpoint formats below 4, which the graph
-- hosts do not write: they leave it empty.
alter table checkpoint_writes add column if not exists task_path text not null default '';
