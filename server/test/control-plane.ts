import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll } from "vitest";

import { createControlApp } from "../src/app.ts";
import { readOptions } from "../src/base/config/options.ts";
import type { Sql } from "../src/base/db/connect.ts";
import { type HttpServer, listenHttp } from "../src/base/http/http-server.ts";
import { inOrder } from "../src/base/http/in-order.ts";
import type { Guard } from "../src/base/http/route.ts";
import { createLog } from "../src/base/log.ts";
import { secretsOptions } from "../src/base/secrets/settings.ts";
import { type ControlPlane, startControlPlane } from "../src/control/control-plane.ts";
import { Gateway } from "../src/control/gateway/gateway.ts";
import { openRegistry } from "../src/control/registry/open-registry.ts";
import { controlOptions } from "../src/control/settings.ts";
import { identityOptions } from "../src/identity/settings.ts";
import { type Call, callerOf } from "./call.ts";
import { type TestDatabase, testDatabase } from "./db.ts";
import { openGuard } from "./principal.ts";

const LAUNCHER = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The whole control plane on a database of its own, with its gateway on a port:
 *
 *     const control = await testControlPlane();
 *     const { status, json } = await control.call("GET", "/v2/deployments");
 *     await fetch(`${control.url}/d/my-agent/ok`);
 *
 * Its data lies inside this repository, so that deployed projects find LangGraph without an installation.
 */
export interface TestControlPlane {
  control: ControlPlane;
  sql: Sql;
  call: Call;
  url: string;
  dataDir: string;
  stop: () => Promise<void>;
}

/** `dataDir`: of one before, as after a restart. */
export async function testControlPlane(
  env: Record<string, string> = {},
  options: { db?: TestDatabase; guard?: Guard; dataDir?: string; traces?: { url: string; key: string } } = {},
): Promise<TestControlPlane> {
  const db = options.db ?? (await testDatabase());
  const dataDir = options.dataDir ?? testDataDirectory();
  const declared = { ...controlOptions, ...identityOptions, ...secretsOptions };
  const settings = readOptions(declared, { HEDDLE_LOG_LEVEL: "error", HEDDLE_MIN_HEALTHY_MS: "100", ...env });
  const http: HttpServer = await listenHttp("127.0.0.1", 0, settings);
  const log = createLog(settings.logLevel);
  const control = await startControlPlane({
    settings,
    log,
    database: { uri: db.uri, socket: db.options.host ?? null },
    dataDir,
    internalUrl: http.url,
    keysNeeded: options.guard !== undefined,
    launcher: LAUNCHER,
    ...(options.traces && { traces: Promise.resolve(options.traces) }),
  });
  const guard = options.guard ?? openGuard;
  const app = createControlApp(control.deps, guard);
  const { table } = control.deps;
  const gateway = new Gateway({ table, log, settings });
  http.serve(app.fetch, inOrder(gateway, openRegistry(control.deps)));
  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= (async () => {
      void http.stopListening();
      gateway.close();
      await control.stop();
      await http.close();
    })());
  afterAll(async () => {
    await stop();
    await dropDeploymentDatabases(db);
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  });
  return { control, sql: db.sql, call: callerOf(app), url: http.url, dataDir, stop };
}

export function testDataDirectory(): string {
  const parent = join(REPOSITORY, "node_modules", ".cache");
  if (!existsSync(parent)) mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "heddle-control-"));
}

/** They lie beside the test's own database, and outlive it. */
export async function dropDeploymentDatabases({ sql }: TestDatabase): Promise<void> {
  const rows = await sql<{ id: string }[]>`select id from deployments`.catch(() => []);
  for (const { id } of rows) {
    const name = `heddle_d_${id.replaceAll("-", "")}`;
    await sql.unsafe(`drop database if exists "${name}" with (force)`);
    await sql.unsafe(`drop role if exists "${name}"`);
  }
}
