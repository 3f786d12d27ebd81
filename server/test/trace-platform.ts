import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createTraceApp } from "../src/trace-app.ts";
import type { ClickHouse } from "../src/base/clickhouse/clickhouse.ts";
import { readOptions } from "../src/base/config/options.ts";
import type { Sql } from "../src/base/db/connect.ts";
import type { Guard } from "../src/base/http/route.ts";
import { createLog } from "../src/base/log.ts";
import { secretsOptions } from "../src/base/secrets/settings.ts";
import { identityOptions } from "../src/identity/settings.ts";
import { traceOptions } from "../src/trace/settings.ts";
import { startTracePlatform, type TracePlatform } from "../src/trace/trace-platform.ts";
import { atEnd } from "./at-end.ts";
import { type Call, createCaller } from "./call.ts";
import { testClickHouse } from "./clickhouse.ts";
import { type TestDatabase, testDatabase } from "./db.ts";
import { openGuard } from "./principal.ts";

/**
 * Whole trace platform on a separate database, called without a port:
 *
 *     const platform = await testTracePlatform();
 *     const { status, json } = await platform.call("GET", "/ok");
 *
 * Several in one file behave like replicas on one ClickHouse.
 */
export interface TestTracePlatform {
  platform: TracePlatform;
  sql: Sql;
  clickhouse: ClickHouse;
  call: Call;
  stop: () => Promise<void>;
}

const directories = new WeakMap<TestDatabase, string>();

function sharedBlobs(db: TestDatabase): string {
  const known = directories.get(db) ?? mkdtempSync(join(tmpdir(), "heddle-blobs-"));
  directories.set(db, known);
  atEnd(() => rmSync(known, { recursive: true, force: true }));
  return known;
}

/**
 * `ownBlobs`: blobs in the data directory, even where the database is shared; `dataDir`: that of an earlier platform.
 */
export async function testTracePlatform(
  env: Record<string, string> = {},
  options: { db?: TestDatabase; guard?: Guard; now?: () => Date; ownBlobs?: boolean; dataDir?: string } = {},
): Promise<TestTracePlatform> {
  const db = options.db ?? (await testDatabase());
  const clickhouse = await testClickHouse();
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "heddle-trace-"));
  const declared = { ...traceOptions, ...identityOptions, ...secretsOptions };
  // replicas of one database share the files too
  const blobs = options.db ? { HEDDLE_BLOB_DIRECTORY: sharedBlobs(options.db) } : {};
  const ownPlace = env["HEDDLE_BLOB_BUCKET"] !== undefined || options.ownBlobs;
  const settings = readOptions(declared, { HEDDLE_LOG_LEVEL: "error", ...(!ownPlace && blobs), ...env });
  const platform = await startTracePlatform({
    settings,
    log: createLog(settings.logLevel),
    database: { uri: db.uri, socket: db.options.host ?? null },
    dataDir,
    clickhouse,
    ...(options.now && { now: options.now }),
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= platform.stop());
  atEnd(async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const app = createTraceApp(platform.deps, options.guard ?? openGuard);
  return { platform, sql: db.sql, clickhouse, call: createCaller(app), stop };
}
