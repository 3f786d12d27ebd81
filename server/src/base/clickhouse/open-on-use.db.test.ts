import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { acquireFileLock } from "../db/file-lock.ts";
import type { ClickHouse } from "./clickhouse.ts";
import { migrateClickHouse } from "./migrate.ts";
import { openClickHouse } from "./open-clickhouse.ts";

const db = await testDatabase();
const directory = mkdtempSync(join(tmpdir(), "heddle-chdb-"));
const opened: ClickHouse[] = [];
afterAll(async () => {
  for (const clickhouse of opened) await clickhouse.close();
  rmSync(directory, { recursive: true, force: true });
});

async function openOnUse(onFirstUse: (clickhouse: ClickHouse) => Promise<unknown>): Promise<ClickHouse> {
  const clickhouse = await openClickHouse({
    ...{ url: "", cluster: "", directory, connections: 4, maxMemory: 1024 ** 3 },
    onFirstUse,
  });
  opened.push(clickhouse);
  return clickhouse;
}

const count = (clickhouse: ClickHouse) => clickhouse.rows({ name: "t", query: "select count() as runs from runs" });

test("holds the directory without opening it, and releases it when closed", async () => {
  const clickhouse = await openOnUse((engine) => migrateClickHouse(engine, db.sql));
  expect(clickhouse.isAsleep).toBe(true);
  expect(readdirSync(directory)).toEqual([]);
  await expect(acquireFileLock(`${directory}.lock`, { waitMs: 100 })).rejects.toThrow();
  await clickhouse.close();
  (await acquireFileLock(`${directory}.lock`, { waitMs: 100 })).release();
  await expect(count(clickhouse)).rejects.toMatchObject({ status: 503 });
});

test("repeats a failed preparation, and opens once for concurrent statements, which wait for it", async () => {
  let calls = 0;
  const clickhouse = await openOnUse(async (engine) => {
    if (++calls === 1) throw new Error("no space");
    await migrateClickHouse(engine, db.sql);
  });
  await expect(count(clickhouse)).rejects.toMatchObject({ status: 503, message: expect.stringContaining("no space") });
  const answers = await Promise.all([count(clickhouse), count(clickhouse.forTenant("a")), count(clickhouse)]);
  expect(answers).toEqual([[{ runs: 0 }], [{ runs: 0 }], [{ runs: 0 }]]);
  expect(calls).toBe(2);
  expect(clickhouse.isAsleep).toBe(false);
});
