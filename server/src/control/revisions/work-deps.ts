import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import type { BuildOutcome } from "../builds/build-metrics.ts";
import type { ControlChanges } from "../changes/control-changes.ts";
import type { ClusterImages } from "../cluster-images/cluster-images.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Clusters } from "../kubernetes/clusters.ts";
import type { ImageStore } from "../registry/image-store.ts";
import type { RouteTable } from "../gateway/route-table.ts";
import type { GitSource } from "../git/git-source.ts";
import type { Lead } from "../leadership/leadership.ts";
import type { LogWriter } from "../logs/log-writer.ts";
import type { DeploymentDatabases } from "../runtime/deployment-database.ts";
import type { Traces } from "../runtime/traces.ts";
import type { Supervisor } from "../runtime/supervisor.ts";
import type { ControlSettings } from "../settings.ts";

/** Dependencies of the work on revisions. */
export interface WorkDeps {
  sql: Sql;
  log: Log;
  settings: ControlSettings;
  /** Secrets encrypted at rest. */
  secrets: Secrets;
  /** `<data dir>/control`: uploads, builds, instances. */
  directory: string;
  databases: DeploymentDatabases;
  logs: LogWriter;
  driver: Driver;
  git: GitSource;
  outbound: Outbound;
  /** Images pushed to the embedded registry. */
  images: ImageStore;
  table: RouteTable;
  lead: Lead;
  changes: ControlChanges;
  /** Resolves when the other gateways have loaded the present routes, or after a while. */
  settleGateways: () => Promise<void>;
  supervisor: Supervisor;
  clusters: Clusters;
  clusterImages: ClusterImages;
  /** Resolves when the trace platform has started; null when there is none. */
  traces: Promise<Traces | null>;
  faultPoint: FaultPoint;
  /** Counts a lease on a revision that this process lost, or took over from another one. */
  countLostLease: (holder: "this" | "other") => void;
  measureBuild: (outcome: BuildOutcome, seconds: number) => void;
}
