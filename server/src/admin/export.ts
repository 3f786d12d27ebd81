import { readOptions } from "../base/config/options.ts";
import { isUuid } from "../base/ids.ts";
import { createOutbound } from "../base/outbound/outbound.ts";
import { readPolicy } from "../base/outbound/policy.ts";
import { outboundOptions } from "../base/outbound/settings.ts";
import { openSecrets } from "../base/secrets/secrets.ts";
import { secretsOptions } from "../base/secrets/settings.ts";
import { findDestination } from "../trace/export-destinations/bucket.ts";
import { findExportRecord } from "../trace/bulk-exports/sql.ts";
import { type Verification, verifyStored } from "../trace/bulk-exports/verify-export.ts";
import type { Environment } from "./secrets.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

/** Verifies an export against its bucket, with the credentials of its destination. */
export function verify(
  location: DataLocation,
  env: Environment,
  id: string,
  onFile: (done: number, total: number) => void,
): Promise<Verification> {
  return withDatabase(location, async ({ sql, log }) => {
    const found = isUuid(id) ? await findExportRecord(sql, id) : undefined;
    if (!found) throw new Error(`There is no export ${id}.`);
    const settings = readOptions({ ...secretsOptions, ...outboundOptions }, env);
    const secrets = await openSecrets({ sql, log, dataDir: location.dataDir, settings });
    // access to the data directory implies access to any address that this machine can reach
    const outbound = createOutbound(readPolicy(settings.outboundAllow, true));
    try {
      const destination = await findDestination({ sql, secrets }, found.tenant_id, found.destination_id);
      if (!destination) throw new Error(`The destination ${found.destination_id} no longer exists.`);
      return await verifyStored(
        destination,
        outbound,
        { id: id.toLowerCase(), row_count: found.row_count },
        { onFile },
      );
    } finally {
      await outbound.close();
    }
  });
}
