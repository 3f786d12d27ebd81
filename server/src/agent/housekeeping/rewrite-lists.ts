/**
 * Changes how the lists of a thread's checkpoints are stored, without changing their values: as changes since an earlier
 * version, as graph hosts store them, or whole, as the official saver reads them.
 */
import { setImmediate as turn } from "node:timers/promises";

import {
  encodeList,
  LIST_TYPE,
  ListBuilder,
  type ListValue,
  WHOLE_BYTES,
  wholeList,
} from "../../../../host-kit/src/list-value.ts";
import type { Sql } from "../../base/db/connect.ts";

interface Version {
  version: string;
  type: string;
  base: string | null;
}

/** Channel of a thread with several versions that are stored whole. */
export interface WholeLists {
  thread_id: string;
  checkpoint_ns: string;
  channel: string;
}

/** Returns the channels of the next threads after `after`, in order of thread, that a rewrite could shrink. */
export async function selectWholeLists(sql: Sql, after: string, threads: number): Promise<WholeLists[]> {
  return sql<WholeLists[]>`
    with next as (
      select distinct thread_id from checkpoints where thread_id > ${after} order by thread_id limit ${threads}
    )
    select n.thread_id, coalesce(b.checkpoint_ns, '') as checkpoint_ns, coalesce(b.channel, '') as channel
    from next n left join lateral (
      select checkpoint_ns, channel from checkpoint_blobs
      where thread_id = n.thread_id and type = 'json' and base is null and octet_length(blob) >= ${WHOLE_BYTES}
        and channel not like '\\_\\_%'
      group by 1, 2 having count(*) > 2
    ) b on true
    order by 1, 2, 3`;
}

/**
 * Stores the versions of a channel as changes, except the newest, which runs continue from. Leaves a thread alone while a
 * run is active.
 * @returns the bytes that became free
 */
export async function storeChanges(
  sql: Sql,
  { thread_id: thread, checkpoint_ns: ns, channel }: WholeLists,
): Promise<number> {
  const versions = await selectVersions(sql, thread, ns, channel);
  let base: ListValue | undefined;
  let freed = 0;
  for (const { version, type, base: own } of versions.slice(0, -1)) {
    await turn();
    if (type !== "json" || own !== null) {
      base = undefined;
      continue;
    }
    const text = await selectText(sql, thread, ns, channel, version);
    const whole = text === undefined || text.length < WHOLE_BYTES ? undefined : wholeList(text, version);
    if (!whole) {
      base = undefined;
      continue;
    }
    const { row, list } = encodeList(whole.items, version, base);
    base = row.type === LIST_TYPE ? list : whole;
    if (row.type !== LIST_TYPE) continue;
    const written = await sql.begin(async (tx) => {
      // keeps deletions of checkpoints away, which lock the thread
      const [free] = await tx`
        select from threads where thread_id::text = ${thread} and running_run_id is null for share skip locked`;
      if (!free) return 0;
      const { count } = await tx`
        update checkpoint_blobs
        set type = ${row.type}, blob = convert_to(${row.text}, 'UTF8'), base = ${row.base}, chain = ${row.chain},
            depth = ${row.depth}
        where thread_id = ${thread} and checkpoint_ns = ${ns} and channel = ${channel} and version = ${version}
          and exists (select from checkpoint_blobs b where b.thread_id = ${thread} and b.checkpoint_ns = ${ns}
                      and b.channel = ${channel} and b.version = ${row.base})`;
      return count;
    });
    if (written === 0) return freed;
    freed += text!.length - row.text.length;
  }
  return freed;
}

/**
 * Stores every list of a thread whole. Runs may go on meanwhile, and store changes again.
 * @returns the number of versions rewritten
 */
export async function storeWhole(sql: Sql, thread: string): Promise<number> {
  const channels = await sql<WholeLists[]>`
    select distinct thread_id, checkpoint_ns, channel from checkpoint_blobs
    where thread_id = ${thread} and type = ${LIST_TYPE}`;
  let count = 0;
  for (const { checkpoint_ns: ns, channel } of channels) {
    const versions = await selectVersions(sql, thread, ns, channel);
    const bases = new Map(versions.map(({ version, type, base }) => [version, type === LIST_TYPE ? base : null]));
    const read = (version: string) => selectText(sql, thread, ns, channel, version);
    let last: ListValue | undefined;
    for (const { version, type, base } of versions) {
      if (type !== LIST_TYPE) continue;
      await turn();
      last = last?.version === base ? await change(last, [version], read) : await fromWhole(version, bases, read);
      const text = `[${last.items.map((item) => item.text).join(",")}]`;
      await sql`
        update checkpoint_blobs set type = 'json', blob = convert_to(${text}, 'UTF8'), base = null, chain = null, depth = null
        where thread_id = ${thread} and checkpoint_ns = ${ns} and channel = ${channel} and version = ${version}`;
      bases.set(version, null);
      count += 1;
    }
  }
  return count;
}

type ReadText = (version: string) => Promise<string | undefined>;

/** Builds a version from the nearest one before it that is stored whole. */
async function fromWhole(version: string, bases: Map<string, string | null>, read: ReadText): Promise<ListValue> {
  const changes: string[] = [];
  let at = version;
  for (let base = bases.get(at); base; base = bases.get(at)) {
    changes.push(at);
    at = base;
  }
  const whole = wholeList((await read(at)) ?? "", at);
  if (!whole) throw new Error(`The stored changes of version ${version} are incomplete: version ${at} is missing`);
  return change(whole, changes.reverse(), read);
}

async function change(from: ListValue, versions: string[], read: ReadText): Promise<ListValue> {
  const builder = new ListBuilder(from);
  for (const version of versions) builder.apply((await read(version)) ?? "[]\n", version);
  return builder.build();
}

/** Selects a channel's versions, oldest first. */
async function selectVersions(sql: Sql, thread: string, ns: string, channel: string): Promise<Version[]> {
  const rows = await sql<Version[]>`
    select version, type, base from checkpoint_blobs
    where thread_id = ${thread} and checkpoint_ns = ${ns} and channel = ${channel} and type in ('json', ${LIST_TYPE})`;
  return rows.toSorted((a, b) => Number.parseFloat(a.version) - Number.parseFloat(b.version));
}

async function selectText(sql: Sql, thread: string, ns: string, channel: string, version: string) {
  const [row] = await sql<{ text: string }[]>`
    select convert_from(blob, 'UTF8') as text from checkpoint_blobs
    where thread_id = ${thread} and checkpoint_ns = ${ns} and channel = ${channel} and version = ${version}`;
  return row?.text;
}
