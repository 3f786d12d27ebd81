-- Which fields of a run an update has set (bits of trace/ingest/patched-fields.ts), so that a create which comes later,
-- even after a restart, does not take them back. Bits of pieces are joined when they merge.
alter table runs add column if not exists patched SimpleAggregateFunction(groupBitOr, UInt32) default 0;
