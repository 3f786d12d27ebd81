import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Sql, Transaction } from "./connect.ts";

/** Where the numbered migrations lie, and the folder `functions`. */
export const MIGRATIONS = fileURLToPath(new URL("../../../migrations/postgres", import.meta.url));

/** Held while migrating, so that servers that start together take turns. An arbitrary number, ours alone. */
const LOCK = 7_236_518;

export class MigrationError extends Error {
  override name = "MigrationError";
}

/**
 * Brings the database to this code's schema: numbered files once, in order, forward only; the files of
 * `functions` whenever one changed. All in one transaction under an advisory lock. A database that is newer than the code
 * is refused, because what this code would write might break what the newer code relies on.
 */
export async function migrate(sql: Sql, directory = MIGRATIONS): Promise<{ applied: string[] }> {
  const files = (await readdir(directory)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  const functions = await readFunctions(join(directory, "functions"));
  const functionsHash = createHash("sha256").update(functions).digest("hex");
  const applied: string[] = [];

  await sql.begin(async (tx: Transaction) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`;
    const [server] = await tx<{ major: number }[]>`select current_setting('server_version_num')::int / 10000 as major`;
    if (server!.major < 15) {
      throw new MigrationError(`Heddle needs Postgres 15 or newer; this one is ${server!.major}.`);
    }
    await tx`create table if not exists heddle_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`;
    await tx`create table if not exists heddle_functions (hash text primary key, applied_at timestamptz not null default now())`;

    const [row] = await tx<{ version: number }[]>`select coalesce(max(version), 0) as version from heddle_migrations`;
    const current = row!.version;
    const newest = Math.max(0, ...files.map(numberOf));
    if (current > newest) {
      throw new MigrationError(
        `The database has schema version ${current}, this Heddle knows versions up to ${newest}. ` +
          "A newer Heddle has been here: start that one, or use another database.",
      );
    }
    for (const file of files.filter((name) => numberOf(name) > current)) {
      await tx`insert into heddle_migrations (version, name) values (${numberOf(file)}, ${file})`;
      await tx.unsafe(await readFile(join(directory, file), "utf8"));
      applied.push(file);
    }
    const [known] = await tx`select 1 from heddle_functions where hash = ${functionsHash}`;
    if (!known) {
      await tx.unsafe(functions);
      await tx`delete from heddle_functions`;
      await tx`insert into heddle_functions (hash) values (${functionsHash})`;
      applied.push("functions");
    }
  });
  return { applied };
}

/** One file a slice. They may call each other, so Postgres checks their bodies when they are first called. */
async function readFunctions(directory: string): Promise<string> {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), "utf8")));
  return ["set local check_function_bodies = off;", ...texts].join("\n");
}

const numberOf = (file: string): number => Number.parseInt(file, 10);
