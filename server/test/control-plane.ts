import type { IncomingMessage } from "node:http";
import { controlPages } from "../src/pages.ts";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createControlApp } from "../src/control-app.ts";
import { readOptions } from "../src/base/config/options.ts";
import type { Sql } from "../src/base/db/connect.ts";
import { chainInterceptors, type HttpServer, listenHttp } from "../src/base/http/http-server.ts";
import type { Guard } from "../src/base/http/route.ts";
import { createLog } from "../src/base/log.ts";
import { secretsOptions } from "../src/base/secrets/settings.ts";
import { type ControlPlane, startControlPlane } from "../src/control/control-plane.ts";
import type { CgroupSystem } from "../src/control/drivers/process/cgroups.ts";
import { GatewayMetrics } from "../src/control/gateway/gateway-metrics.ts";
import { Gateway } from "../src/control/gateway/gateway.ts";
import { openRegistry } from "../src/control/registry/open-registry.ts";
import { controlOptions } from "../src/control/settings.ts";
import { createCredentialRule } from "../src/identity/platform-credentials.ts";
import { identityOptions } from "../src/identity/settings.ts";
import { atEnd } from "./at-end.ts";
import { type Call, createCaller } from "./call.ts";
import { type TestDatabase, testDatabase } from "./db.ts";
import { openGuard } from "./principal.ts";

const LAUNCHER = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Whole control plane on a separate database, with its gateway on a port:
 *
 *     const control = await testControlPlane();
 *     const { status, json } = await control.call("GET", "/v2/deployments");
 *     await fetch(`${control.url}/d/my-agent/ok`);
 *
 * Its data is inside this repository, so that deployed projects find LangGraph without an installation.
 */
export interface TestControlPlane {
  control: ControlPlane;
  sql: Sql;
  call: Call;
  url: string;
  dataDir: string;
  stop: () => Promise<void>;
}

/** `dataDir`: data directory of an earlier one, as after a restart. */
export async function testControlPlane(
  env: Record<string, string> = {},
  options: {
    db?: TestDatabase;
    guard?: Guard;
    /** Whether keys are required; by default they are where a guard is given. */
    keysNeeded?: boolean;
    dataDir?: string;
    traces?: { url: string; key: string };
    cgroups?: CgroupSystem;
  } = {},
): Promise<TestControlPlane> {
  const db = options.db ?? (await testDatabase());
  const dataDir = options.dataDir ?? testDataDirectory();
  const declared = { ...controlOptions, ...identityOptions, ...secretsOptions };
  const settings = readOptions(declared, {
    HEDDLE_LOG_LEVEL: "error",
    HEDDLE_MIN_HEALTHY_MS: "100",
    // each isolation compiles the sources again, which takes seconds; tests of isolation set theirs
    HEDDLE_PROCESS_ISOLATION: "none",
    ...env,
  });
  const http: HttpServer = await listenHttp("127.0.0.1", 0, settings);
  const log = createLog(settings.logLevel);
  const keysNeeded = options.keysNeeded ?? options.guard !== undefined;
  const control = await startControlPlane({
    settings,
    log,
    database: { uri: db.uri, socket: db.options.host ?? null },
    dataDir,
    internalUrl: http.url,
    keysNeeded,
    launcher: LAUNCHER,
    ...(options.traces && { traces: Promise.resolve(options.traces) }),
    cgroups: options.cgroups,
  });
  const guard = options.guard ?? openGuard;
  // a gateway domain means that other machines can connect
  const reach = { keyless: settings.gatewayDomain === undefined, onLoopback: true };
  const app = createControlApp(control.deps, guard, reach);
  const { table } = control.deps;
  const metrics = new GatewayMetrics(control.deps.metrics.registry, (id) => table.knows(id));
  const gateway = new Gateway({
    metrics,
    table,
    log,
    settings,
    mayPass: createCredentialRule(guard.authenticator, keysNeeded),
  });
  const pages = controlPages(control.deps, reach, (request) => gateway.owns(request as IncomingMessage));
  http.serve(app.fetch, pages, chainInterceptors(gateway, openRegistry(control.deps)));
  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= (async () => {
      void http.stopListening();
      gateway.close();
      await control.stop();
      await http.close();
    })());
  atEnd(async () => {
    await stop();
    await dropDeploymentDatabases(db);
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  });
  return { control, sql: db.sql, call: createCaller(app), url: http.url, dataDir, stop };
}

/** Creates a deployment served from a port of the test, without a process. */
export async function serveDeployment(
  { sql, control }: TestControlPlane,
  { name, port, workspaceId }: { name: string; port: number; workspaceId: string },
): Promise<void> {
  const { directory, table } = control.deps;
  const [id, revision] = [crypto.randomUUID(), crypto.randomUUID()];
  await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status, active_revision_id)
    values (${id}, ${workspaceId}, ${name}, ${name}, 'internal_source', '{}', 'UNUSED', ${revision})`;
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status)
    values (${revision}, ${id}, 1, 'internal_source', '{}', 'DEPLOYED')`;
  await sql`insert into instances (id, deployment_id, revision_id, replica, state, place, port)
    values (${crypto.randomUUID()}, ${id}, ${revision}, 0, 'ready', ${`${hostname()}:${directory}`}, ${port})`;
  await table.refresh();
}

export function testDataDirectory(): string {
  const parent = join(REPOSITORY, "node_modules", ".cache");
  if (!existsSync(parent)) mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "heddle-control-"));
}

/** Drops the deployments' databases, which are siblings of the test's database and outlive it. */
export async function dropDeploymentDatabases({ sql }: TestDatabase): Promise<void> {
  const rows = await sql<{ id: string }[]>`select id from deployments`.catch(() => []);
  for (const { id } of rows) {
    const name = `heddle_d_${id.replaceAll("-", "")}`;
    await sql.unsafe(`drop database if exists "${name}" with (force)`);
    await sql.unsafe(`drop role if exists "${name}"`);
  }
}
