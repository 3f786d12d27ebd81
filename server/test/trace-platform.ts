import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll } from "vitest";

import { createTraceApp } from "../src/app.ts";
import { readOptions } from "../src/base/config/options.ts";
import type { Sql } from "../src/base/db/connect.ts";
import type { Guard } from "../src/base/http/route.ts";
import { createLog } from "../src/base/log.ts";
import { traceOptions } from "../src/trace/settings.ts";
import { startTracePlatform, type TracePlatform } from "../src/trace/trace-platform.ts";
import { type Call, callerOf } from "./call.ts";
import { type TestDatabase, testDatabase } from "./db.ts";
import { openGuard } from "./principal.ts";

/**
 * The whole trace platform on a database of its own, spoken to without a port:
 *
 *     const platform = await testTracePlatform();
 *     const { status, json } = await platform.call("GET", "/ok");
 */
export interface TestTracePlatform {
  platform: TracePlatform;
  sql: Sql;
  call: Call;
  stop: () => Promise<void>;
}

export async function testTracePlatform(
  env: Record<string, string> = {},
  options: { db?: TestDatabase; guard?: Guard } = {},
): Promise<TestTracePlatform> {
  const db = options.db ?? (await testDatabase());
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-trace-"));
  const settings = readOptions(traceOptions, { HEDDLE_LOG_LEVEL: "error", ...env });
  const platform = await startTracePlatform({
    settings,
    log: createLog(settings.logLevel),
    database: { uri: db.uri, socket: db.options.host ?? null },
    dataDir,
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= platform.stop());
  afterAll(async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { platform, sql: db.sql, call: callerOf(createTraceApp(platform.deps, options.guard ?? openGuard)), stop };
}
