import { DiskCheck } from "../../base/disk-check.ts";
import { pingDatabase } from "../../base/db/ping.ts";
import { probeSpace } from "../../base/db/probe-space.ts";
import { checkSchema } from "../../base/db/schema-check.ts";
import { type Check, notFailing } from "../../base/health.ts";
import { ServerHealth } from "../../base/server-health.ts";
import type { ControlDeps } from "../deps.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Clusters } from "../kubernetes/clusters.ts";
import type { Leadership } from "../leadership/leadership.ts";

/** Time in milliseconds after which failing work makes the control plane not ready. */
const FAILING_MS = 5000;

type Parts = Pick<ControlDeps, "sql" | "log" | "settings" | "driver" | "clusters" | "supervisor" | "worker"> & {
  leadership: Leadership;
  dataDir: string;
};

/** Checks of everything that the control plane needs to build and run deployments. */
export function controlHealth({
  sql,
  log,
  settings,
  driver,
  clusters,
  supervisor,
  worker,
  leadership,
  dataDir,
}: Parts): ServerHealth {
  const { healthGraceSecs, minFreeDiskMb: limitMb } = settings;
  return new ServerHealth({
    log,
    graceMs: healthGraceSecs * 1000,
    checks: {
      database: () => pingDatabase(sql),
      schema: checkSchema(sql),
      driver: checkDriver(driver, clusters, settings.driver === "kubernetes"),
      revisions: notFailing(() => [worker.failure], FAILING_MS),
      instances: notFailing(() => [supervisor.failure, clusters.planner.failure], FAILING_MS),
      // every control plane answers requests, whether or not it leads
      leadership: () => ({ ok: true, leads: leadership.leads, ...(leadership.term && { term: leadership.term }) }),
    },
    disk: new DiskCheck({ directory: dataDir, limitMb, probeDatabase: () => probeSpace(sql) }),
  });
}

const checkDriver =
  (driver: Driver, clusters: Clusters, runsPods: boolean): Check =>
  () => {
    const cluster = clusters.awaySince();
    // for pods, the engine only builds images: without it, builds wait and everything else works
    const since = (runsPods ? null : driver.awaySince?.()) ?? cluster;
    if (since === null) return { ok: true };
    const seconds = Math.round((Date.now() - since) / 1000);
    const name = since === cluster ? "Kubernetes API server" : "container engine";
    return { ok: false, reason: `the ${name} has not responded for ${seconds} s`, partial: true };
  };
