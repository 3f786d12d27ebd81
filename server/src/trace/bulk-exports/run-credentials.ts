/**
 * Credentials of runs. Each run keeps those it began with, also across a restart; rotated credentials apply to runs
 * that begin later. They are stored as secrets of the run until it ends.
 */
import type { Bucket } from "../../base/blob/bucket.ts";
import { StorageError } from "../../base/blob/s3-error.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import {
  type ExportDestination,
  findDestination,
  openBucket,
  serializeCredentials,
  readCredentials,
} from "../export-destinations/bucket.ts";

const RUN_SECRET = "export-run";

/** Opens an export's bucket with the credentials of one of its runs, or with the newest ones. */
export interface RunCredentials {
  open(runId: string | null): Promise<{ bucket: Bucket; config: ExportDestination["config"] }>;
  /** Closes all opened buckets. */
  close(): void;
}

export function runCredentials(
  deps: { sql: Sql; secrets: Secrets; outbound: Outbound; settings: { exportEnvironmentCredentials: boolean } },
  scope: { tenant_id: string; destination_id: string },
): RunCredentials {
  const opened: Bucket[] = [];
  return {
    async open(runId) {
      const destination = await findDestination(deps, scope.tenant_id, scope.destination_id);
      if (!destination) throw new Error(`the destination ${scope.destination_id} no longer exists`);
      const credentials = runId === null ? destination.credentials : await keep(deps.secrets, destination, runId);
      // also for destinations created before the operator disabled it
      if (!credentials && !deps.settings.exportEnvironmentCredentials) throw notLent();
      const bucket = await openBucket({ config: destination.config, credentials }, deps.outbound);
      opened.push(bucket);
      return { bucket, config: destination.config };
    },
    close() {
      for (const bucket of opened.splice(0)) bucket.close();
    },
  };
}

async function keep(
  secrets: Secrets,
  { credentials, tenant_id }: ExportDestination,
  runId: string,
): Promise<ExportDestination["credentials"]> {
  const ref = { purpose: RUN_SECRET, id: runId };
  const stored = readCredentials(await secrets.get(ref));
  if (stored) return stored;
  if (credentials) await secrets.put({ ...ref, workspaceId: tenant_id }, serializeCredentials(credentials));
  return credentials;
}

export const forgetCredentials = (secrets: Secrets, runId: string): Promise<void> =>
  secrets.delete({ purpose: RUN_SECRET, id: runId });

const notLent = () =>
  new StorageError(
    "no_credentials",
    "No credentials: this installation does not provide its own. Add credentials to the destination",
    {
      code: "HEDDLE_EXPORT_ENVIRONMENT_CREDENTIALS",
    },
  );
