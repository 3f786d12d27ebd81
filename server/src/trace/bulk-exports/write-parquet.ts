import { createWriteStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { sqlLiteral } from "../../base/clickhouse/format-param.ts";

const METHODS: Record<string, string> = { none: "none", gzip: "gzip", snappy: "snappy", zstandard: "zstd" };

/**
 * Bloom filters cost more than they save. Dictionaries help columns with few distinct values. With the engine's limit of
 * 1 MiB they would also be built for unique ids, and for texts, where they are abandoned once they exceed it. The default
 * join is designed for two large tables and partitions all rows, including long texts; the totals of traces are a small
 * table.
 */
const SETTINGS = {
  join_algorithm: "hash",
  output_format_parquet_row_group_size_bytes: String(32 * 1024 * 1024),
  output_format_parquet_write_bloom_filter: 0,
  output_format_parquet_max_dictionary_size: 65536,
  output_format_parquet_string_as_string: 1,
  engine_file_truncate_on_insert: 1,
} as const;

/** Target sizes, uncompressed, of a row group in the file and of a block in the engine. */
const GROUP_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES = 4 * 1024 * 1024;

/**
 * Returns the settings for a row size. Group and block sizes are set in rows, so the row size must be known: with the
 * engine's default of 65,536 rows per block, runs of 80 kB took 4.5 GB and runs of 2 kB 600 MB; with these settings
 * both take 300 MB. Larger groups need more memory and were not faster.
 *
 * @param rowBytes uncompressed size of a row
 */
export function parquetSettings(compression: string, rowBytes: number) {
  const rowLimit = (bytes: number, max: number) => String(Math.max(1, Math.min(max, Math.floor(bytes / rowBytes))));
  return {
    ...SETTINGS,
    output_format_parquet_row_group_size: rowLimit(GROUP_BYTES, 50_000),
    max_block_size: rowLimit(BLOCK_BYTES, 8192),
    output_format_parquet_compression_method: METHODS[compression]!,
  };
}

/**
 * Writes the result of a query, with rows of `rowBytes` each, to a local Parquet file. If rows are larger and the
 * engine runs out of memory, retries with smaller blocks.
 *
 * @returns the file's rows and bytes
 */
export async function writeParquet(
  clickhouse: ClickHouse,
  statement: { query: string; params: Record<string, never> },
  path: string,
  { compression, rowBytes }: { compression: string; rowBytes: number },
): Promise<{ rows: number; bytes: number }> {
  for (let assumedRowBytes = rowBytes; ; assumedRowBytes *= 16) {
    try {
      await write(clickhouse, statement, path, parquetSettings(compression, assumedRowBytes));
      break;
    } catch (error) {
      const isOutOfMemory = (error as { type?: string }).type === "MEMORY_LIMIT_EXCEEDED";
      // a block cannot be smaller than a row
      if (!isOutOfMemory || assumedRowBytes > GROUP_BYTES) throw error;
    }
  }
  return { rows: await countRows(path), bytes: (await stat(path)).size };
}

async function write(
  clickhouse: ClickHouse,
  statement: { query: string; params: Record<string, never> },
  path: string,
  settings: ReturnType<typeof parquetSettings>,
): Promise<void> {
  if (clickhouse.embedded) {
    // the embedded engine would buffer the whole response in memory, so it writes the file itself
    const query = `insert into function file(${sqlLiteral(path)}, 'Parquet') ${statement.query}`;
    return clickhouse.command({ name: "exports.write", query, params: statement.params, settings: settings as never });
  }
  const { stream } = await clickhouse.client.exec({
    query: `/* exports.write */ ${statement.query} format Parquet`,
    query_params: statement.params,
    clickhouse_settings: settings as never,
  });
  await pipeline(stream, createWriteStream(path));
}

/** Reads the number of rows from the file's footer. */
async function countRows(path: string): Promise<number> {
  const { parquetMetadata } = await import("hyparquet");
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const tail = await readAt(file, Math.max(0, size - 8), 8);
    if (tail.toString("latin1", 4) !== "PAR1") throw new Error(`${path} is not a Parquet file`);
    const footer = await readAt(file, size - 8 - tail.readUInt32LE(0), tail.readUInt32LE(0) + 8);
    return Number(parquetMetadata(new Uint8Array(footer).buffer).num_rows);
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  await file.read(buffer, 0, length, position);
  return buffer;
}
