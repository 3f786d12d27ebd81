import { join } from "node:path";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Options } from "../../base/config/options.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import type { ProjectDirectory } from "../projects/project-directory.ts";
import type { RunScope } from "../runs/run-scope.ts";
import type { destinationOptions } from "../export-destinations/settings.ts";
import type { ClaimedExport } from "./queue-sql.ts";
import type { ExportMetrics } from "./export-metrics.ts";
import type { RunCredentials } from "./run-credentials.ts";
import type { exportOptions } from "./settings.ts";

/** Dependencies of exporting. */
export interface ExportDeps {
  sql: Sql;
  clickhouse: ClickHouse;
  log: Log;
  settings: Options<typeof exportOptions> & Options<typeof destinationOptions> & { traceTier: string };
  dataDir: string;
  secrets: Secrets;
  outbound: Outbound;
  projects: ProjectDirectory;
  faultPoint: FaultPoint;
  metrics: ExportMetrics;
}

/** One attempt at an export, by the process that holds its lease. */
export interface Attempt {
  deps: ExportDeps;
  claimed: ClaimedExport;
  scope: RunScope;
  /** Aborted when the export is cancelled, the lease is lost, or the process stops. */
  signal: AbortSignal;
  /** This attempt's directory for files not yet uploaded. */
  directory: string;
  credentials: RunCredentials;
}

/** The attempt lost the export, or the export is no longer running: nothing more may be written for it. */
export class LostExportError extends Error {
  override name = "LostExportError";
}

/** Failure with a message that the export's owner may read. */
export class ExportError extends Error {
  override name = "ExportError";
}

export const temporaryFiles = (dataDir: string): string => join(dataDir, "exports");

/** Converts RFC 3339 in UTC with six digits, as the SQL here formats it, to ClickHouse's format. */
export const microTime = (time: string): string => time.replace("T", " ").replace("Z", "");
