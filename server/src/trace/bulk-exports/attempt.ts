import { join } from "node:path";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Options } from "../../base/config/options.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import type { RunScope } from "../runs/run-scope.ts";
import type { destinationOptions } from "./destination-settings.ts";
import type { ClaimedExport } from "./queue-sql.ts";
import type { RunCredentials } from "./run-credentials.ts";
import type { exportOptions } from "./settings.ts";

/** What exporting needs. */
export interface ExportDeps {
  sql: Sql;
  clickhouse: ClickHouse;
  log: Log;
  settings: Options<typeof exportOptions> & Options<typeof destinationOptions> & { traceTier: string };
  dataDir: string;
  secrets: Secrets;
  outbound: Outbound;
  faultPoint: FaultPoint;
}

/** One attempt at an export, by the process that holds its lease. */
export interface Attempt {
  deps: ExportDeps;
  held: ClaimedExport;
  scope: RunScope;
  /** Aborted when the export is cancelled, when the lease is lost, and when the process stops. */
  signal: AbortSignal;
  /** For files on their way; this attempt's own. */
  directory: string;
  credentials: RunCredentials;
}

/** The export is not this attempt's any more, or is not running: nothing is to be written for it. */
export class NotOursError extends Error {
  override name = "NotOursError";
}

/** A failure whose message the export's owner may read. */
export class ExportError extends Error {
  override name = "ExportError";
}

export const temporaryFiles = (dataDir: string): string => join(dataDir, "exports");

/** RFC 3339 in UTC with six digits, as Postgres prints it here, to what ClickHouse reads. */
export const microTime = (time: string): string => time.replace("T", " ").replace("Z", "");
