/**
 * Encrypts all stored state with fresh data keys: values from before encryption was turned on, those whose data key a
 * replaced key had encrypted, and checkpoints that LangGraph's own serializer encrypted. Each row is a separate transaction, so the work can end at any point and be repeated:
 * rows that are done are left alone. Passes follow until one finds nothing, because copies of threads may add old values
 * behind the position of a pass.
 */
import { SealedStateError, type StateCipher } from "../../../../host-kit/src/state-cipher.ts";
import {
  OFFICIAL,
  openBlobValue,
  openWriteValue,
  sealBlob,
  sealWrite,
} from "../../../../graph-host/src/checkpoints/sealed-rows.ts";
import type { Sql } from "../../base/db/connect.ts";
import { openEax } from "./official-aes.ts";
import {
  type CheckpointTable,
  holdsUnfinishedRun,
  replaceBytes,
  replaceText,
  replaceThreadTexts,
  selectStaleBytes,
  selectTexts,
  selectThreadTexts,
  type StoredBytes,
} from "./reencrypt-sql.ts";
import { Resealer } from "./resealer.ts";
import { SEALED_COLUMNS, type SealedColumn, THREAD_COLUMNS } from "./sealed-columns.ts";

const PASSES = 5;

interface Keys {
  cipher: StateCipher;
  fresh: ReadonlySet<string>;
  /** Keys of the settings, which LangGraph's serializer uses directly. */
  secrets: readonly Buffer[];
}

/** Called after each batch of rows: what was examined and encrypted so far in this pass. */
export type OnProgress = (progress: { pass: number; table: string; examined: number; encrypted: number }) => void;

/** Outcome of a row; undefined: it was encrypted with a fresh key already. */
type Outcome = "encrypted" | "changed" | "held" | undefined;

class Counts {
  encrypted = 0;
  /** Rows that changed meanwhile. */
  changed = 0;
  /** Answers to interrupts of runs that have not ended. */
  held = 0;
  /** Rows that cannot be decrypted. */
  broken = 0;
  reason: string | undefined;

  async add(work: () => Promise<Outcome>): Promise<void> {
    try {
      const outcome = await work();
      if (outcome) this[outcome] += 1;
    } catch (error) {
      if (!(error instanceof SealedStateError)) throw error;
      this.broken += 1;
      this.reason ??= error.message;
    }
  }
}

export interface Reencrypted {
  /** Rows that were encrypted. */
  encrypted: number;
  /** Whether the last pass found nothing but `held`. */
  complete: boolean;
  /** Answers that wait for the end of their run. */
  held: number;
  /** Rows that were left alone because they cannot be decrypted, and the reason of the first. */
  broken: number;
  reason: string | undefined;
}

export async function reencryptState(sql: Sql, keys: Keys, onProgress: OnProgress): Promise<Reencrypted> {
  let encrypted = 0;
  for (let pass = 1; ; pass++) {
    const counts = new Counts();
    const examine = async (table: string, work: (note: (rows: number) => void) => Promise<void>) => {
      let examined = 0;
      const before = counts.encrypted;
      await work((rows) => {
        examined += rows;
        onProgress({ pass, table, examined, encrypted: counts.encrypted - before });
      });
    };
    const resealer = new Resealer(keys.cipher, keys.fresh);
    await examine("threads", (note) => reencryptThreads(sql, resealer, counts, note));
    for (const column of SEALED_COLUMNS)
      await examine(`${column.table}.${column.column}`, (note) => reencryptTexts(sql, column, resealer, counts, note));
    for (const table of ["checkpoint_writes", "checkpoint_blobs"] as const)
      await examine(table, (note) => reencryptBytes(sql, table, keys, counts, note));
    encrypted += counts.encrypted;
    const complete = counts.encrypted === 0 && counts.changed === 0;
    if (complete || pass === PASSES)
      return { encrypted, complete, held: counts.held, broken: counts.broken, reason: counts.reason };
  }
}

/** @throws SealedStateError */
function openOfficial(secrets: readonly Buffer[], { type, blob }: StoredBytes): Buffer {
  const opened = openEax(secrets, blob);
  if (opened) return opened;
  throw new SealedStateError(
    `A checkpoint of another server (type ${type}) is encrypted with a key that is neither LANGGRAPH_AES_KEY nor in ` +
      "HEDDLE_OLD_AES_KEYS.",
  );
}

const outcomeOf = (replaced: boolean): Outcome => (replaced ? "encrypted" : "changed");

async function reencryptTexts(
  sql: Sql,
  column: SealedColumn,
  resealer: Resealer,
  counts: Counts,
  note: (rows: number) => void,
): Promise<void> {
  for (let after: string[] = []; ;) {
    const rows = await selectTexts(sql, column, after);
    if (rows.length === 0) return;
    for (const { key, text: old, row } of rows)
      await counts.add(async () => {
        const text = resealer.reseal(old, (sealer, value) => column.seal(sealer, value, row));
        return text === undefined ? undefined : outcomeOf(await replaceText(sql, column, { key, old, text }));
      });
    note(rows.length);
    after = rows.at(-1)!.key;
  }
}

async function reencryptThreads(
  sql: Sql,
  resealer: Resealer,
  counts: Counts,
  note: (rows: number) => void,
): Promise<void> {
  for (let after: string | undefined; ;) {
    const rows = await selectThreadTexts(sql, after);
    if (rows.length === 0) return;
    for (const row of rows)
      await counts.add(async () => {
        const texts: Partial<Record<keyof typeof THREAD_COLUMNS, string>> = {};
        for (const column of ["values", "interrupts", "error"] as const) {
          const text = row[column] === null ? undefined : resealer.reseal(row[column], THREAD_COLUMNS[column]);
          if (text !== undefined) texts[column] = text;
        }
        return Object.keys(texts).length === 0 ? undefined : outcomeOf(await replaceThreadTexts(sql, row, texts));
      });
    note(rows.length);
    after = rows.at(-1)!.thread_id;
  }
}

async function reencryptBytes(
  sql: Sql,
  table: CheckpointTable,
  keys: Keys,
  counts: Counts,
  note: (rows: number) => void,
): Promise<void> {
  const ids = [...keys.fresh].map((id) => Buffer.from(id, "base64url"));
  for (let after: string[] = []; ;) {
    const rows = await selectStaleBytes(sql, table, ids, after);
    if (rows.length === 0) return;
    for (const row of rows) await counts.add(() => reencryptRow(sql, table, keys, row));
    note(rows.length);
    after = rows.at(-1)!.key;
  }
}

async function reencryptRow(
  sql: Sql,
  table: CheckpointTable,
  { cipher, secrets }: Keys,
  row: StoredBytes,
): Promise<Outcome> {
  const { channel, version, task_id: taskId, idx } = row;
  const stored = row.type.endsWith(OFFICIAL)
    ? { type: row.type.slice(0, -OFFICIAL.length), text: null, bytes: openOfficial(secrets, row) }
    : { type: row.type, text: null, bytes: row.blob };
  if (table === "checkpoint_blobs") {
    const { type, blob } = sealBlob(cipher, {
      channel,
      version,
      ...plain(openBlobValue(cipher, stored, channel, version)),
    });
    return outcomeOf(await replaceBytes(sql, table, row, { type, blob }));
  }
  const place = { taskId, idx, channel };
  const write = sealWrite(cipher, { ...place, ...plain(openWriteValue(cipher, stored, place)) });
  if (channel !== "__resume__") return outcomeOf(await replaceBytes(sql, table, row, write));
  // its fingerprint, by which a queued answer recognizes its question (questions.sql), changes with it
  return sql.begin(async (tx) =>
    (await holdsUnfinishedRun(tx, row.thread_id)) ? "held" : outcomeOf(await replaceBytes(tx, table, row, write)),
  );
}

const plain = ({ type, text, bytes }: { type: string; text: string | null; bytes: Uint8Array | null }) => ({
  type,
  blob: text === null ? bytes! : Buffer.from(text),
});
