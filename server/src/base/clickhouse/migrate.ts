import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { idleInTransaction } from "../db/alone.ts";
import type { Sql } from "../db/connect.ts";
import type { ClickHouse } from "./clickhouse.ts";
import { forCluster } from "./cluster-ddl.ts";

/** Directory of the numbered migrations. */
export const MIGRATIONS = fileURLToPath(new URL("../../../migrations/clickhouse", import.meta.url));

/**
 * Advisory lock in Postgres that serializes the migrations of concurrent starts. An arbitrary number, reserved for
 * this.
 */
const LOCK = 7_236_519;

export class ClickHouseMigrationError extends Error {
  override name = "ClickHouseMigrationError";
}

/**
 * Migrates ClickHouse to this code's schema: numbered files once, in order, forward only. ClickHouse has neither
 * transactions nor advisory locks: the lock is one of Postgres, and each statement is repeatable (`if not exists`), so
 * that an interrupted migration is simply run again. A store that is newer than the code is rejected. `upTo`: the version
 * to stop at.
 */
export async function migrateClickHouse(
  clickhouse: ClickHouse,
  sql: Sql,
  directory = MIGRATIONS,
  { upTo = Infinity }: { upTo?: number } = {},
): Promise<{ applied: string[] }> {
  const all = (await readdir(directory)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  const files = all.filter((name) => migrationNumber(name) <= upTo);
  return await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`;
    await idleInTransaction(tx);
    return { applied: await apply(clickhouse, directory, files) };
  });
}

async function apply(clickhouse: ClickHouse, directory: string, files: string[]): Promise<string[]> {
  const run = async (statement: string) => {
    for (const query of forCluster(statement, clickhouse.cluster)) {
      await clickhouse.command({ name: "migrate", query });
    }
  };
  await run(VERSIONS);
  const known = await clickhouse.rows<{ version: number }>({
    name: "migrations.read",
    query: "select distinct version from heddle_migrations order by version limit 10000",
  });
  const current = Math.max(0, ...known.map((row) => row.version));
  const newest = Math.max(0, ...files.map(migrationNumber));
  if (current > newest) {
    throw new ClickHouseMigrationError(
      `The trace store has schema version ${current}, but this version of Heddle supports versions up to ` +
        `${newest}. Start the newer Heddle that migrated it, or use another store.`,
    );
  }
  const done = new Set(known.map((row) => row.version));
  const missing = files.filter((name) => !done.has(migrationNumber(name)));
  for (const file of missing) {
    for (const statement of splitStatements(await readFile(join(directory, file), "utf8"))) await run(statement);
    const line = JSON.stringify({ version: migrationNumber(file), name: file });
    await clickhouse.insert("heddle_migrations", ["version", "name"], Buffer.from(`${line}\n`));
  }
  return missing;
}

/** Version of the schema that this code migrates a store to. */
export async function newestStoreMigration(directory = MIGRATIONS): Promise<number> {
  const files = await readdir(directory);
  return Math.max(0, ...files.filter((name) => /^\d{4}_.+\.sql$/.test(name)).map(migrationNumber));
}

/** Version of the store's schema; 0 for an empty store. */
export async function readStoreVersion(clickhouse: ClickHouse): Promise<number> {
  const [table] = await clickhouse.rows({
    name: "migrations.find",
    query: "select 1 from system.tables where database = currentDatabase() and name = 'heddle_migrations'",
  });
  if (!table) return 0;
  const query = "select max(version) as version from heddle_migrations";
  const [row] = await clickhouse.rows<{ version: number }>({ name: "migrations.version", query });
  return row!.version;
}

const VERSIONS = `-- shard by: version
create table if not exists heddle_migrations (version UInt32, name String, applied_at DateTime('UTC') default now())
engine = ReplacingMergeTree order by version settings fsync_after_insert = 1, fsync_part_directory = 1`;

const migrationNumber = (file: string): number => Number.parseInt(file, 10);

/** Splits at semicolons that end a line. */
export function splitStatements(text: string): string[] {
  const parts = text.split(/;[ \t]*$/m).map((part) => part.trim());
  return parts.filter((part) => part.replace(/^--.*$/gm, "").trim() !== "");
}
