-- Parts of up to 256 MiB keep all columns in one file. A run has 44 columns, of which a part of the other format opens two
-- or three files each: a run by its key took 14.5 ms, and takes 10.5. Scans of one column take up to a fifth longer;
-- statistics scan the copies in run_facts.

-- local only
alter table runs modify setting min_bytes_for_wide_part = 268435456;
