-- The header by which a project's Python code calls its own server was stored in the metadata of runs (see the Postgres
-- migration 0100). The keys are void; their copies go in the background.

-- local only
alter table runs update
  extra = replaceRegexpAll(extra, '("x-heddle-own-code": ?")[^"]*', '\\1'),
  metadata = replaceRegexpAll(metadata, 'x-heddle-own-code\x1F[^\x1E]*', 'x-heddle-own-code\x1F')
where position(extra, 'x-heddle-own-code') > 0 or position(metadata, 'x-heddle-own-code') > 0
settings mutations_sync = 0;
