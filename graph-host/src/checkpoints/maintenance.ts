/** Statements of the saver's methods that copy, prune and delete checkpoints. */
import type postgres from "postgres";

import type { CheckpointChange } from "../../../host-kit/src/host-protocol.ts";
import { textArray } from "./array-literal.ts";

const DELETE_THREADS = `
with c as (delete from checkpoints where thread_id = any($1::text[])),
     b as (delete from checkpoint_blobs where thread_id = any($1::text[]))
delete from checkpoint_writes where thread_id = any($1::text[])`;

const COPY_THREAD = `
with b as (
  insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob, base, chain, depth)
  select $2::text, checkpoint_ns, channel, version, type, blob, base, chain, depth
  from checkpoint_blobs where thread_id = $1::text
  on conflict do nothing
), w as (
  insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select $2::text, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob
  from checkpoint_writes where thread_id = $1::text
  on conflict do nothing
)
insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
select $2::text, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
       case when metadata ? 'thread_id' then metadata || jsonb_build_object('thread_id', $2::text) else metadata end
from checkpoints where thread_id = $1::text
on conflict do nothing`;

/** Keeps the newest checkpoint of each namespace, and the ancestors that hold its channels' changes since a snapshot. */
const KEEP_LATEST = `
with recursive newest as (
  select distinct on (thread_id, checkpoint_ns) thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
         metadata ? 'counters_since_delta_snapshot' as delta
  from checkpoints where thread_id = any($1::text[])
  order by thread_id, checkpoint_ns, checkpoint_id desc
), kept as (
  select * from newest
  union
  select c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, k.delta
  from kept k join checkpoints c on k.delta and c.thread_id = k.thread_id
    and c.checkpoint_ns = k.checkpoint_ns and c.checkpoint_id = k.parent_checkpoint_id
), dropped as (
  delete from checkpoints c
  where c.thread_id = any($1::text[])
    and not exists (select 1 from kept k where k.thread_id = c.thread_id and k.checkpoint_ns = c.checkpoint_ns
                    and k.checkpoint_id = c.checkpoint_id)
  returning thread_id, checkpoint_ns, checkpoint_id
)
delete from checkpoint_writes w using dropped d
where w.thread_id = d.thread_id and w.checkpoint_ns = d.checkpoint_ns and w.checkpoint_id = d.checkpoint_id`;

const DELETE_RUNS = `
with dropped as (
  delete from checkpoints where metadata ->> 'run_id' = any($1::text[])
  returning thread_id, checkpoint_ns, checkpoint_id
), writes as (
  delete from checkpoint_writes w using dropped d
  where w.thread_id = d.thread_id and w.checkpoint_ns = d.checkpoint_ns and w.checkpoint_id = d.checkpoint_id
)
select distinct thread_id from dropped`;

const DETACH = `
update checkpoints c set parent_checkpoint_id = null
where c.thread_id = any($1::text[]) and c.parent_checkpoint_id is not null
  and not exists (select 1 from checkpoints p where p.thread_id = c.thread_id and p.checkpoint_ns = c.checkpoint_ns
                  and p.checkpoint_id = c.parent_checkpoint_id)`;

const UNUSED_BLOBS = "select delete_unused_blobs(id)::text from unnest($1::text[]) as id";

const ids = (names: string[]): string => textArray(names, (name) => name);

export async function changeCheckpoints(sql: postgres.Sql, change: CheckpointChange): Promise<void> {
  switch (change.op) {
    case "delete_threads":
      await sql.unsafe(DELETE_THREADS, [ids(change.thread_ids)]);
      return;
    case "copy_thread":
      await sql.unsafe(COPY_THREAD, [change.source, change.target]);
      return;
    case "keep_latest":
      for (const statement of [KEEP_LATEST, DETACH, UNUSED_BLOBS])
        await sql.unsafe(statement, [ids(change.thread_ids)]);
      return;
    case "delete_runs": {
      const threads = await sql.unsafe<{ thread_id: string }[]>(DELETE_RUNS, [ids(change.run_ids)]);
      if (threads.length > 0) await sql.unsafe(UNUSED_BLOBS, [ids(threads.map(({ thread_id }) => thread_id))]);
      return;
    }
    default:
      change satisfies never;
      throw new TypeError(`unknown change of checkpoints "${(change as { op: string }).op}"`);
  }
}
