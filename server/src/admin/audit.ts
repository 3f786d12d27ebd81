import { readOptions } from "../base/config/options.ts";
import { openKeyring } from "../base/secrets/secrets.ts";
import { secretsOptions } from "../base/secrets/settings.ts";
import { selectKeys } from "../base/secrets/sql.ts";
import { exportAuditLog, type ExportFormat } from "../identity/audit/export-audit-log.ts";
import { deriveSealKey } from "../identity/audit/seal.ts";
import { type AuditVerification, verifyAuditLog } from "../identity/audit/verify-audit-log.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

export interface ExportRequest {
  format: ExportFormat;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** Exports the whole audit log in chunks, including lines without a tenant. Awaits `take` for each chunk. */
export function exportAudit(
  location: DataLocation,
  { format, from, to }: ExportRequest,
  take: (piece: string) => Promise<void>,
): Promise<void> {
  return withDatabase(location, async ({ sql }) => {
    for await (const piece of exportAuditLog(sql, { from, to }, format)) await take(piece);
  });
}

export function verifyAudit(
  location: DataLocation,
  env: Record<string, string | undefined>,
): Promise<AuditVerification> {
  return withDatabase(location, async ({ sql, log }) => {
    const keyring = openKeyring(readOptions(secretsOptions, env), location.dataDir, log, await selectKeys(sql));
    return verifyAuditLog(sql, (id) => {
      const key = keyring.find(id);
      return key && deriveSealKey(key);
    });
  });
}
