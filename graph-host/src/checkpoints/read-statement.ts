import type postgres from "postgres";

import { plainArray, textArray } from "./array-literal.ts";
import type { StateCipher } from "../../../host-kit/src/state-cipher.ts";
import { LARGE_BYTES, largeValueSource, readLargeValue } from "./large-values.ts";
import {
  LIST_TYPE,
  ListBuilder,
  type ListValue,
  MSGPACK_CHANGE,
  WHOLE_BYTES,
  wholeList,
} from "../../../host-kit/src/list-value.ts";
import { openBlobValue, openWriteValue } from "./sealed-rows.ts";

/** Serialized value as stored: text where the type is JSON, bytes otherwise. */
export interface StoredValue {
  type: string;
  data: string | Uint8Array;
}

/** Value of a channel. `list` replaces `data` where it is present. `base`: the value of which `data` is a change. */
export interface StoredChannel extends StoredValue {
  version: string;
  list?: ListValue | undefined;
  base?: StoredChannel | undefined;
}

export interface StoredWrite extends StoredValue {
  taskId: string;
  idx: number;
  channel: string;
}

/** A checkpoint with everything that belongs to it, still serialized. */
export interface StoredCheckpoint {
  threadId: string;
  ns: string;
  id: string;
  parentId: string | null;
  checkpoint: string;
  metadata: string;
  /**
   * Keyed by channel; `empty` is the type of a channel without a value. A channel whose blob is missing has no entry.
   */
  values: Map<string, StoredChannel>;
  /** Ordered by task and index. */
  writes: StoredWrite[];
  /** Sends of the parent's tasks, for checkpoints of format below 4, which do not contain them. */
  parentSends: StoredWrite[];
}

export interface CheckpointQuery {
  threadId?: string | undefined;
  ns?: string | undefined;
  id?: string | undefined;
  /** Selects only checkpoints with a smaller id. */
  before?: string | undefined;
  /** Metadata that the checkpoint must contain, as jsonb containment. */
  filter?: Record<string, unknown> | undefined;
  limit?: number | undefined;
  /** Long lists are read as empty ones. */
  withoutLists?: boolean | undefined;
  /** Values are returned as the rows that hold them, for a host of another language. */
  asStored?: boolean | undefined;
  /** Lists of the namespace that the caller has: changes up to them are not read. */
  known?: ReadonlyMap<string, ListValue> | undefined;
  /** Decrypts values that are stored encrypted. */
  cipher?: StateCipher | undefined;
}

export interface ReadCheckpoints {
  checkpoints: StoredCheckpoint[];
  /** Newest id of the namespace that was read, regardless of the selection; unknown across namespaces. */
  newest: string | undefined;
}

/**
 * Reads checkpoints, newest first, with their values and writes, in one statement. Each kind of row is one branch of a
 * union: arrays of bytea, as the official saver reads them, cost the driver more than the query costs the database.
 * JSON is read as text, which avoids hexadecimal encoding. A value shared by several checkpoints is returned once, with
 * the numbers of those that use it. Of a list that is stored as changes, the rows of its chain are returned.
 */
export async function readCheckpoints(
  sql: postgres.Sql,
  query: CheckpointQuery,
  chains: keyof typeof CHAINS = "marked",
): Promise<ReadCheckpoints> {
  const [condition, parameters] = conditions(query);
  const limit = query.limit === undefined ? "" : `limit ${Math.max(0, Math.trunc(Number(query.limit)) || 0)}`;
  const isOneNamespace = query.threadId !== undefined && query.ns !== undefined;
  const selects =
    query.id !== undefined || query.before !== undefined || query.filter !== undefined || query.limit === 0;
  const newest = isOneNamespace && selects ? NEWEST_ROW : "";
  const known = query.known && query.known.size > 0 ? query.known : undefined;
  const unknown = query.withoutLists ? "where false" : known ? notKnown(known, parameters) : "";
  const statement = READ_STATEMENT(condition, limit, CHAINS[chains], unknown) + newest;
  const found = await sql.unsafe<ReadRow[]>(statement, parameters, { prepare: true });
  const stored = await withLargeValues(sql, found, ({ kind, c }) => (kind === 0 || kind === 4 ? undefined : c));
  const rows = stored.map((row) => openRow(query.cipher, row));
  const checkpoints = assemble(rows, known, query);
  if (!checkpoints) {
    // the known list belongs to another branch, or a version of the chain was stored anew in the meantime
    if (known) return readCheckpoints(sql, { ...query, known: undefined });
    if (chains === "marked") return readCheckpoints(sql, query, "linked");
    throw new Error("The stored changes of a list are incomplete");
  }
  if (!isOneNamespace) return { checkpoints, newest: undefined };
  return { checkpoints, newest: newest ? rows.find((row) => row.kind === 4)?.c : checkpoints[0]?.id };
}

/**
 * Rows on which the versions that checkpoints name are based: all of their chain, which is one scan, or each by the name
 * that its successor has for it.
 */
const CHAINS = {
  marked: `(
  select v.thread_id, v.checkpoint_ns, v.key, named.chain, max(named.depth) as depth, min(v.n) as n
  from v join checkpoint_blobs named on named.thread_id = v.thread_id and named.checkpoint_ns = v.checkpoint_ns
    and named.channel = v.key and named.version = v.value
  where named.chain is not null
  group by 1, 2, 3, 4
) chain join checkpoint_blobs bl on bl.thread_id = chain.thread_id and bl.checkpoint_ns = chain.checkpoint_ns
  and bl.channel = chain.key and (bl.version = chain.chain or bl.chain = chain.chain and bl.depth < chain.depth)`,
  linked: `(
  with recursive link as (
    select v.thread_id, v.checkpoint_ns, v.key, b.base
    from v join checkpoint_blobs b on b.thread_id = v.thread_id and b.checkpoint_ns = v.checkpoint_ns
      and b.channel = v.key and b.version = v.value
    where b.base is not null
    union
    select l.thread_id, l.checkpoint_ns, l.key, b.base
    from link l join checkpoint_blobs b on b.thread_id = l.thread_id and b.checkpoint_ns = l.checkpoint_ns
      and b.channel = l.key and b.version = l.base
    where b.base is not null
  )
  select link.*, (select min(v.n) from v where v.thread_id = link.thread_id and v.checkpoint_ns = link.checkpoint_ns) as n
  from link
) chain join checkpoint_blobs bl on bl.thread_id = chain.thread_id and bl.checkpoint_ns = chain.checkpoint_ns
  and bl.channel = chain.key and bl.version = chain.base`,
};

const READ_STATEMENT = (condition: string, limit: string, chain: string, unknown: string): string => `
with cp as materialized (
  select row_number() over (order by checkpoint_id desc)::int as n,
         thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
  from checkpoints ${condition}
  order by checkpoint_id desc ${limit}
), v as materialized (
  select cp.thread_id, cp.checkpoint_ns, e.key, e.value, string_agg(cp.n::text, ',') as users, min(cp.n) as n
  from cp cross join lateral jsonb_each_text(cp.checkpoint -> 'channel_versions') e
  group by 1, 2, 3, 4
)
select 0 as kind, n, thread_id as a, checkpoint_ns as b, checkpoint_id as c, parent_checkpoint_id as d,
       null::int as idx, checkpoint::text as text, metadata::text as metadata, null::bytea as bytes
from cp
union all
select 1, v.n, v.key, v.value, bl.type, v.users, bl.depth, ${asText("bl")}, bl.base, ${asBytes("bl")}
from v join checkpoint_blobs bl on bl.thread_id = v.thread_id and bl.checkpoint_ns = v.checkpoint_ns
  and bl.channel = v.key and bl.version = v.value
union all
select 5, chain.n, bl.channel, bl.version, bl.type, null, bl.depth, ${asText("bl")}, bl.base, ${asBytes("bl")}
from ${chain}
${unknown}
union all
select 2, cp.n, w.task_id, w.channel, w.type, null, w.idx, ${asText("w")}, null, ${asBytes("w")}
from cp join checkpoint_writes w on w.thread_id = cp.thread_id and w.checkpoint_ns = cp.checkpoint_ns
  and w.checkpoint_id = cp.checkpoint_id
union all
select 3, cp.n, w.task_id, w.channel, w.type, null, w.idx, ${asText("w")}, null, ${asBytes("w")}
from cp join checkpoint_writes w on w.thread_id = cp.thread_id and w.checkpoint_ns = cp.checkpoint_ns
  and w.checkpoint_id = cp.parent_checkpoint_id and w.channel = '__pregel_tasks'
where (cp.checkpoint ->> 'v')::numeric < 4`;

/** SQL condition that leaves out the rows from which the known lists were built; adds its parameters. */
function notKnown(known: ReadonlyMap<string, ListValue>, parameters: (string | number)[]): string {
  const lists = [...known];
  const first = parameters.push(
    textArray(lists, ([channel]) => channel),
    textArray(lists, ([, list]) => list.chain ?? list.version),
    plainArray(lists, ([, list]) => list.depth),
  );
  const parameter = (at: number, type: string): string => `$${first - 2 + at}::${type}[]`;
  return `where not exists (
    select 1 from unnest(${parameter(0, "text")}, ${parameter(1, "text")}, ${parameter(2, "int")}) as k (channel, chain, depth)
    where k.channel = bl.channel and (k.chain = bl.version or k.chain = bl.chain and bl.depth <= k.depth))`;
}

/**
 * Selects a namespace's newest id; `conditions` takes the same first two parameters, thread and namespace. One lookup
 * at the end of the primary key.
 */
const NEWEST_ROW = `
union all
(select 4, null, null, null, checkpoint_id, null, null, null, null, null from checkpoints
 where thread_id = $1 and checkpoint_ns = $2 order by checkpoint_id desc limit 1)`;

/** SQL expression: the text of JSON, the source of a large value of another type, or null. */
export function asText(alias: "bl" | "w"): string {
  const source = largeValueSource(alias, alias === "bl" ? "checkpoint_blobs" : "checkpoint_writes");
  return `case when ${alias}.type in ${TEXT_TYPES} then convert_from(${alias}.blob, 'UTF8') else ${source} end`;
}

const TEXT_TYPES = `('json', '${LIST_TYPE}')`;

/**
 * Reads the values of which the rows have the source. Rows of values that were deleted in the meantime are left out.
 * `typeOf` returns the type of a row's value; undefined for other rows.
 */
export async function withLargeValues<Row extends { text: string | null; bytes: Uint8Array | null }>(
  sql: postgres.Sql,
  rows: Row[],
  typeOf: (row: Row) => string | undefined,
): Promise<Row[]> {
  const complete: Row[] = [];
  for (const row of rows) {
    const type = typeOf(row);
    if (row.text === null || type === undefined || type === "json" || type === LIST_TYPE) complete.push(row);
    else {
      const bytes = await readLargeValue(sql, row.text);
      if (bytes) complete.push({ ...row, text: null, bytes });
    }
  }
  return complete;
}

/** SQL expression: null where `asText` is not. */
export function asBytes(alias: "bl" | "w"): string {
  return `case when ${alias}.type in ${TEXT_TYPES} or octet_length(${alias}.blob) >= ${LARGE_BYTES} then null
    else ${alias}.blob end`;
}

function conditions(query: CheckpointQuery): [string, (string | number)[]] {
  const wheres: string[] = [];
  const parameters: (string | number)[] = [];
  const add = (sql: (parameter: string) => string, value: string | undefined) => {
    if (value === undefined) return;
    parameters.push(value);
    wheres.push(sql(`$${parameters.length}`));
  };
  add((p) => `thread_id = ${p}`, query.threadId);
  add((p) => `checkpoint_ns = ${p}`, query.ns);
  add((p) => `checkpoint_id = ${p}`, query.id);
  add((p) => `checkpoint_id < ${p}`, query.before);
  if (query.filter && Object.keys(query.filter).length > 0) {
    add((p) => `metadata @> ${p}::text::jsonb`, JSON.stringify(query.filter));
  }
  return [wheres.length > 0 ? `where ${wheres.join(" and ")}` : "", parameters];
}

/** The meaning of a, b, c, d and metadata depends on the kind, see the statement. */
interface ReadRow {
  kind: 0 | 1 | 2 | 3 | 4 | 5;
  n: number | null;
  a: string;
  b: string;
  c: string;
  d: string | null;
  idx: number | null;
  text: string | null;
  metadata: string | null;
  bytes: Uint8Array | null;
}

function openRow(cipher: StateCipher | undefined, row: ReadRow): ReadRow {
  if (row.kind === 0 || row.kind === 4) return row;
  const value = { type: row.c, text: row.text, bytes: row.bytes };
  const opened =
    row.kind === 1 || row.kind === 5
      ? openBlobValue(cipher, value, row.a, row.b)
      : openWriteValue(cipher, value, { taskId: row.a, idx: row.idx!, channel: row.b });
  return opened === value ? row : { ...row, c: opened.type, text: opened.text, bytes: opened.bytes };
}

/** Returns undefined when a list cannot be built from the rows and the known lists. */
function assemble(
  rows: ReadRow[],
  known: ReadonlyMap<string, ListValue> | undefined,
  { withoutLists, asStored }: CheckpointQuery,
): StoredCheckpoint[] | undefined {
  const found: StoredCheckpoint[] = [];
  for (const row of rows) {
    if (row.kind !== 0) continue;
    found[row.n! - 1] = {
      threadId: row.a,
      ns: row.b,
      id: row.c,
      parentId: row.d,
      checkpoint: row.text!,
      metadata: row.metadata!,
      values: new Map(),
      writes: [],
      parentSends: [],
    };
  }
  const lists = new Lists(known);
  for (const row of rows) if (row.kind === 1 || row.kind === 5) lists.add(found[row.n! - 1]!, row);
  for (const row of rows) {
    if (row.kind === 0 || row.kind === 4 || row.kind === 5) continue;
    const data = row.text ?? row.bytes ?? "";
    if (row.kind === 1 && asStored) {
      const value = lists.asStored(found[row.n! - 1]!, row);
      if (!value) return undefined;
      for (const n of row.d!.split(",")) found[Number(n) - 1]!.values.set(row.a, value);
    } else if (row.kind === 1) {
      const isChange = row.c === LIST_TYPE;
      const list = withoutLists && isChange ? emptyList(row.b) : lists.get(found[row.n! - 1]!, row.a, row.b);
      if (isChange && !list) return undefined;
      const value: StoredChannel = list
        ? { type: "json", data: "", version: row.b, list }
        : { type: row.c, data, version: row.b };
      for (const n of row.d!.split(",")) found[Number(n) - 1]!.values.set(row.a, value);
    } else {
      const stored = found[row.n! - 1]!;
      const write = { type: row.c, data, taskId: row.a, idx: row.idx!, channel: row.b };
      (row.kind === 2 ? stored.writes : stored.parentSends).push(write);
    }
  }
  for (const stored of found) {
    stored.writes.sort(byTaskAndIndex);
    stored.parentSends.sort(byTaskAndIndex);
  }
  return found;
}

/** Lists of the checkpoints that were read, built from the rows of their chains. */
class Lists {
  #known: ReadonlyMap<string, ListValue> | undefined;
  #rows = new Map<string, Map<string, ReadRow>>();
  #built = new Map<string, ListValue>();
  #stored = new Map<ReadRow, StoredChannel>();

  constructor(known: ReadonlyMap<string, ListValue> | undefined) {
    this.#known = known;
  }

  add({ threadId, ns }: StoredCheckpoint, row: ReadRow): void {
    const name = listName(threadId, ns, row.a);
    const rows = this.#rows.get(name) ?? new Map<string, ReadRow>();
    // a version may be named by a checkpoint and also precede another one
    if (row.kind === 1 || !rows.has(row.b)) rows.set(row.b, row);
    this.#rows.set(name, rows);
  }

  /** Returns the value of a row; undefined where a version on which it is based is missing. */
  asStored({ threadId, ns }: StoredCheckpoint, row: ReadRow): StoredChannel | undefined {
    const rows = this.#rows.get(listName(threadId, ns, row.a))!;
    const changes: ReadRow[] = [];
    let at: ReadRow | undefined = row;
    for (; at?.c === MSGPACK_CHANGE && !this.#stored.has(at); at = rows.get(at.metadata!)) changes.push(at);
    if (!at) return undefined;
    let value = this.#storedAs(at, undefined);
    for (const change of changes.reverse()) value = this.#storedAs(change, value);
    return value;
  }

  #storedAs(row: ReadRow, base: StoredChannel | undefined): StoredChannel {
    const known = this.#stored.get(row);
    if (known) return known;
    const value = { type: row.c, data: row.text ?? row.bytes ?? "", version: row.b, base };
    this.#stored.set(row, value);
    return value;
  }

  /** Returns the list of a version; undefined where the value is no list that is kept item by item. */
  get({ threadId, ns }: StoredCheckpoint, channel: string, version: string): ListValue | undefined {
    const name = listName(threadId, ns, channel);
    const rows = this.#rows.get(name)!;
    const changes: ReadRow[] = [];
    let start: ListValue | undefined;
    for (let at: string | null = version; at !== null && !start;) {
      const row: ReadRow | undefined = rows.get(at);
      const known = this.#known?.get(channel);
      start = this.#built.get(`${name}\0${at}`) ?? (known?.version === at ? known : undefined);
      if (start) break;
      if (!row) return undefined;
      if (row.c !== LIST_TYPE) {
        if (row.c !== "json" || channel.startsWith("__") || (at === version && row.text!.length < WHOLE_BYTES))
          return undefined;
        start = wholeList(row.text!, at);
        if (!start) return undefined;
        break;
      }
      changes.push(row);
      at = row.metadata;
    }
    if (!start) return undefined;
    let list = start;
    if (changes.length > 0) {
      const builder = new ListBuilder(start);
      for (const row of changes.reverse()) {
        builder.apply(row.text!, row.b);
        // versions that checkpoints name are built once, oldest first
        if (row.kind === 1) this.#built.set(`${name}\0${row.b}`, (list = builder.build()));
      }
    } else this.#built.set(`${name}\0${version}`, list);
    return list;
  }
}

const emptyList = (version: string): ListValue => ({ items: [], version, chain: null, depth: 0, cost: 0 });

const listName = (threadId: string, ns: string, channel: string): string => `${threadId}\0${ns}\0${channel}`;

export function byTaskAndIndex(a: StoredWrite, b: StoredWrite): number {
  return a.taskId < b.taskId ? -1 : a.taskId > b.taskId ? 1 : a.idx - b.idx;
}
