/** Start and stop of a standalone gateway: its table, its metrics and its health. */
import { Gauge } from "prom-client";

import { connect, type DatabaseAddress } from "../../base/db/connect.ts";
import { migrateDatabase } from "../../base/db/migrate.ts";
import { Health } from "../../base/health.ts";
import type { Log } from "../../base/log.ts";
import { createMetrics, type Metrics } from "../../base/metrics.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Started } from "../../base/started.ts";
import { ControlChanges } from "../changes/control-changes.ts";
import { GatewayMetrics } from "./gateway-metrics.ts";
import { RouteFollower } from "./route-follower.ts";
import { RouteTable } from "./route-table.ts";

export interface GatewayDeps {
  sql: Sql;
  table: RouteTable;
  metrics: Metrics;
  gatewayMetrics: GatewayMetrics;
  health: Health;
}

export interface OpenGatewayOptions {
  database: DatabaseAddress;
  log: Log;
  /** Machine whose instances can be reached. */
  host: string;
  settings: { databasePool: number; healthGraceSecs: number };
}

export async function openGateway(
  { database, log, host, settings }: OpenGatewayOptions,
  started: Started,
): Promise<GatewayDeps> {
  const sql = connect(database, { max: settings.databasePool, name: "heddle gateway" });
  started.add(() => sql.end({ timeout: 2 }));
  await migrateDatabase(database);
  const table = new RouteTable(sql, host);
  const changes = new ControlChanges(database, log);
  started.add(() => changes.stop());
  await changes.start();
  const follower = new RouteFollower({ sql, changes, log, table, host });
  started.add(() => follower.stop());
  await follower.start();
  const metrics = createMetrics();
  const { registry } = metrics;
  void new Gauge({
    name: "heddle_gateway_table_age_seconds",
    help: "Time since the gateway last loaded the routes to deployments; it keeps the last ones while Postgres is unavailable.",
    registers: [registry],
    collect() {
      this.set(follower.age);
    },
  });
  const health = new Health({
    log,
    graceMs: settings.healthGraceSecs * 1000,
    // an old table still serves: without Postgres, no gateway would be ready otherwise
    checks: { routes: () => ({ ok: true, age_seconds: Math.round(follower.age) }) },
  });
  started.add(() => health.stop());
  health.start();
  return { sql, table, metrics, gatewayMetrics: new GatewayMetrics(registry, (id) => table.knows(id)), health };
}
