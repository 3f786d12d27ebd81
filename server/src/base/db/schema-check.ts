import type { Check, CheckResult } from "../health.ts";
import type { Sql } from "./connect.ts";
import { newestMigration } from "./migrate.ts";

/** Interval at which a current schema is read again. */
const AGAIN_MS = 30_000;
const UNDEFINED_TABLE = "42P01";

/**
 * Checks that the database has at least this code's schema: it may have been restored or replaced since the start.
 * A newer schema passes, because servers of the previous version keep working during a rolling upgrade. While the
 * database does not answer, the last result holds: another check reports that.
 */
export function checkSchema(sql: Sql, now: () => number = () => performance.now()): Check {
  let result: CheckResult = { ok: true };
  let readAt = -Infinity;
  return async () => {
    if (result.ok && now() - readAt < AGAIN_MS) return result;
    try {
      const needed = await newestMigration();
      const version = await readSchemaVersion(sql);
      readAt = now();
      result = { ok: version >= needed, version, needed };
      if (!result.ok) {
        result.reason = `the database has schema version ${version} of ${needed}; restart this server to migrate it`;
      }
    } catch {
      // reported by the check of the database itself
    }
    return result;
  };
}

/** Returns 0 for a database without a schema. */
async function readSchemaVersion(sql: Sql): Promise<number> {
  try {
    const rows = await sql<{ version: number }[]>`select coalesce(max(version), 0) as version from heddle_migrations`;
    return rows[0]!.version;
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return 0;
    throw error;
  }
}
