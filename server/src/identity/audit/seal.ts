import { createHmac, type KeyObject } from "node:crypto";

import type { RingKey } from "../../base/secrets/keyring.ts";
import type { AuditRow } from "./sql.ts";

/** What lines are sealed with: derived from a key of the keyring, so that who writes to the database cannot. */
export interface SealKey {
  id: string;
  key: KeyObject;
}

/** A key of the ring as one for seals. */
export const sealKeyOf = (key: RingKey): SealKey => ({ id: key.id, key: key.derive("audit log") });

/**
 * A keyed hash (HMAC-SHA256) over everything that a line says, its writer and its number among it. Each process
 * numbers its own lines from 0 without a gap. So a line that was changed or put in does not match its seal, one
 * that was taken out leaves a gap, and writers need not wait for each other, as with a chain of hashes they would.
 */
export function sealOf(row: Omit<AuditRow, "seal" | "seal_key_id">, { key }: SealKey): string {
  const said = [
    row.writer_id,
    row.writer_seq,
    row.id,
    row.at.toISOString(),
    row.organization_id,
    row.workspace_id,
    row.actor_kind,
    row.actor_id,
    row.actor_name,
    row.user_id,
    row.ip,
    row.operation,
    row.operation_name,
    Object.entries(row.target).sort(([a], [b]) => (a < b ? -1 : 1)),
    row.status,
    row.occurrences,
    row.request_id,
  ];
  return createHmac("sha256", key).update(JSON.stringify(said)).digest("hex");
}
