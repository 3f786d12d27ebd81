-- Why the run's stream lacks frames; null: it lacks none, as far as is known.
alter table runs add column stream_incomplete text;

-- The newest checkpoints up to which all frames are there, oldest first: "<checkpoint id>@<number of frames>", separated
-- by spaces. An attempt that goes on from such a checkpoint leaves no gap.
alter table run_streams add column marks text;
