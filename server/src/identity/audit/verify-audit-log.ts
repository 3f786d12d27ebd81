import type { Sql } from "../../base/db/connect.ts";
import { type SealKey, sealOf } from "./seal.ts";
import { selectAuditRowsByWriter, type WriterPosition } from "./sql.ts";

export interface AuditVerification {
  lines: number;
  /** Lines that match their seal. */
  sound: number;
  /** Without a seal, by writers that sealed no line: commands that were run where no key is. */
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
  let of: { sealed: boolean; unsealed: string[] } = { sealed: false, unsealed: [] };
  const tell = (id: string) => {
    if (found.altered.length < MOST_TOLD) found.altered.push(id);
  };
  for (;;) {
    const rows = await selectAuditRowsByWriter(sql, after, BATCH);
    for (const row of rows) {
      found.lines += 1;
      if (row.writer_id !== after.writer) {
        found.unsealed += of.unsealed.length;
        of = { sealed: false, unsealed: [] };
      }
      const skipped = row.writer_id === after.writer ? row.writer_seq - after.seq - 1 : 0;
      if (skipped > 0 && found.gaps.length < MOST_TOLD) {
        found.gaps.push({ writer: row.writer_id, after: after.seq, missing: skipped });
      }
      after = { writer: row.writer_id, seq: row.writer_seq };
      if (row.seal_key_id === null || row.seal === null) {
        if (of.sealed) tell(row.id);
        else of.unsealed.push(row.id);
        continue;
      }
      // a writer seals all of its lines or none, so the others lost theirs
      of.sealed = true;
      for (const id of of.unsealed.splice(0)) tell(id);
      const key = findKey(row.seal_key_id);
      if (!key) found.unknownKeys[row.seal_key_id] = (found.unknownKeys[row.seal_key_id] ?? 0) + 1;
      else if (sealOf(row, key) === row.seal) found.sound += 1;
      else tell(row.id);
    }
    if (rows.length < BATCH) {
      found.unsealed += of.unsealed.length;
      return found;
    }
  }
}
