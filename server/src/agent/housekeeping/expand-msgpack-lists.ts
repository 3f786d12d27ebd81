/**
 * Stores the lists of Python threads whole, as LangGraph's saver for Python reads them. Graph hosts store a long list as
 * the change since an earlier version; graph-host-python/heddle_host/checkpoints/list_changes.py defines the format.
 */
import { setImmediate as turn } from "node:timers/promises";

import { MSGPACK_CHANGE } from "../../../../host-kit/src/list-value.ts";
import type { Sql } from "../../base/db/connect.ts";
import { joinArray, splitArray } from "./msgpack-array.ts";

interface Version {
  thread_id: string;
  checkpoint_ns: string;
  channel: string;
  version: string;
  base: string;
}

interface Row {
  type: string;
  blob: Uint8Array;
  base: string | null;
}

/**
 * Stores every such list of a thread whole. Runs may go on meanwhile, and store changes again.
 * @returns the number of versions rewritten
 */
export async function storeMsgpackWhole(sql: Sql, thread: string): Promise<number> {
  const versions = await sql<Version[]>`
    select thread_id, checkpoint_ns, channel, version, base from checkpoint_blobs
    where thread_id = ${thread} and type = ${MSGPACK_CHANGE}
    order by checkpoint_ns, channel, chain, depth`;
  let last: { of: Version; items: Buffer[] } | undefined;
  let count = 0;
  for (const of of versions) {
    await turn();
    const isNext =
      last?.of.version === of.base && last.of.channel === of.channel && last.of.checkpoint_ns === of.checkpoint_ns;
    const items = isNext ? applyChange(last!.items, await selectRow(sql, of, of.version)) : await readItems(sql, of);
    last = { of, items };
    await sql`
      update checkpoint_blobs set type = 'msgpack', blob = ${joinArray(items)}, base = null, chain = null, depth = null
      where thread_id = ${thread} and checkpoint_ns = ${of.checkpoint_ns} and channel = ${of.channel}
        and version = ${of.version}`;
    count += 1;
  }
  return count;
}

/** Builds a version from the nearest one before it that is stored whole. */
async function readItems(sql: Sql, of: Version): Promise<Buffer[]> {
  const changes: Row[] = [];
  for (let at = of.version; ;) {
    const row = await selectRow(sql, of, at);
    if (row.type === MSGPACK_CHANGE) {
      changes.push(row);
      at = row.base!;
      continue;
    }
    const whole = splitArray(Buffer.from(row.blob));
    if (!whole) throw new Error(`Version ${at} of "${of.channel}" in thread ${of.thread_id} is not a list`);
    return changes.reverse().reduce(applyChange, whole);
  }
}

function applyChange(items: Buffer[], { blob }: Row): Buffer[] {
  const change = Buffer.from(blob);
  const end = change.indexOf("\n");
  let at = end + 1;
  return (JSON.parse(change.toString("utf8", 0, end)) as ([number, number] | number)[]).flatMap((part) => {
    if (Array.isArray(part)) return items.slice(part[0], part[1]);
    at += part;
    return [change.subarray(at - part, at)];
  });
}

async function selectRow(sql: Sql, of: Version, version: string): Promise<Row> {
  const [row] = await sql<Row[]>`
    select type, blob, base from checkpoint_blobs
    where thread_id = ${of.thread_id} and checkpoint_ns = ${of.checkpoint_ns} and channel = ${of.channel}
      and version = ${version}`;
  if (row) return row;
  throw new Error(`The stored changes of version ${of.version} are incomplete: version ${version} is missing`);
}
