import type postgres from "postgres";

/** Serialized value as stored: text where the type is JSON, bytes otherwise. */
export interface StoredValue {
  type: string;
  data: string | Uint8Array;
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
  values: Map<string, StoredValue & { version: string }>;
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
 * the numbers of those that use it.
 */
export async function readCheckpoints(sql: postgres.Sql, query: CheckpointQuery): Promise<ReadCheckpoints> {
  const [condition, parameters] = conditions(query);
  const limit = query.limit === undefined ? "" : `limit ${Math.max(0, Math.trunc(Number(query.limit)) || 0)}`;
  const isOneNamespace = query.threadId !== undefined && query.ns !== undefined;
  const selects =
    query.id !== undefined || query.before !== undefined || query.filter !== undefined || query.limit === 0;
  const newest = isOneNamespace && selects ? NEWEST_ROW : "";
  const rows = await sql.unsafe<ReadRow[]>(READ_STATEMENT(condition, limit) + newest, parameters, { prepare: true });
  const checkpoints = assemble(rows);
  if (!isOneNamespace) return { checkpoints, newest: undefined };
  return { checkpoints, newest: newest ? rows.find((row) => row.kind === 4)?.c : checkpoints[0]?.id };
}

const READ_STATEMENT = (condition: string, limit: string): string => `
with cp as materialized (
  select row_number() over (order by checkpoint_id desc)::int as n,
         thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
  from checkpoints ${condition}
  order by checkpoint_id desc ${limit}
)
select 0 as kind, n, thread_id as a, checkpoint_ns as b, checkpoint_id as c, parent_checkpoint_id as d,
       null::int as idx, checkpoint::text as text, metadata::text as metadata, null::bytea as bytes
from cp
union all
select 1, null, v.key, v.value, bl.type, v.users, null, ${asText("bl")}, null, ${asBytes("bl")}
from (
  select cp.thread_id, cp.checkpoint_ns, e.key, e.value, string_agg(cp.n::text, ',') as users
  from cp cross join lateral jsonb_each_text(cp.checkpoint -> 'channel_versions') e
  group by 1, 2, 3, 4
) v
join checkpoint_blobs bl on bl.thread_id = v.thread_id and bl.checkpoint_ns = v.checkpoint_ns
  and bl.channel = v.key and bl.version = v.value
union all
select 2, cp.n, w.task_id, w.channel, w.type, null, w.idx, ${asText("w")}, null, ${asBytes("w")}
from cp join checkpoint_writes w on w.thread_id = cp.thread_id and w.checkpoint_ns = cp.checkpoint_ns
  and w.checkpoint_id = cp.checkpoint_id
union all
select 3, cp.n, w.task_id, w.channel, w.type, null, w.idx, ${asText("w")}, null, ${asBytes("w")}
from cp join checkpoint_writes w on w.thread_id = cp.thread_id and w.checkpoint_ns = cp.checkpoint_ns
  and w.checkpoint_id = cp.parent_checkpoint_id and w.channel = '__pregel_tasks'
where (cp.checkpoint ->> 'v')::numeric < 4`;

/**
 * Selects a namespace's newest id; `conditions` takes the same first two parameters, thread and namespace. One lookup
 * at the end of the primary key.
 */
const NEWEST_ROW = `
union all
(select 4, null, null, null, checkpoint_id, null, null, null, null, null from checkpoints
 where thread_id = $1 and checkpoint_ns = $2 order by checkpoint_id desc limit 1)`;

/** SQL expression: null where the type is not JSON. */
export function asText(table: string): string {
  return `case when ${table}.type = 'json' then convert_from(${table}.blob, 'UTF8') end`;
}

/** SQL expression: null where the type is JSON. */
export function asBytes(table: string): string {
  return `case when ${table}.type is distinct from 'json' then ${table}.blob end`;
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

/** The meaning of a, b, c and d depends on the kind, see the statement. */
interface ReadRow {
  kind: 0 | 1 | 2 | 3 | 4;
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

function assemble(rows: ReadRow[]): StoredCheckpoint[] {
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
  for (const row of rows) {
    if (row.kind === 0 || row.kind === 4) continue;
    const data = row.text ?? row.bytes ?? "";
    if (row.kind === 1) {
      const value = { type: row.c, data, version: row.b };
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

export function byTaskAndIndex(a: StoredWrite, b: StoredWrite): number {
  return a.taskId < b.taskId ? -1 : a.taskId > b.taskId ? 1 : a.idx - b.idx;
}
