import { connect, type Sql } from "../base/db/connect.ts";
import { migrateDatabase } from "../base/db/migrate.ts";
import { openDatabase } from "../base/db/open-database.ts";
import { createLog, type Log } from "../base/log.ts";

/** Where the data is that a command works on. */
export interface DataPlace {
  dataDir: string;
  /** Postgres by URL; the embedded one of the data directory when absent. */
  databaseUri?: string | undefined;
  /** Where the keys of secrets are looked for, with which lines of the audit log are sealed. */
  env?: Record<string, string | undefined>;
}

/**
 * Work on a platform's data from the command line, whether servers are running on it or not: the embedded Postgres
 * is adopted where it runs, and started for as long as the work takes where it does not.
 */
export async function withDatabase<T>(
  place: DataPlace,
  work: (base: { sql: Sql; log: Log }) => Promise<T>,
): Promise<T> {
  const log = createLog("warn");
  const database = await openDatabase({ dataDir: place.dataDir, uri: place.databaseUri, log });
  try {
    const sql = connect(database.address, { max: 2, name: "heddle command" });
    try {
      await migrateDatabase(database.address);
      return await work({ sql, log });
    } finally {
      await sql.end({ timeout: 2 });
    }
  } finally {
    await database.close();
  }
}
