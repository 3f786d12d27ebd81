import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { buildIndexes } from "./build-indexes.ts";
import { connect, type DatabaseAddress, type Sql, type Transaction } from "./connect.ts";
import { installFunctions, readFunctions } from "./functions-version.ts";
import { lockedInTime, LockTimeoutError } from "./lock-timeout.ts";
import { retryWhileUnavailable } from "./retry.ts";

/** Directory of the numbered migrations and the folder `functions`. */
export const MIGRATIONS = fileURLToPath(new URL("../../../migrations/postgres", import.meta.url));

/** Advisory lock that serializes the migrations of concurrent starts. An arbitrary number, reserved for this. */
const LOCK = 7_236_518;

class MigrationError extends Error {
  override name = "MigrationError";
}

/** Migrates over a separate connection, without a time limit for statements. */
export const migrateDatabase = (database: DatabaseAddress): Promise<unknown> =>
  retryWhileUnavailable(() => withoutLimit(database, migrate));

/** Runs statements that may take longer than those of a request: migrations, indexes. */
export async function withoutLimit<T>(database: DatabaseAddress, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(database, { max: 1, name: "heddle setup", silenceMs: 0 });
  return work(sql).finally(() => sql.end({ timeout: 1 }));
}

/**
 * Migrates the database to this code's schema: numbered files once, in order, forward only; the files of `functions`
 * whenever one changed, unless newer ones are installed. All in one transaction under an advisory lock. A database that
 * is newer than the code is rejected, because this code's writes might break what the newer code relies on. Indexes of
 * large tables are built afterwards, outside the transaction.
 *
 * `upTo`: the version to stop at, without installing functions; a restore loads its data before it migrates further.
 */
export async function migrate(
  sql: Sql,
  directory = MIGRATIONS,
  { upTo = Infinity }: { upTo?: number } = {},
): Promise<{ applied: string[] }> {
  const all = (await readdir(directory)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  const files = all.filter((name) => migrationNumber(name) <= upTo);
  const functions = await readFunctions(join(directory, "functions"));
  const applied: string[] = [];

  await sql.begin(async (tx: Transaction) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`;
    const [server] = await tx<{ major: number }[]>`select current_setting('server_version_num')::int / 10000 as major`;
    if (server!.major < 15) {
      throw new MigrationError(`Heddle needs Postgres 15 or newer; this server is version ${server!.major}.`);
    }
    await tx`create table if not exists heddle_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`;

    const [row] = await tx<{ version: number }[]>`select coalesce(max(version), 0) as version from heddle_migrations`;
    const current = row!.version;
    const newest = Math.max(0, ...files.map(migrationNumber));
    if (current > newest) {
      throw new MigrationError(
        `The database has schema version ${current}, but this version of Heddle supports versions up to ` +
          `${newest}. Start the newer Heddle that migrated it, or use another database.`,
      );
    }
    const pending = files.filter((name) => migrationNumber(name) > current);
    const statements = await Promise.all(pending.map((file) => readFile(join(directory, file), "utf8")));
    if (current > 0) await lockTables(tx, statements.filter((text) => !text.startsWith(ROWS_ONLY)).join("\n"));
    for (const [i, file] of pending.entries()) {
      await tx`insert into heddle_migrations (version, name) values (${migrationNumber(file)}, ${file})`;
      await tx.unsafe(statements[i]!);
      applied.push(file);
    }
    if (upTo === Infinity && (await installFunctions(tx, functions))) applied.push("functions");
  });
  if (upTo === Infinity) await buildIndexes(sql, await readIndexes(directory));
  return { applied };
}

/**
 * Time to wait for each table, and in all: below the second after which Postgres ends one of two sessions that wait for
 * each other, which could be a server's.
 */
const LOCK_MS = 100;
const LOCKS_MS = 800;
/** Attempts, about half a second apart, after which the migrations wait for their locks as they come to need them. */
const LOCK_TRIES = 120;
/** First line of a migration that changes only rows, and may take long. Servers of the earlier version use the tables. */
const ROWS_ONLY = "-- locks: rows\n";

/**
 * Locks the tables that occur in the statements, all or none. Servers of the earlier version keep running; migrations
 * that held one table and waited for the next would end their statements as deadlocks.
 */
async function lockTables(tx: Transaction, statements: string): Promise<void> {
  const words = new Set(statements.match(/\w+/g));
  const all = await tx<{ name: string }[]>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`;
  const tables = all.filter(({ name }) => words.has(name));
  for (let n = 0; n < LOCK_TRIES; n++) {
    if (await lockedInTime(tx.savepoint((attempt) => lockTogether(attempt, tables)))) return;
    await sleep(300 + Math.random() * 400);
  }
}

async function lockTogether(tx: Transaction, tables: readonly { name: string }[]): Promise<void> {
  const deadline = performance.now() + LOCKS_MS;
  await tx.unsafe(`set local lock_timeout = ${LOCK_MS}`);
  for (const { name } of tables) {
    if (performance.now() > deadline) throw new LockTimeoutError();
    await tx`lock table ${tx(name)} in access exclusive mode`;
  }
  await tx`set local lock_timeout to default`;
}

/** Returns the text of `indexes.sql`; empty where there is none. */
const readIndexes = async (directory: string): Promise<string> =>
  (await readdir(directory)).includes("indexes.sql") ? readFile(join(directory, "indexes.sql"), "utf8") : "";

/** Version of the schema that this code migrates a database to. */
export async function newestMigration(directory = MIGRATIONS): Promise<number> {
  const files = await readdir(directory);
  return Math.max(0, ...files.filter((name) => /^\d{4}_.+\.sql$/.test(name)).map(migrationNumber));
}

const migrationNumber = (file: string): number => Number.parseInt(file, 10);

/** Names of the tables that the migrations create. */
export async function listMigratedTables(directory = MIGRATIONS): Promise<Set<string>> {
  const files = (await readdir(directory)).filter((name) => /^\d{4}_.+\.sql$/.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), "utf8")));
  const names = texts.flatMap((text) =>
    Array.from(text.matchAll(/^\s*create (?:unlogged )?table (?:if not exists )?(\w+)/gim), (match) => match[1]!),
  );
  return new Set([...names, "heddle_migrations", "heddle_functions"]);
}
