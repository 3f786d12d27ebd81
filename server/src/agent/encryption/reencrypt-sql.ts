/**
 * Statements of `heddle encryption reencrypt`. Rows are read in the order of their primary keys and written one by one,
 * each only if it still has the value that was read: servers write meanwhile, and no statement waits while it holds a lock.
 */
import { createHash } from "node:crypto";

import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { RowTexts, SealedColumn } from "./sealed-columns.ts";

/** Rows of a batch. A row has up to tens of megabytes, most have a few kilobytes. */
const ROWS = 50;

const md5 = (bytes: string | Uint8Array): string => createHash("md5").update(bytes).digest("hex");

const list = (items: string[]): string => items.join(", ");
const quoted = (names: string[]): string[] => names.map((name) => `"${name}"`);
/** `$from`, … with the types of the key's columns. */
const parameters = (key: Record<string, string>, from: number): string =>
  list(Object.values(key).map((type, i) => `$${from + i}::text::${type}`));

/** The next rows after a key; `after` is empty for the first ones. */
export async function selectTexts(
  sql: Sql,
  { table, key, column, beside = [] }: SealedColumn,
  after: string[],
): Promise<{ key: string[]; text: string; row: RowTexts }[]> {
  const names = Object.keys(key);
  const columns = quoted(names);
  const rows = await sql.unsafe<Record<string, string>[]>(
    `select ${list(columns.map((name, i) => `${name}::text as k${i}`))}, "${column}"::text as value
            ${quoted(beside)
              .map((name) => `, ${name}::text`)
              .join("")}
     from ${table} where "${column}" is not null
     ${after.length > 0 ? `and (${list(columns)}) > (${parameters(key, 1)})` : ""}
     order by ${list(columns)} limit ${ROWS}`,
    after,
  );
  return rows.map((row) => ({
    key: names.map((_, i) => row[`k${i}`]!),
    text: row["value"]!,
    row: Object.fromEntries(beside.map((name) => [name, row[name]!])),
  }));
}

/** @returns whether the row still had `old` */
export async function replaceText(
  sql: Sql,
  { table, key, column, type }: SealedColumn,
  values: { key: string[]; old: string; text: string },
): Promise<boolean> {
  const { count } = await sql.unsafe(
    `update ${table} set "${column}" = $1::text::${type}
     where (${list(quoted(Object.keys(key)))}) = (${parameters(key, 3)}) and md5("${column}"::text) = $2`,
    [values.text, md5(values.old), ...values.key],
  );
  return count > 0;
}

export interface ThreadTexts {
  thread_id: string;
  values: string | null;
  interrupts: string;
  error: string | null;
}

export async function selectThreadTexts(sql: Sql, after: string | undefined): Promise<ThreadTexts[]> {
  return sql<ThreadTexts[]>`
    select thread_id, values::text as values, interrupts::text as interrupts, error::text as error from threads
    where ${after ?? null}::text is null or thread_id > ${after ?? null}::text::uuid order by thread_id limit ${ROWS}`;
}

/**
 * Writes a thread's columns. A trigger deletes the stored lists of a thread whose values are set while it has lists
 * (functions/values.sql), so they are separated.
 * @returns whether the thread was still the same
 */
export async function replaceThreadTexts(sql: Sql, old: ThreadTexts, texts: Partial<ThreadTexts>): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [now] = await tx<(ThreadTexts & { lists: string | null })[]>`
      select thread_id, values::text as values, interrupts::text as interrupts, error::text as error,
             value_lists::text as lists
      from threads where thread_id = ${old.thread_id} for update`;
    if (now?.values !== old.values || now.interrupts !== old.interrupts || now.error !== old.error) return false;
    if (texts.values != null) {
      await tx`update threads set values = ${texts.values}::text::jsonb, value_lists = null where thread_id = ${old.thread_id}`;
      if (now.lists !== null)
        await tx`update threads set value_lists = ${now.lists}::text::jsonb where thread_id = ${old.thread_id}`;
    }
    if (texts.interrupts !== undefined)
      await tx`update threads set interrupts = ${texts.interrupts}::text::jsonb where thread_id = ${old.thread_id}`;
    if (texts.error != null)
      await tx`update threads set error = ${texts.error}::text::jsonb where thread_id = ${old.thread_id}`;
    return true;
  });
}

const CHECKPOINT_KEYS = {
  checkpoint_blobs: { thread_id: "text", checkpoint_ns: "text", channel: "text", version: "text" },
  checkpoint_writes: {
    thread_id: "text",
    checkpoint_ns: "text",
    checkpoint_id: "text",
    task_id: "text",
    idx: "integer",
  },
} as const;

export type CheckpointTable = keyof typeof CHECKPOINT_KEYS;

export interface StoredBytes {
  thread_id: string;
  channel: string;
  version: string;
  task_id: string;
  idx: number;
  type: string;
  blob: Buffer;
  key: string[];
}

/** The next rows after a key that none of the fresh data keys encrypts. Reads the table in key order. */
export async function selectStaleBytes(
  sql: Sql,
  table: CheckpointTable,
  fresh: Buffer[],
  after: string[],
): Promise<StoredBytes[]> {
  const key: Record<string, string> = CHECKPOINT_KEYS[table];
  const columns = Object.keys(key);
  const fields = table === "checkpoint_blobs" ? "channel, version" : "channel, task_id, idx";
  const rows = await sql.unsafe<(Record<string, string> & Omit<StoredBytes, "key">)[]>(
    `select thread_id, ${fields}, type, blob, ${list(columns.map((name, i) => `${name}::text as k${i}`))}
     from ${table}
     where blob is not null and type is not null
       and (type not like '%+sealed%' or substring(blob from 1 for 16) <> all ($1::text::bytea[]))
     ${after.length > 0 ? `and (${list(columns)}) > (${parameters(key, 2)})` : ""}
     order by ${list(columns)} limit ${ROWS}`,
    [`{${fresh.map((id) => `"\\\\x${id.toString("hex")}"`).join(",")}}`, ...after],
  );
  return rows.map((row) => ({ ...row, key: columns.map((_, i) => row[`k${i}`]!) }));
}

/** @returns whether the row still had the old value */
export async function replaceBytes(
  sql: Sql | Transaction,
  table: CheckpointTable,
  old: StoredBytes,
  { type, blob }: { type: string; blob: Uint8Array },
): Promise<boolean> {
  const key: Record<string, string> = CHECKPOINT_KEYS[table];
  const { count } = await sql.unsafe(
    `update ${table} set type = $1, blob = $2
     where (${list(Object.keys(key))}) = (${parameters(key, 5)}) and type = $3 and md5(blob) = $4`,
    [type, Buffer.from(blob), old.type, md5(old.blob), ...old.key],
  );
  return count > 0;
}

/** Locks a thread, so that no run is created, and returns whether it has unfinished ones. */
export async function holdsUnfinishedRun(tx: Transaction, threadId: string): Promise<boolean> {
  if (!/^[0-9a-f-]{36}$/.test(threadId)) return false;
  await tx`select 1 from threads where thread_id = ${threadId} for update`;
  const rows = await tx`
    select 1 from runs where thread_id = ${threadId} and status in ('pending', 'running') limit 1`;
  return rows.length > 0;
}
