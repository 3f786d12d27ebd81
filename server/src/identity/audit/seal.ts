import { createHmac, type KeyObject } from "node:crypto";

import type { RingKey } from "../../base/secrets/keyring.ts";
import type { AuditRow } from "./sql.ts";

/** Key for sealing entries, derived from a key of the keyring, which database writers do not have. */
export interface SealKey {
  id: string;
  key: KeyObject;
}

/** Derives the seal key from a key of the ring. */
export const deriveSealKey = (key: RingKey): SealKey => ({ id: key.id, key: key.derive("audit log") });

/**
 * Computes a keyed hash (HMAC-SHA256) over all fields of an entry, including its writer and sequence number. Each
 * process numbers its entries from 0 without gaps. An altered or inserted entry does not match its seal, and a deleted
 * one leaves a gap. Unlike with a hash chain, writers need not wait for each other.
 */
export function computeSeal(row: Omit<AuditRow, "seal" | "seal_key_id">, { key }: SealKey): string {
  const sealed = [
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
  return createHmac("sha256", key).update(JSON.stringify(sealed)).digest("hex");
}
