/** Contents of the tables, read in one statement, and the same rows derived from a model. */
import type { Sql } from "../../src/base/db/connect.ts";
import { secondsOf } from "./clock.ts";
import { isUnfinished, type Model, type ModelRun, type ModelThread } from "./model.ts";

export interface ThreadRow extends Pick<ModelThread, "settled" | "values" | "lasting"> {
  thread: number;
  status: "idle" | "busy" | "interrupted" | "error";
  running: number | null;
}

export interface StepRow {
  thread: number;
  step: number;
  run: number;
  slow: number;
}

export interface Rows {
  threads: ThreadRow[];
  /** In queue order. */
  runs: Omit<ModelRun, "progressed" | "slow" | "flow" | "wait">[];
  steps: StepRow[];
  /** Thread, channel and version of each blob. */
  blobs: string[];
  servers: number[];
  /** Webhook messages: a run and its final status. */
  ends: { run: number; status: string }[];
  /** Writes without a checkpoint, and checkpoint channels without a blob. Non-empty means that a write was torn. */
  torn: string[];
}

const id = (kind: number, n: number) =>
  `${String(kind).padStart(8, "0")}-0000-4000-8000-${String(n).padStart(12, "0")}`;
export const runId = (n: number): string => id(1, n);
export const threadId = (n: number): string => id(2, n);
export const serverId = (n: number): string => id(3, n);
export const assistantId = (graph: "a" | "b"): string => id(4, graph === "a" ? 1 : 2);
/** Checkpoint id that sorts like the number. */
export const checkpointId = (step: number): string => `1f000000-0000-6000-8000-${String(step).padStart(12, "0")}`;
export const numberIn = (uuid: string): number => Number(uuid.slice(-12));

/** SQL for the number in an id that this file generated. */
const n = (column: string) => `right(${column}::text, 12)::bigint`;
const all = (fields: string, from: string, order: string) =>
  `(select coalesce(json_agg(json_build_object(${fields}) order by ${order}), '[]') from ${from})`;

const STATEMENT = `select json_build_object(
  'threads', ${all(
    `'thread', ${n("thread_id")}, 'status', status, 'settled', settled_status, 'running', ${n("running_run_id")},
     'values', values,
     'lasting', json_build_object('customer', metadata -> 'customer', 'group', metadata -> 'group',
                                  'model', config #> '{configurable,model}')`,
    "threads",
    "thread_id",
  )},
  'runs', ${all(
    `'run', ${n("run_id")}, 'thread', ${n("thread_id")}, 'status', status, 'attempt', attempt, 'failures', failures,
     'server', ${n("server_id")}, 'cancel', cancel_action, 'temporary', temporary,
     'graph', case when ${n("assistant_id")} = 1 then 'a' else 'b' end,
     'created', ${secondsOf("created_at")}, 'available', ${secondsOf("available_at")},
     'since', ${secondsOf("coalesce((flow ->> 'due')::timestamptz, created_at)")},
     'debouncedSince', ${secondsOf("to_timestamp((flow ->> 'debounced_since')::float8)")},
     'customer', metadata -> 'customer', 'group', metadata -> 'group', 'model', kwargs #> '{config,configurable,model}',
     'user', metadata ->> 'creator',
     'refusable', coalesce((metadata ->> 'refusable')::boolean, false),
     'priority', kwargs #> '{config,heddle,queue,priority}', 'expires', kwargs #> '{config,heddle,queue,expires_after}'`,
    "runs",
    "seq",
  )},
  'steps', ${all(
    `'thread', ${n("thread_id")}, 'step', ${n("checkpoint_id")}, 'run', ${n("metadata ->> 'run_id'")},
     'slow', (checkpoint -> 'channel_versions' ->> 'slow')::int`,
    "checkpoints",
    "thread_id, checkpoint_id",
  )},
  'blobs', (select coalesce(json_agg(${n("thread_id")} || ' ' || channel || ' ' || version), '[]') from checkpoint_blobs),
  'servers', (select coalesce(json_agg(${n("server_id")} order by server_id), '[]') from servers),
  'ends', ${all(`'run', ${n("run_id")}, 'status', run_status`, "webhook_deliveries", "run_id")},
  'torn', (
    select coalesce(json_agg(t), '[]') from (
      select 'a write of no checkpoint: ' || w.checkpoint_id as t from checkpoint_writes w where not exists (
        select 1 from checkpoints c where (c.thread_id, c.checkpoint_ns, c.checkpoint_id)
                                        = (w.thread_id, w.checkpoint_ns, w.checkpoint_id))
      union all
      select 'a channel without its blob: ' || v.key || ' ' || v.value
      from checkpoints c cross join jsonb_each_text(c.checkpoint -> 'channel_versions') v where not exists (
        select 1 from checkpoint_blobs b where (b.thread_id, b.checkpoint_ns, b.channel, b.version)
                                             = (c.thread_id, c.checkpoint_ns, v.key, v.value))
    ) torn)
) as rows`;

export async function readRows(sql: Sql): Promise<Rows> {
  const [row] = await sql.unsafe<{ rows: Rows }[]>(STATEMENT, [], { prepare: true });
  row!.rows.blobs.sort();
  return row!.rows;
}

/** Returns the rows that the tables must contain according to the model. */
export function rowsFrom(m: Model): Rows {
  const unfinished = m.runs.filter(isUnfinished);
  const threads = [...m.threads].sort(([a], [b]) => a - b);
  return {
    threads: threads.map(([thread, { settled, values, lasting }]) => ({
      ...{ thread, lasting },
      status: unfinished.some((r) => r.thread === thread) ? "busy" : settled,
      settled,
      running: unfinished.find((r) => r.thread === thread && r.status === "running")?.run ?? null,
      values,
    })),
    runs: m.runs.map(({ progressed: _, slow: __, flow: ___, wait: ____, ...row }) => row),
    steps: threads.flatMap(([thread, { steps }]) => steps.map(({ step, run, slow }) => ({ thread, step, run, slow }))),
    blobs: threads.flatMap(([thread, { blobs }]) => blobs.map((blob) => `${thread} ${blob}`)).sort(),
    servers: [...m.servers.keys()].sort((a, b) => a - b),
    ends: [...m.ends].map(([run, status]) => ({ run, status })).sort((a, b) => a.run - b.run),
    torn: [],
  };
}

/** Returns the rows that are only here (+) or only there (-), one per line; empty when all agree. */
export function difference(here: Rows, there: Rows): string {
  const lines = Object.keys(there).flatMap((table) => {
    const [ours, theirs] = [here, there].map((rows) => (rows[table as keyof Rows] as unknown[]).map(text));
    if (ours!.join() === theirs!.join()) return [];
    const only = (a: string[], b: string[], sign: string) =>
      a.filter((row) => !b.includes(row)).map((row) => `  ${sign} ${row}`);
    return [`${table}:`, ...only(ours!, theirs!, "+"), ...only(theirs!, ours!, "-")];
  });
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** Serializes regardless of the order of fields. */
const text = (row: unknown): string =>
  typeof row !== "object" ? String(row) : JSON.stringify(Object.entries(row!).sort(([a], [b]) => (a < b ? -1 : 1)));
