import { connect, type Sql } from "../base/db/connect.ts";
import { migrateDatabase } from "../base/db/migrate.ts";
import { openDatabase } from "../base/db/open-database.ts";
import { createLog, type Log } from "../base/log.ts";

/** Location of the data that a command works on. */
export interface DataLocation {
  dataDir: string;
  /** Postgres URL; the data directory's embedded Postgres when absent. */
  databaseUri?: string | undefined;
  /** Environment that names the secrets keys, which seal the lines of the audit log. */
  env?: Record<string, string | undefined>;
}

/**
 * Works on a platform's data from the command line, whether or not servers run on it: attaches to an embedded Postgres
 * that runs, or starts it for the duration of `work`.
 */
export async function withDatabase<T>(
  location: DataLocation,
  work: (base: { sql: Sql; log: Log }) => Promise<T>,
): Promise<T> {
  const log = createLog("warn");
  const database = await openDatabase({ dataDir: location.dataDir, uri: location.databaseUri, log });
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
