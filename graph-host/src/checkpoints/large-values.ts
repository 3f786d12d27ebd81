/**
 * Large values on their way to and from Postgres. The driver sends parameters and reads results as text: a value of 20 MB
 * would take 0.2 s of the process's event loop each way, and several times its size of memory. COPY transfers bytes as
 * they are, and in pieces.
 */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import type postgres from "postgres";

/** Size from which the extra round trips cost less than the text. */
export const LARGE_BYTES = 1024 * 1024;

const PIECE_BYTES = 256 * 1024;
/** Start of COPY's binary format: signature, flags, no extension; then one field per row. */
const COPY_START = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01", "latin1");
const COPY_END = Buffer.from([0xff, 0xff]);
/** Start, and the length of the first row's field. */
const FIRST_VALUE_AT = COPY_START.length + 4;

/** SQL expression of the bytes that `sendLargeBody` has sent in the same session. Parts are read without the rest. */
export const LARGE_BODY = "(select body from pg_temp.large_body)";

const UNDEFINED_TABLE = "42P01";

const NEW_TABLE = `
drop table if exists pg_temp.large_body;
create temporary table large_body (body bytea);
alter table large_body alter column body set storage external`;

/**
 * Makes the parts available as `LARGE_BODY`. `sql` must have one connection, which nothing else uses meanwhile.
 * @throws an error that passes when the session has ended: all of it must be sent again
 */
export async function sendLargeBody(sql: postgres.Sql, parts: readonly Buffer[]): Promise<void> {
  await sql.unsafe(NEW_TABLE).simple();
  const stream = await sql.unsafe("copy pg_temp.large_body from stdin (format binary)").writable();
  let failure: unknown;
  stream.on("error", (error) => (failure ??= error));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  try {
    await write(stream, start(length));
    for (const part of parts) {
      for (let at = 0; at < part.length; at += PIECE_BYTES) await write(stream, part.subarray(at, at + PIECE_BYTES));
    }
    await write(stream, COPY_END);
    stream.end();
  } catch (error) {
    // no statement now: sent before the driver knows that the socket is closed, it would spoil the next session
    throw lost(failure ?? error);
  }
  // the driver reports neither every failure of COPY, nor that the session is another one
  if ((await storedLength(sql)) !== length) throw lost(failure);
}

export async function dropLargeBody(sql: postgres.Sql): Promise<void> {
  await sql.unsafe("drop table if exists pg_temp.large_body");
}

const lost = (cause: unknown): Error =>
  Object.assign(new Error("The database has lost the values of a statement", { cause }), { code: "CONNECTION_CLOSED" });

function start(length: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(length);
  return Buffer.concat([COPY_START, size]);
}

async function storedLength(sql: postgres.Sql): Promise<number | undefined> {
  try {
    const rows = await sql.unsafe<{ length: number }[]>(`select octet_length(${LARGE_BODY}) as length`).simple();
    return rows[0]?.length;
  } catch (error) {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}

function write(stream: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * SQL expression that replaces a large `blob` of a row of this table by what `readLargeValue` needs to find it; null
 * for others.
 */
export function largeValueSource(alias: string, table: keyof typeof KEYS): string {
  const conditions = KEYS[table].map((column) => `${column} = %L`).join(" and ");
  const values = KEYS[table].map((column) => `${alias}.${column}`).join(", ");
  return `case when octet_length(${alias}.blob) >= ${LARGE_BYTES}
    then format('${table} where ${conditions}', ${values}) end`;
}

const KEYS = {
  checkpoint_blobs: ["thread_id", "checkpoint_ns", "channel", "version"],
  checkpoint_writes: ["thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx"],
};

/** Reads the value of a `largeValueSource`; undefined for one that was deleted in the meantime. */
export async function readLargeValue(sql: postgres.Sql, source: string): Promise<Buffer | undefined> {
  const stream: Readable = await sql.unsafe(`copy (select blob from ${source}) to stdout (format binary)`).readable();
  const chunks: Buffer[] = [];
  // listening at once: the driver would otherwise pause its socket, and not resume it after the last row
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(stream, "end");
  const copied = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  if (copied.length <= FIRST_VALUE_AT) return undefined;
  return copied.subarray(FIRST_VALUE_AT, FIRST_VALUE_AT + copied.readInt32BE(COPY_START.length));
}
