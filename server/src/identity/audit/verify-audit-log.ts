import type { Sql } from "../../base/db/connect.ts";
import { type SealKey, computeSeal } from "./seal.ts";
import { selectAuditRowsByWriter, type WriterPosition } from "./sql.ts";

export interface AuditVerification {
  lines: number;
  /** Entries that match their seal. */
  sound: number;
  /** Entries without a seal whose writers sealed none: commands run where no key is configured. */
  unsealed: number;
  /** Entries sealed with an unknown or retired key: key ids and counts. */
  unknownKeys: Record<string, number>;
  /** Entries whose content differs from what was written. */
  altered: string[];
  /** Missing entries: writer, last number before the gap, and count. */
  gaps: { writer: string; after: number; missing: number }[];
}

const BATCH = 1_000;
const MAX_REPORTED = 100;

/**
 * Checks every entry's seal and sequence number. Cannot detect that a writer's first entries are missing (the sweep
 * deletes those), or its last ones if it never wrote again.
 */
export async function verifyAuditLog(
  sql: Sql,
  findKey: (id: string) => SealKey | undefined,
): Promise<AuditVerification> {
  const found: AuditVerification = { lines: 0, sound: 0, unsealed: 0, unknownKeys: {}, altered: [], gaps: [] };
  let after: WriterPosition = { writer: "00000000-0000-0000-0000-000000000000", seq: -1 };
  let current: { sealed: boolean; unsealed: string[] } = { sealed: false, unsealed: [] };
  const reportAltered = (id: string) => {
    if (found.altered.length < MAX_REPORTED) found.altered.push(id);
  };
  for (;;) {
    const rows = await selectAuditRowsByWriter(sql, after, BATCH);
    for (const row of rows) {
      found.lines += 1;
      if (row.writer_id !== after.writer) {
        found.unsealed += current.unsealed.length;
        current = { sealed: false, unsealed: [] };
      }
      const skipped = row.writer_id === after.writer ? row.writer_seq - after.seq - 1 : 0;
      if (skipped > 0 && found.gaps.length < MAX_REPORTED) {
        found.gaps.push({ writer: row.writer_id, after: after.seq, missing: skipped });
      }
      after = { writer: row.writer_id, seq: row.writer_seq };
      if (row.seal_key_id === null || row.seal === null) {
        if (current.sealed) reportAltered(row.id);
        else current.unsealed.push(row.id);
        continue;
      }
      // a writer seals all or none of its entries, so the others lost their seal
      current.sealed = true;
      for (const id of current.unsealed.splice(0)) reportAltered(id);
      const key = findKey(row.seal_key_id);
      if (!key) found.unknownKeys[row.seal_key_id] = (found.unknownKeys[row.seal_key_id] ?? 0) + 1;
      else if (computeSeal(row, key) === row.seal) found.sound += 1;
      else reportAltered(row.id);
    }
    if (rows.length < BATCH) {
      found.unsealed += current.unsealed.length;
      return found;
    }
  }
}
