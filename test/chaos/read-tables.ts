import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import postgres from "postgres";

import type { CheckpointRow, Frame, KeptStream, LedgerLine, RunRow } from "./check/world.ts";
import { now } from "./now.ts";

type Sql = postgres.Sql;

/** Connects directly to Postgres, not through a proxy. */
export const openTables = (uri: string): Sql => postgres(uri, { max: 4, onnotice: () => {} });

/** Waits until no run is pending or running and no timer or signal is about to create one. Returns that time; undefined after `limitMs`. */
export async function untilSettled(sql: Sql, limitMs: number): Promise<number | undefined> {
  return untilNone(
    limitMs,
    () => sql`
    select 1 from runs where status in ('pending', 'running') union all
    select 1 from thread_waits where ready_at < 'infinity' limit 1`,
  );
}

/** Waits until every webhook is delivered or abandoned. */
export async function untilDelivered(sql: Sql, limitMs: number): Promise<number | undefined> {
  return untilNone(limitMs, () => sql`select 1 from webhook_deliveries where status = 'pending' limit 1`);
}

async function untilNone(limitMs: number, rows: () => Promise<readonly unknown[]>): Promise<number | undefined> {
  const deadline = now() + limitMs;
  for (;;) {
    const left = await rows().catch(() => [0]);
    if (left.length === 0) return now();
    if (now() > deadline) return undefined;
    await sleep(200);
  }
}

export async function readRuns(sql: Sql): Promise<RunRow[]> {
  // the database uses the machine's clock: this offset converts it to the monotonic clock
  const offset = Date.now() - now();
  const rows = await sql<
    (Omit<RunRow, "streamIncomplete"> & { incomplete: boolean; created: number; started: number | null })[]
  >`
    select run_id as run, thread_id as thread, seq::int, status, attempt, error ->> 'message' as error,
           metadata ->> 'token' as token, metadata ->> 'key' as key,
           metadata ->> 'cron_id' as cron, metadata ->> 'cron_scheduled_for' as occurrence,
           metadata ->> 'heddle_resumed_by' as "resumedBy",
           (extract(epoch from created_at) * 1000)::float8 as created,
           (extract(epoch from started_at) * 1000)::float8 as started,
           (extract(epoch from ended_at) * 1000)::float8 as ended,
           to_jsonb(r) ->> 'stream_incomplete' is not null as incomplete
    from runs r order by seq`;
  const monotonic = (time: number | null) => (time === null ? null : time - offset);
  return rows.map(({ incomplete, ...row }) => ({
    ...row,
    created: row.created - offset,
    started: monotonic(row.started),
    ended: monotonic(row.ended),
    streamIncomplete: incomplete,
  }));
}

export async function readCheckpoints(sql: Sql): Promise<CheckpointRow[]> {
  return sql<CheckpointRow[]>`
    select thread_id as thread, checkpoint_ns as ns, checkpoint_id as id, parent_checkpoint_id as parent,
           metadata ->> 'run_id' as run
    from checkpoints`;
}

/** Counts, per thread, the rows of any table that name it. */
export async function countRows(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ thread: string; n: number }[]>`
    select thread, count(*)::int as n from (
      select thread_id::text as thread from threads
      union all select thread_id::text from runs
      union all select thread_id from checkpoints
      union all select thread_id from checkpoint_blobs
      union all select thread_id from checkpoint_writes
      union all select thread_id::text from thread_waits
      union all select thread_id::text from thread_signals
    ) rows group by 1`;
  return new Map(rows.map(({ thread, n }) => [thread, n]));
}

export async function readKeptStreams(sql: Sql): Promise<KeptStream[]> {
  const rows = await sql<{ run: string; status: string | null; text: string }[]>`
    select s.run_id as run, s.status, coalesce(string_agg(g.frames, '' order by g.first), '') as text
    from run_streams s left join run_stream_segments g on g.run_id = s.run_id
    group by 1, 2`;
  return rows.map(({ run, status, text }) => ({ run, status, frames: parseFrames(text) }));
}

/** Parses frames from a text of server-sent events; skips comments. */
export function parseFrames(text: string): Frame[] {
  return text.split("\n\n").flatMap((block) => {
    const field = (name: string) =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const event = field("event");
    const id = field("id");
    if (event === undefined) return [];
    return [{ ...(id !== undefined && { id }), event, data: JSON.stringify(JSON.parse(field("data") ?? "null")) }];
  });
}

/** Reads the lines of the effects ledger in order; skips lines cut off by a full disk or a kill. */
export function readLedger(file: string): LedgerLine[] {
  let text = "";
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as LedgerLine];
    } catch {
      return [];
    }
  });
}
