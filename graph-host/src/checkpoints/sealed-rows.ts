/**
 * Encrypted rows of checkpoint_blobs and checkpoint_writes. The type of such a row ends in `+sealed`. Its value is bound to
 * the columns that identify it within a thread; versions and task ids are random, and copies of a thread have the same ones.
 */
import { LIST_TYPE } from "../../../host-kit/src/list-value.ts";
import { SealedStateError, type StateCipher } from "../../../host-kit/src/state-cipher.ts";
import type { BlobRow, WriteRow } from "./rows.ts";

const SEALED = "+sealed";
/** Marks a type that the official serializers encrypt with. */
export const OFFICIAL = "+aes";

const blobPlace = (channel: string, version: string): string => `blob\0${channel}\0${version}`;
const writePlace = (taskId: string, idx: number, channel: string): string => `write\0${taskId}\0${idx}\0${channel}`;

export function sealBlob<R extends Pick<BlobRow, "channel" | "version" | "type" | "blob">>(
  cipher: StateCipher,
  row: R,
): R {
  if (!row.blob) return row;
  return { ...row, type: row.type + SEALED, blob: cipher.seal(row.blob, blobPlace(row.channel, row.version)) };
}

export function sealWrite<R extends Pick<WriteRow, "taskId" | "idx" | "channel" | "type" | "blob">>(
  cipher: StateCipher,
  row: R,
): R {
  const { taskId, idx, channel, type, blob } = row;
  const place = writePlace(taskId, idx, channel);
  // its fingerprint in the database (questions.sql) is that of the answers, also when an attempt writes them again
  const sealed = cipher.seal(blob, place, channel === "__resume__");
  const ids = channel === "__interrupt__" ? `:${interruptIds(type, blob).join(",")}` : "";
  return { ...row, type: `${type}${SEALED}${ids}`, blob: sealed };
}

/** A stored value as it was read, with the columns to which it is bound. */
interface ReadValue {
  type: string;
  text: string | null;
  bytes: Uint8Array | null;
}

/** Decrypts a value. A row that is not encrypted is returned as it is. */
function openValue(cipher: StateCipher | undefined, value: ReadValue, place: () => string): ReadValue {
  const end = value.type.indexOf(SEALED);
  if (end < 0) {
    if (value.type?.endsWith(OFFICIAL))
      throw new SealedStateError(
        `A checkpoint was encrypted by another server (type ${value.type}). "heddle encryption reencrypt" makes it readable.`,
      );
    return value;
  }
  if (!cipher)
    throw new SealedStateError("Checkpoints are encrypted, and this server has no key. Set LANGGRAPH_AES_KEY.");
  const type = value.type.slice(0, end);
  const opened = cipher.open(value.bytes ?? new Uint8Array(), place());
  const isText = type === "json" || type === LIST_TYPE;
  return isText ? { type, text: opened.toString(), bytes: null } : { type, text: null, bytes: opened };
}

export const openBlobValue = (
  cipher: StateCipher | undefined,
  value: ReadValue,
  channel: string,
  version: string,
): ReadValue => openValue(cipher, value, () => blobPlace(channel, version));

export const openWriteValue = (
  cipher: StateCipher | undefined,
  value: ReadValue,
  { taskId, idx, channel }: Pick<WriteRow, "taskId" | "idx" | "channel">,
): ReadValue => openValue(cipher, value, () => writePlace(taskId, idx, channel));

/** Ids of the interrupts of a write; `interrupt_ids` in questions.sql reads those of rows that are not encrypted. */
function interruptIds(type: string, blob: Uint8Array): string[] {
  if (type === "json") {
    const value = JSON.parse(Buffer.from(blob).toString()) as unknown;
    const all = (Array.isArray(value) ? value : [value]) as ({ id?: string; interrupt_id?: string } | null)[];
    return all.map((interrupt) => interrupt?.id ?? interrupt?.interrupt_id ?? "");
  }
  // MessagePack: after the name of its class, an interrupt has its value, then its id
  return Buffer.from(blob)
    .toString("latin1")
    .split("langgraph.types\xa9Interrupt")
    .slice(1)
    .map(
      (part) => [...part.matchAll(/\xa2id\xd9 ([0-9a-f]{32})(?=\xafresponse_schema|[\xc7-\xc9]|$)/g)].at(-1)?.[1] ?? "",
    );
}
