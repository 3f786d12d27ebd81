-- When the key that encrypted a data key was replaced: values are to be encrypted with a younger data key
-- (`heddle encryption reencrypt`), because someone with the earlier key may have read this one.
alter table state_keys add column replaced_at timestamptz;
