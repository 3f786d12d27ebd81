import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startClickHouseServer } from "../../server/test/clickhouse-server.ts";
import { testDatabase } from "../../server/test/db.ts";
import { startTestS3 } from "../../server/test/s3.ts";
import { startFaultProxy } from "../s3/fault-proxy.ts";
import { ExportProcess } from "./export-process.ts";

/**
 * Resources shared by exporting processes: a Postgres, a ClickHouse and, behind a proxy that can fail, a store with the
 * bucket `traces`. The caller must call `stop`, which kills the processes that are still alive.
 */
export async function exportReplicas() {
  const directory = mkdtempSync(join(tmpdir(), "heddle-exports-"));
  const db = await testDatabase();
  const clickhouse = await startClickHouseServer(join(directory, "chdb"));
  const s3 = await startTestS3();
  s3.createBucket("traces");
  const proxy = await startFaultProxy(s3.endpoint);
  const alive = new Set<ExportProcess>();
  const killAll = () => Promise.all(Array.from(alive, (replica) => replica.kill()));

  return {
    sql: db.sql,
    s3,
    proxy,
    killAll,
    /** Resolves when it is ready or dead. */
    async start(env: Record<string, string> = {}): Promise<ExportProcess> {
      const replica = await ExportProcess.start({
        DATABASE: db.uri,
        DATA_DIR: join(directory, "data"),
        CLICKHOUSE_URL: clickhouse.url,
        HEDDLE_LOG_LEVEL: "silent",
        NODE_NO_WARNINGS: "1",
        HEDDLE_EXPORT_FILE_ROWS: "8",
        HEDDLE_EXPORT_LEASE_SECONDS: "2",
        HEDDLE_EXPORT_CONCURRENCY: "4",
        HEDDLE_EXPORT_WORKSPACE_LIMIT: "100",
        ...env,
      });
      alive.add(replica);
      void replica.exited.then(() => alive.delete(replica));
      return replica;
    },
    /** Creates a destination in the bucket, through the proxy. */
    async makeDestination(by: ExportProcess): Promise<string> {
      const { id } = await by.request("POST", "/bulk-exports/destinations", {
        display_name: "replicas",
        config: { bucket_name: "traces", prefix: "p", endpoint_url: proxy.endpoint, region: "us-east-1" },
        credentials: s3.createKey(),
      });
      return id;
    },
    async stop(): Promise<void> {
      await killAll();
      await proxy.stop();
      await s3.stop();
      await clickhouse.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
