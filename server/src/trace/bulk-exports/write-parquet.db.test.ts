import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { testClickHouse } from "../../../test/clickhouse.ts";
import type { Query } from "../../base/clickhouse/clickhouse.ts";
import { parquetSettings, writeParquet } from "./write-parquet.ts";

const directory = mkdtempSync(join(tmpdir(), "heddle-parquet-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const clickhouse = await testClickHouse();

test("writes fewer rows at a time the heavier they are", () => {
  const pieces = (rowBytes: number) => {
    const { max_block_size: block, output_format_parquet_row_group_size: group } = parquetSettings("gzip", rowBytes);
    return [Number(block), Number(group)];
  };
  expect(pieces(100)).toEqual([8192, 50_000]);
  expect(pieces(2000)).toEqual([2097, 8388]);
  expect(pieces(80_000)).toEqual([52, 209]);
  expect(pieces(1e9)).toEqual([1, 1]);
});

test("writes rows that are heavier than estimated in smaller blocks", async () => {
  await clickhouse.command({
    name: "t",
    query: "create table heavy (n UInt32, t String) engine = MergeTree order by n",
  });
  await clickhouse.command({
    name: "t",
    query: "insert into heavy select number, repeat('a few words ', 8000) from numbers(3000)",
    settings: { max_block_size: "100", min_insert_block_size_rows: "100" },
  });
  const tried: unknown[] = [];
  /** The same engine with less memory per statement. */
  const tight = Object.create(clickhouse) as typeof clickhouse;
  tight.command = ({ settings, ...query }: Query) => {
    tried.push(settings?.max_block_size);
    return clickhouse.command({ ...query, settings: { ...settings, max_memory_usage: "200000000" } });
  };
  const path = join(directory, "heavy.parquet");
  const statement = { query: "select n, t from heavy order by n", params: {} };
  const written = await writeParquet(tight, statement, path, { compression: "zstandard", rowBytes: 500 });
  expect(written.rows).toBe(3000);
  expect(tried[0]).toBe("8192");
  expect(tried.length).toBeGreaterThan(1);
});
