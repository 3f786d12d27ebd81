import type postgres from "postgres";

import { textArray } from "./array-literal.ts";
import type { StateCipher } from "../../../host-kit/src/state-cipher.ts";
import { openWriteValue } from "./sealed-rows.ts";
import { LIST_TYPE, MSGPACK_CHANGE } from "../../../host-kit/src/list-value.ts";
import {
  asBytes,
  asText,
  byTaskAndIndex,
  readCheckpoints,
  type StoredChannel,
  type StoredValue,
  type StoredWrite,
  withLargeValues,
} from "./read-statement.ts";

/** Writes of a checkpoint's ancestors to one channel since the nearest ancestor that holds its value. */
export interface StoredHistory {
  /** Ordered by checkpoint, oldest first, then by task and index. */
  writes: StoredWrite[];
  seed: StoredValue | StoredChannel | undefined;
}

/** `asStored` and `cipher` as in {@link readCheckpoints}. */
interface ReadOptions {
  asStored?: boolean;
  cipher?: StateCipher | undefined;
}

/**
 * Reads the history from which the library rebuilds a delta channel. The library's own walk takes a query per ancestor;
 * this takes one per `PAGE` ancestors. `id` names the checkpoint whose ancestors are read.
 */
export async function readDeltaHistory(
  sql: postgres.Sql,
  threadId: string,
  ns: string,
  id: string | undefined,
  channels: string[],
  options: ReadOptions = {},
): Promise<Map<string, StoredHistory>> {
  const newestFirst = new Map<string, { blocks: StoredWrite[][]; seed: StoredHistory["seed"] }>();
  for (const channel of channels) newestFirst.set(channel, { blocks: [], seed: undefined });
  let from = id;
  let remaining = [...newestFirst.keys()];
  while (remaining.length > 0) {
    const parameters = [threadId, ns, textArray(remaining, (channel) => channel)];
    if (from !== undefined) parameters.push(from);
    const found = await sql.unsafe<HistoryRow[]>(HISTORY_STATEMENT(from !== undefined), parameters, { prepare: true });
    const rows = await withLargeValues(sql, found, ({ kind, type }) => (kind === 2 ? undefined : type));
    const blocks = new Map<string, StoredWrite[]>();
    for (const row of rows) {
      if (row.kind !== 1) continue;
      const key = `${row.depth} ${row.channel}`;
      const block = blocks.get(key) ?? [];
      if (block.length === 0) {
        blocks.set(key, block);
        newestFirst.get(row.channel)!.blocks.push(block);
      }
      block.push(stored(row, options.cipher));
    }
    for (const row of rows)
      if (row.kind === 0) newestFirst.get(row.channel)!.seed = await readSeed(sql, threadId, ns, row, options);
    remaining = remaining.filter((channel) => newestFirst.get(channel)!.seed === undefined);
    const next = rows.find((row) => row.kind === 2);
    if (!next) break;
    from = next.task_id;
  }
  const history = new Map<string, StoredHistory>();
  for (const [channel, { blocks, seed }] of newestFirst) {
    history.set(channel, { writes: blocks.reverse().flatMap((block) => block.sort(byTaskAndIndex)), seed });
  }
  return history;
}

const PAGE = 500;

// Row kinds: 0 the seed of a channel, 1 a write, 2 the checkpoint at which the next page begins. `offset 0` keeps the
// lateral queries as written, one index lookup per ancestor; joins were planned as a scan of the whole thread for each
// ancestor.
const HISTORY_STATEMENT = (fromId: boolean): string => `
with recursive chain as (
  (select 0 as depth, checkpoint_id, parent_checkpoint_id, checkpoint -> 'channel_versions' as versions
   from checkpoints
   where thread_id = $1 and checkpoint_ns = $2 ${fromId ? "and checkpoint_id = $4" : ""}
   order by checkpoint_id desc limit 1)
  union all
  select chain.depth + 1, c.*
  from chain cross join lateral (
    select checkpoint_id, parent_checkpoint_id, checkpoint -> 'channel_versions' from checkpoints
    where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = chain.parent_checkpoint_id offset 0
  ) c
  where chain.depth < ${PAGE}
), seed as materialized (
  select distinct on (wanted.channel) chain.depth, chain.checkpoint_id, wanted.channel, bl.version
  from chain cross join unnest($3::text[]) as wanted (channel) cross join lateral (
    select version from checkpoint_blobs
    where thread_id = $1 and checkpoint_ns = $2 and channel = wanted.channel
      and version = chain.versions ->> wanted.channel and type <> 'empty' offset 0
  ) bl
  where chain.depth > 0
  order by wanted.channel, chain.depth
)
select 0 as kind, seed.depth, seed.channel, seed.checkpoint_id as task_id, null::int as idx, bl.type,
       ${asText("bl")} as text, ${asBytes("bl")} as bytes
from seed cross join lateral (
  select * from checkpoint_blobs
  where thread_id = $1 and checkpoint_ns = $2 and channel = seed.channel and version = seed.version offset 0
) bl
union all
(select 1, chain.depth, w.channel, w.task_id, w.idx, w.type, ${asText("w")}, ${asBytes("w")}
 from chain cross join lateral (
   select * from checkpoint_writes
   where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = chain.checkpoint_id and channel = any($3::text[])
   offset 0
 ) w
 left join seed on seed.channel = w.channel
 where chain.depth > 0 and (seed.depth is null or chain.depth <= seed.depth)
 order by chain.depth)
union all
select 2, chain.depth, null, chain.checkpoint_id, null, null, null, null from chain where chain.depth = ${PAGE}`;

/** Reads the value at which a history begins: that of an ordinary channel may be stored as changes. */
async function readSeed(
  sql: postgres.Sql,
  threadId: string,
  ns: string,
  row: HistoryRow,
  { asStored = false, cipher }: ReadOptions,
): Promise<StoredValue | StoredChannel> {
  const isWhole = row.type !== (asStored ? MSGPACK_CHANGE : LIST_TYPE) && !row.type.includes("+");
  if (isWhole) return stored(row, cipher);
  const { checkpoints } = await readCheckpoints(sql, { threadId, ns, id: row.task_id, limit: 1, asStored, cipher });
  const value = checkpoints[0]?.values.get(row.channel);
  if (value && (asStored || !value.list)) return value;
  const items = value?.list?.items ?? [];
  return { type: "json", data: `[${items.map(({ text }) => text).join(",")}]` };
}

/** Of a seed, `task_id` is the checkpoint that names it. */
interface HistoryRow {
  kind: 0 | 1 | 2;
  depth: number;
  channel: string;
  task_id: string;
  idx: number;
  type: string;
  text: string | null;
  bytes: Uint8Array | null;
}

function stored(row: HistoryRow, cipher: StateCipher | undefined): StoredWrite {
  const { task_id: taskId, idx, channel } = row;
  const { type, text, bytes } = openWriteValue(cipher, row, { taskId, idx, channel });
  return { type, data: text ?? bytes ?? "", taskId, idx, channel };
}
