import { DiskCheck } from "../../base/disk-check.ts";
import { pingDatabase } from "../../base/db/ping.ts";
import { probeSpace } from "../../base/db/probe-space.ts";
import { checkSchema } from "../../base/db/schema-check.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { AppError } from "../../base/errors.ts";
import { type Check, notFailing } from "../../base/health.ts";
import { ServerHealth } from "../../base/server-health.ts";
import type { TraceDeps } from "../deps.ts";

/** Time in milliseconds after which failing inserts make the platform not ready. */
const FAILING_MS = 5000;

type Parts = Pick<TraceDeps, "sql" | "clickhouse" | "log" | "settings" | "dataDir" | "blobs" | "writer">;

/** Creates the health checks of the trace platform's dependencies for ingest and queries. */
export function traceHealth({ sql, clickhouse, log, settings, dataDir, blobs, writer }: Parts): ServerHealth {
  const { healthGraceSecs, minFreeDiskMb: limitMb } = settings;
  return new ServerHealth({
    log,
    graceMs: healthGraceSecs * 1000,
    checks: {
      postgres: () => pingDatabase(sql),
      schema: checkSchema(sql),
      clickhouse: pingClickHouse(clickhouse),
      blobs: () => blobs.check(),
      ingest: notFailing(() => [writer.failure], FAILING_MS),
    },
    disk: new DiskCheck({ directory: dataDir, limitMb, probeDatabase: () => probeSpace(sql) }),
  });
}

const pingClickHouse =
  (clickhouse: ClickHouse): Check =>
  async () => {
    // it is opened by the first statement, which this must not be
    if (clickhouse.isAsleep) return { ok: true, ms: 0 };
    const started = performance.now();
    await clickhouse.rows({ name: "health", query: "select 1", settings: { max_execution_time: 5 } });
    return { ok: true, ms: Math.round((performance.now() - started) * 10) / 10 };
  };

/** Returns the response time of each store in milliseconds. @throws 503 naming the store that does not respond */
export async function checkStores(health: ServerHealth): Promise<Record<string, { ms: number }>> {
  const { checks } = await health.ready();
  const times = ["postgres", "clickhouse"].map((name) => {
    const result = checks[name];
    if (result?.ok) return [name, { ms: Number(result.ms) }];
    throw new AppError(503, `${name} does not answer: ${result?.reason}`, { headers: { "Retry-After": "1" } });
  });
  return Object.fromEntries(times);
}
