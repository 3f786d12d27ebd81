import { DiskCheck } from "../../base/disk-check.ts";
import { pingDatabase } from "../../base/db/ping.ts";
import { probeSpace } from "../../base/db/probe-space.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { AppError } from "../../base/errors.ts";
import { type Check, notFailing } from "../../base/health.ts";
import { ServerHealth } from "../../base/server-health.ts";
import type { TraceDeps } from "../deps.ts";

/** Inserts that fail for longer make the platform not ready, in milliseconds. */
const FAILING_MS = 5000;

type Parts = Pick<TraceDeps, "sql" | "clickhouse" | "log" | "settings" | "dataDir" | "blobs" | "writer">;

/** What the trace platform needs to take traces and to answer questions about them. */
export function traceHealth({ sql, clickhouse, log, settings, dataDir, blobs, writer }: Parts): ServerHealth {
  const { healthGraceSecs, minFreeDiskMb: limitMb } = settings;
  return new ServerHealth({
    log,
    graceMs: healthGraceSecs * 1000,
    checks: {
      postgres: () => pingDatabase(sql),
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
    const started = performance.now();
    await clickhouse.rows({ name: "health", query: "select 1", settings: { max_execution_time: 5 } });
    return { ok: true, ms: Math.round((performance.now() - started) * 10) / 10 };
  };

/** Milliseconds that each store took to answer. @throws 503 naming the one that didn't */
export async function checkStores(health: ServerHealth): Promise<Record<string, { ms: number }>> {
  const { checks } = await health.ready();
  const times = ["postgres", "clickhouse"].map((name) => {
    const result = checks[name];
    if (result?.ok) return [name, { ms: Number(result.ms) }];
    throw new AppError(503, `${name} does not answer: ${result?.reason}`, { headers: { "Retry-After": "1" } });
  });
  return Object.fromEntries(times);
}
