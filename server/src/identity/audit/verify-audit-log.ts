import type { Sql } from "../../base/db/connect.ts";
import { type SealKey, sealOf } from "./seal.ts";
import { selectAuditRowsByWriter, type WriterPosition } from "./sql.ts";

export interface AuditVerification {
  lines: number;
  /** Lines that match their seal. */
  sound: number;
  /** Written without a seal. */
  unsealed: number;
  /** Sealed with a key that is no longer, or never was, at hand: ids of keys and how many. */
  unknownKeys: Record<string, number>;
  /** Lines that say something else than what was written. */
  altered: string[];
  /** Lines that were taken out: of which writer, after which number, and how many. */
  gaps: { writer: string; after: number; missing: number }[];
}

const BATCH = 1_000;
const MOST_TOLD = 100;

/**
 * Holds every line against its seal and its number. What cannot be seen: that a writer's first lines are missing
 * (the sweep removes those) or its last ones, if it never wrote again.
 */
export async function verifyAuditLog(
  sql: Sql,
  findKey: (id: string) => SealKey | undefined,
): Promise<AuditVerification> {
  const found: AuditVerification = { lines: 0, sound: 0, unsealed: 0, unknownKeys: {}, altered: [], gaps: [] };
  let after: WriterPosition = { writer: "00000000-0000-0000-0000-000000000000", seq: -1 };
  for (;;) {
    const rows = await selectAuditRowsByWriter(sql, after, BATCH);
    for (const row of rows) {
      found.lines += 1;
      const skipped = row.writer_id === after.writer ? row.writer_seq - after.seq - 1 : 0;
      if (skipped > 0 && found.gaps.length < MOST_TOLD) {
        found.gaps.push({ writer: row.writer_id, after: after.seq, missing: skipped });
      }
      after = { writer: row.writer_id, seq: row.writer_seq };
      if (row.seal_key_id === null || row.seal === null) {
        found.unsealed += 1;
        continue;
      }
      const key = findKey(row.seal_key_id);
      if (!key) found.unknownKeys[row.seal_key_id] = (found.unknownKeys[row.seal_key_id] ?? 0) + 1;
      else if (sealOf(row, key) === row.seal) found.sound += 1;
      else if (found.altered.length < MOST_TOLD) found.altered.push(row.id);
    }
    if (rows.length < BATCH) return found;
  }
}
