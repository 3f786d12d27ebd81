/** The trace platform's life: database, then what its slices need; and the way back. */
import { connect, type DatabaseAddress } from "../base/db/connect.ts";
import { migrate } from "../base/db/migrate.ts";
import type { Log } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import type { TraceDeps } from "./deps.ts";
import type { TraceSettings } from "./settings.ts";

export interface TracePlatformOptions {
  settings: TraceSettings;
  log: Log;
  database: DatabaseAddress;
  dataDir: string;
}

export interface TracePlatform {
  deps: TraceDeps;
  stop(): Promise<void>;
}

export async function startTracePlatform({
  settings,
  log,
  database,
  dataDir,
}: TracePlatformOptions): Promise<TracePlatform> {
  const sql = connect(database, { max: settings.databasePool, name: "heddle trace" });
  try {
    await migrate(sql);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  const deps: TraceDeps = { sql, log, settings, dataDir, metrics: createMetrics() };
  return {
    deps,
    async stop() {
      await sql.end({ timeout: 2 });
    },
  };
}
